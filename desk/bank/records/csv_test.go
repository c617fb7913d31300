package records

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign"
)

// take reads a file as feed does: recognised from its beginning to its end, then read.
func take(t testing.TB, name, text string) (o outcome, f Form) {
	t.Helper()
	return takeFrom(t, name, func() io.Reader { return strings.NewReader(text) })
}

func takeFrom(t testing.TB, name string, open func() io.Reader) (o outcome, f Form) {
	t.Helper()
	if f, o.err = Recognise(name, "", open()); o.err != nil {
		return o, f
	}
	o.sum, o.err = f.Read(open(), func(r Row) error {
		if bad := r.Record.Validate(); len(bad) > 0 {
			t.Errorf("an invalid row was delivered: %v", bad)
		}
		o.set.Add(r)
		o.lines = append(o.lines, r.Line)
		return nil
	}, func(p Problem) {
		if p.Line == 0 || p.Row == 0 || p.File != name {
			t.Errorf("refused without its place: %#v", p)
		}
		o.problems = append(o.problems, p.String())
	})
	return o, f
}

// utf16Of writes text as a program on Windows would.
func utf16Of(text string, bigEndian bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if bigEndian {
			unit = unit<<8 | unit>>8
		}
		b.WriteByte(byte(unit))
		b.WriteByte(byte(unit >> 8))
	}
	return b.String()
}

const heading = "id,account_id,kind,direction,amount_minor,currency,status,occurred_at\n"

// payment is one row under the heading.
func payment(id, amount string) string {
	return id + ",A-1,card,debit," + amount + ",NGN,posted,2026-11-28T09:14:00Z\n"
}

// TestTheTrapsOfSpreadsheets takes the ways in which files that were opened and saved by somebody have hurt others.
func TestTheTrapsOfSpreadsheets(t *testing.T) {
	const amount = ", expected a whole number of minor units from 1 to 9007199254740991, in digits alone: 4500 for 45.00"
	const short = ", expected all digits of the number: a spreadsheet shortened it; format the column as text and export it again"
	const converted = "amounts are written with a decimal sign or in groups of digits; amount_minor is in whole minor units (4500 for 45.00), and nothing was converted"
	ada := Customer{ID: "C-1", Name: "Ada"}
	type found struct {
		Encoding  Encoding
		Delimiter Delimiter
		LineEnds  string
		Decimal   Decimal
		Problems  []string
		Notes     []string
	}
	for name, c := range map[string]struct {
		file, text string
		customers  []Customer
		want       found
	}{
		"a byte order mark before a quoted first header": {"customers.csv", "\ufeff\"id\",\"name\"\nC-1,Ada\n", []Customer{ada},
			found{Encoding: UTF8Marked, Delimiter: Comma, LineEnds: "LF"}},
		"semicolons and a decimal comma": {"transactions.csv", strings.ReplaceAll(strings.ReplaceAll(heading+payment("T-1", "1.234@00"), ",", ";"), "@", ","), nil,
			found{UTF8, Semicolon, "LF", DecimalComma, []string{`transactions.csv:2: transactions row 1: amount_minor is "1.234,00"` + amount}, []string{converted}}},
		"a decimal point and groups of thousands": {"transactions.csv", heading + payment("T-1", `"1,234.00"`) + payment("T-2", "45.00"), nil,
			found{UTF8, Comma, "LF", DecimalPoint, []string{`transactions.csv:2: transactions row 1: amount_minor is "1,234.00"` + amount,
				`transactions.csv:3: transactions row 2: amount_minor is "45.00"` + amount}, []string{converted}}},
		"groups of thousands that may be fractions": {"transactions.csv", heading + payment("T-1", `"1,234"`), nil,
			found{UTF8, Comma, "LF", DecimalEither, []string{`transactions.csv:2: transactions row 1: amount_minor is "1,234"` + amount}, []string{converted}}},
		"a decimal comma in one row and a point in the next": {"transactions.csv", heading + payment("T-1", `"45,0"`) + payment("T-2", "45.0"), nil,
			found{UTF8, Comma, "LF", DecimalBoth, []string{`transactions.csv:2: transactions row 1: amount_minor is "45,0"` + amount,
				`transactions.csv:3: transactions row 2: amount_minor is "45.0"` + amount}, []string{converted}}},
		"Windows-1252 with a euro sign": {"customers.csv", "id;name\r\nC-1;J\xfcrgen \x80 & S\xf6hne\r\n", []Customer{{ID: "C-1", Name: "Jürgen € & Söhne"}},
			found{Encoding: Windows1252, Delimiter: Semicolon, LineEnds: "CRLF",
				Notes: []string{"read as Windows-1252, the letters and signs beyond ASCII are ü € ö: if these are wrong, save the whole file as UTF-8"}}},
		"UTF-16LE with a mark":        {"customers.csv", "\xff\xfe" + utf16Of("id\tname\r\nC-1\tỌjà 😀\r\n", false), []Customer{{ID: "C-1", Name: "Ọjà 😀"}}, found{Encoding: UTF16LE, Delimiter: Tab, LineEnds: "CRLF"}},
		"UTF-16BE with a mark":        {"customers.csv", "\xfe\xff" + utf16Of("id|name\nC-1|Ọjà 😀\n", true), []Customer{{ID: "C-1", Name: "Ọjà 😀"}}, found{Encoding: UTF16BE, Delimiter: Pipe, LineEnds: "LF"}},
		"UTF-16LE without a mark":     {"customers.csv", utf16Of("id,name\nC-1,Ada\n", false), []Customer{ada}, found{Encoding: UTF16LEBare, Delimiter: Comma, LineEnds: "LF"}},
		"UTF-16BE without a mark":     {"customers.csv", utf16Of("id,name\nC-1,Ada\n", true), []Customer{ada}, found{Encoding: UTF16BEBare, Delimiter: Comma, LineEnds: "LF"}},
		"zeros at the front of an id": {"customers.csv", "id,name\n00123,Ada\n", []Customer{{ID: "00123", Name: "Ada"}}, found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF"}},
		"an id of digits and one E":   {"customers.csv", "id,name\n19E18,Ada\n", []Customer{{ID: "19E18", Name: "Ada"}}, found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF"}},
		"a line break inside a quote": {"customers.csv", "id,name\r\nC-1,\"Ada\r\nObi\"\r\nC-2,\"\"\r\n", []Customer{{ID: "C-1", Name: "Ada\r\nObi"}}, found{UTF8, Comma, "CRLF", "", []string{`customers.csv:4: customers row 2: name is missing, expected a value: the column is required`}, nil}},
		"quotes inside quotes":        {"customers.csv", "id,name\n" + `C-1,"""Ada"", she says"` + "\n", []Customer{{ID: "C-1", Name: `"Ada", she says`}}, found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF"}},
		"no line end after the last":  {"customers.csv", "id,name\nC-1,Ada", []Customer{ada}, found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF"}},
		"line ends of an old Mac":     {"customers.csv", "id,name\rC-1,Ada\r", []Customer{ada}, found{Encoding: UTF8, Delimiter: Comma, LineEnds: "CR"}},
		"line breaks of an old Mac in quotes": {"customers.csv", "id,name\rC-1,\"Ada\r\rObi\"\rC-2\r", []Customer{{ID: "C-1", Name: "Ada\r\rObi"}},
			found{UTF8, Comma, "CR", "", []string{"customers.csv:5: customers row 2 is 1 cells wide, expected 2 like the header"}, nil}},
		"two kinds of line ends":       {"customers.csv", "id,name\nC-1,Ada\r\n", []Customer{ada}, found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF and CRLF"}},
		"a first line that says sep=;": {"customers.csv", "sep=;\r\nid;name\r\nC-1;Ada\r\n", []Customer{ada}, found{Encoding: UTF8, Delimiter: Semicolon, LineEnds: "CRLF"}},
		"the same in quotes":           {"customers.csv", "\"sep=|\"\rid|name\rC-1|Ada\r", []Customer{ada}, found{Encoding: UTF8, Delimiter: Pipe, LineEnds: "CR"}},
		"a name with all delimiters":   {"customers.csv", "id,name,\"a;b;c|d\te\"\nC-1,Ada,\n", []Customer{ada}, found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF"}},
		"a header and no rows": {"customers.csv", "id,name\n", nil,
			found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF", Notes: []string{"the file has a header and no rows"}}},
		"empty rows and columns round the table": {"customers.csv", "\n,,,\nid,name,,\n\n C-1,Ada,,\n,,,\n , ,,\n", nil,
			found{UTF8, Comma, "LF", "", []string{`customers.csv:5: customers row 1: id is " C-1", expected text without spaces at its ends`},
				[]string{"columns without a name were left out: 2", "rows of empty cells were skipped: 2"}}},
		"scientific notation in an id and in an amount": {"transactions.csv", heading + payment("1.91431E+18", "4500") + payment("T-2", "1E+10") + payment(`"1,9e18"`, "4500"), nil,
			found{UTF8, Comma, "LF", NoDecimal, []string{`transactions.csv:2: transactions row 1: id is "1.91431E+18"` + short,
				`transactions.csv:3: transactions row 2: amount_minor is "1E+10"` + short, `transactions.csv:4: transactions row 3: id is "1,9e18"` + short}, nil}},
		"scientific notation in an account number, which is not shown": {"accounts.csv", "id,customer_id,number,currency\nA-1,C-1,1.91431E+18,NGN\n", nil,
			found{UTF8, Comma, "LF", "", []string{`accounts.csv:2: accounts row 1: number is ****E+18 (11 bytes)` + short}, nil}},
		"an id that a formula keeps as text": {"customers.csv", "id,name\n=\"00123\",Ada\n\"=\"\"00124\"\"\",Ada\n", nil,
			found{UTF8, Comma, "LF", "", []string{`customers.csv:2: customers row 1: id is "=\"00123\"", expected the text alone, without the ="…" that a spreadsheet puts round it`,
				`customers.csv:3: customers row 2: id is "=\"00124\"", expected the text alone, without the ="…" that a spreadsheet puts round it`}, nil}},
		"an apostrophe before a number, and a town that begins with one": {"customers.csv", "id,name,home_city\n'00123,Ada,\nC-1,Ada,'s-Hertogenbosch\n", []Customer{{ID: "C-1", Name: "Ada", HomeCity: "'s-Hertogenbosch"}},
			found{UTF8, Comma, "LF", "", []string{`customers.csv:2: customers row 1: id is "'00123", expected the number alone, without the apostrophe that a spreadsheet puts before it`}, nil}},
		"what programs write where they have nothing": {"customers.csv", "id,name,email\nC-1,Ada,NULL\nC-2,#NAME?,\nC-3,####,\n", nil,
			found{UTF8, Comma, "LF", "", []string{`customers.csv:2: customers row 1: email is **** (4 bytes), expected an empty cell where there is nothing`,
				`customers.csv:3: customers row 2: name is "#NAME?", expected a value: a spreadsheet could not compute it`,
				`customers.csv:4: customers row 3: name is "####", expected a value: the spreadsheet's column was too narrow to show it; widen it and export it again`}, nil}},
		"rows that are ragged": {"customers.csv", "id,name\nC-1\nC-2,Obi, Ada\nC-3,Ada\n", []Customer{{ID: "C-3", Name: "Ada"}},
			found{UTF8, Comma, "LF", "", []string{`customers.csv:2: customers row 1 is 1 cells wide, expected 2 like the header`,
				`customers.csv:3: customers row 2 is 3 cells wide, expected 2 like the header: a text or number with a comma in it stands in quotes`}, nil}},
		"quotes that mean nothing": {"customers.csv", "id,name\nC-1,5\" pipe\nC-2,\"A\" pipe\nC-3, \"Ada\"\nC-4,Ada\n", []Customer{{ID: "C-4", Name: "Ada"}},
			found{UTF8, Comma, "LF", "", []string{`customers.csv:2: customers row 1: name is "5\" pipe", expected a text in quotes, with every quote inside it doubled`,
				`customers.csv:3: customers row 2: name is "A pipe", expected a text in quotes, with every quote inside it doubled`,
				`customers.csv:4: customers row 3: name is " \"Ada\"", expected a text in quotes, with every quote inside it doubled`}, nil}},
		"a quote that closes far below": {"customers.csv", "id,name\nC-1,\"Ada\n" + strings.Repeat("C-2,Ada\n", 1000) + "\"\nC-3,Ada\n", []Customer{{ID: "C-3", Name: "Ada"}},
			found{UTF8, Comma, "LF", "", []string{`customers.csv:2: customers row 1: name is a text of 8004 bytes, expected at most 4000 bytes; is the quote missing that should close it?`}, nil}},
		"a control character": {"customers.csv", "id,name\nC-1,A\x1bda\nC\x01,Ada\n", nil,
			found{UTF8, Comma, "LF", "", []string{`customers.csv:2: customers row 1: name is "A\x1bda", expected text without control characters`,
				`customers.csv:3: customers row 2: id is "C\x01", expected text without control characters`}, nil}},
		"a character that was lost before": {"customers.csv", "id,name\nC-1,J\ufffdrgen\n", []Customer{{ID: "C-1", Name: "J\ufffdrgen"}},
			found{Encoding: UTF8, Delimiter: Comma, LineEnds: "LF", Notes: []string{"line 2 holds the sign � that a program writes for a character it cannot read: it was lost before the file came here"}}},
		"the same row twice, and another with its id": {"customers.csv", "id,name\nC-1,Ada\nC-1,Ada\nC-1,Obi\n", []Customer{ada},
			found{UTF8, Comma, "LF", "", []string{`customers.csv:4: customers row 3: id is "C-1", expected one row for each id: line 2 has this one with other content`}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			o, f := take(t, c.file, c.text)
			if o.err != nil {
				t.Fatal(o.err)
			}
			got := found{f.Encoding, f.Delimiter, o.sum.LineEnds, o.sum.Decimal, o.problems, append(f.Notes, o.sum.Notes...)}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.customers, o.set.Customers, sameWhen); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACSVFileThatIsBroken(t *testing.T) {
	const columns = "id, name, email, phone, home_city, home_country, joined_at, flags"
	long := strings.Repeat("C-1,Ada\n", 20_000)
	for name, c := range map[string]struct{ file, text, want string }{
		"nothing at all":                         {"customers.csv", "", "the file is empty, expected a line with the names of the columns: " + columns},
		"a mark and nothing":                     {"customers.csv", "\ufeff\r\n", "the file is empty, expected a line with the names of the columns: " + columns},
		"rows of empty cells alone":              {"customers.csv", ",,\n,,\n", "there is no line with the names of the columns, expected " + columns},
		"a delimiter declared and nothing":       {"customers.csv", "sep=;\n", "there is no line with the names of the columns, expected " + columns},
		"a delimiter declared that is none":      {"customers.csv", "sep=!\nid!name\n", `line 1 declares the delimiter "!", expected a comma, a semicolon, a tab or a pipe`},
		"a workbook":                             {"customers.csv", "PK\x03\x04\x14\x00", "the file is a spreadsheet or an archive, expected text (export it as CSV, or unpack it first)"},
		"a file that is compressed":              {"customers.csv", "\x1f\x8b\x08\x00", "the file is a spreadsheet or an archive, expected text (export it as CSV, or unpack it first)"},
		"a quote that never closes":              {"customers.csv", "id,name\nC-1,Ada\nC-2,\"Ada\n" + long, "line 3: the quote that opens here is never closed"},
		"a quote in the header never closes":     {"customers.csv", "id,\"name\n" + long, "line 1: the quote that opens here is never closed"},
		"a quote in the header says nothing":     {"customers.csv", "id,name,x\"y\n" + long, `line 1: the column "x\"y" has a quote that does not belong there`},
		"a column twice":                         {"customers.csv", "id,name,id\n", `line 1: the column "id" stands there twice, expected each column once`},
		"an unknown column twice":                {"customers.csv", "id,name,shoe,shoe\n", `line 1: the column "shoe" stands there twice, expected each column once`},
		"required columns missing":               {"accounts.csv", "\nid;nickname;currency\n", `line 2: accounts has no column customer_id, number; it has "id", "nickname", "currency"`},
		"required columns with other names":      {"accounts.csv", "id,Customer ID, number,currency\n", `line 1: accounts has no column customer_id, number; it has "id", "Customer ID", " number", "currency" (did you mean customer_id for "Customer ID", number for " number"?)`},
		"a title above the header":               {"customers.csv", "Export of 30.11.2026\nid,name\n", `line 1: customers has no column id, name; it has "Export of 30.11.2026"`},
		"no header":                              {"customers.csv", "C-1,Ada\nC-2,Obi\n", `line 1: customers has no column id, name; it has "C-1", "Ada"`},
		"two delimiters in the header":           {"customers.csv", "id,name;email\n", "the header can be parted in more than one way, expected one of comma, semicolon between its columns"},
		"a header of 201 columns":                {"customers.csv", "id,name" + strings.Repeat(",x", 199) + "\n", "line 1: the header is 201 cells wide, expected at most 200"},
		"a NUL byte":                             {"customers.csv", "id,name\nC-1,Ada\nC-2,A\x00da\n", "line 3 holds a NUL byte: the file is no text, or changes its encoding there"},
		"UTF-8 that goes on as UTF-16":           {"customers.csv", "id,name\nC-1,Ada\n" + utf16Of("C-2,Ada\n", false), "line 3 holds a NUL byte: the file is no text, or changes its encoding there"},
		"UTF-8 that goes on as Windows-1252":     {"customers.csv", "id,name\nC-1,Jürgen\n" + long + "C-3,J\xfcrgen\n", "line 2 is UTF-8 and line 20003 is not: the file changes its encoding between them (save the whole file as UTF-8)"},
		"Windows-1252 that goes on as UTF-8":     {"customers.csv", "id,name\nC-1,J\xfcrgen\n" + long + "C-3,Jürgen\n", "line 20003 is UTF-8 and line 2 is not: the file changes its encoding between them (save the whole file as UTF-8)"},
		"a mark of UTF-8 before something else":  {"customers.csv", "\ufeffid,name\r\nC-1,J\xfcrgen\r\n", "line 2 is not UTF-8, as the mark at the beginning of the file says: the file changes its encoding there (save the whole file as UTF-8)"},
		"a byte that Windows-1252 does not have": {"customers.csv", "id,name\nC-1,J\xfcrgen\nC-2,\x81\n", "line 3 holds the byte 0x81, which neither UTF-8 nor Windows-1252 has at such a place (save the whole file as UTF-8)"},
		"UTF-16 cut in the middle of a letter":   {"customers.csv", "\xff\xfe" + utf16Of("id,name\nC-1,Ada\nC-2", false) + ",", "line 3 holds half a character of UTF-16: the file is cut off or changes its encoding there"},
		"UTF-16 with half a pair":                {"customers.csv", "\xff\xfe" + utf16Of("id,name\nC-1,", false) + "\x3d\xd8a\x00", "line 2 holds half a character of UTF-16: the file is cut off or changes its encoding there"},
		"a name of no array":                     {"statement.csv", "id,name\n", `array: the name does not say what the file holds, expected one of ` + joined(Arrays) + " (call it transactions.csv, or transactions-2026-11.csv)"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := take(t, c.file, c.text)
			want := c.file + ": " + c.want
			if rest, found := strings.CutPrefix(c.want, "array: "); found {
				want = "array: " + c.file + ": " + rest
			}
			if o.err == nil || o.err.Error() != want {
				t.Errorf("got  %v\nwant %s", o.err, want)
			}
			if countersign.KindOf(o.err) != countersign.Invalid {
				t.Errorf("kind %s, want invalid", countersign.KindOf(o.err))
			}
		})
	}
}

func TestACellOfCSV(t *testing.T) {
	yes, no := true, false
	device := func(trusted string) string { return "id,customer_id,trusted\nD-1,C-1," + trusted + "\n" }
	for text, want := range map[string]*bool{"true": &yes, "TRUE": &yes, "Yes": &yes, "1": &yes, "false": &no, "FALSE": &no, "no": &no, "0": &no, "": nil} {
		t.Run("trusted is "+text, func(t *testing.T) {
			o, _ := take(t, "devices.csv", device(text))
			if len(o.set.Devices) != 1 {
				t.Fatal(o.err, o.problems)
			}
			if diff := cmp.Diff(want, o.set.Devices[0].Trusted); diff != "" {
				t.Error(diff)
			}
		})
	}
	for text, want := range map[string][]string{"": nil, "watch": {"watch"}, "watch|frozen": {"watch", "frozen"}, "watch; frozen": {"watch", "frozen"}, "|": {}, ";": {}} {
		t.Run("flags are "+text, func(t *testing.T) {
			o, _ := take(t, "customers.csv", "id,name,flags\nC-1,Ada,"+text+"\n")
			if len(o.set.Customers) != 1 {
				t.Fatal(o.err, o.problems)
			}
			if diff := cmp.Diff(want, o.set.Customers[0].Flags); diff != "" {
				t.Error(diff)
			}
		})
	}
	for text, want := range map[string]int64{"1": 1, "2450000": 2450000, "0000450": 450, `"4500"`: 4500, "9007199254740991": MaxAmount} {
		t.Run("an amount of "+text, func(t *testing.T) {
			o, _ := take(t, "transactions.csv", heading+payment("T-1", text))
			if len(o.set.Transactions) != 1 || o.set.Transactions[0].AmountMinor != want {
				t.Error(o.set.Transactions, o.problems, o.err)
			}
		})
	}
	const minor = "amount_minor is %q, expected a whole number of minor units from 1 to 9007199254740991, in digits alone: 4500 for 45.00"
	refused := map[string]struct{ file, text, want string }{
		"a truth in another language":     {"devices.csv", device("WAHR"), `trusted is "WAHR", expected true or false, yes or no, 1 or 0`},
		"a truth with a blank":            {"devices.csv", device("yes "), `trusted is "yes ", expected true or false, yes or no, 1 or 0`},
		"a flag that is empty":            {"customers.csv", "id,name,flags\nC-1,Ada,watch|\n", `flags[1] is "", expected text that is not empty`},
		"a time without a zone":           {"customers.csv", "id,name,joined_at\nC-1,Ada,2026-11-28 09:14\n", `joined_at is "2026-11-28 09:14", expected a time with a zone (2026-11-28T09:14:00Z) or a date (2026-11-28) between the years 1900 and 2200`},
		"a date as a spreadsheet has it":  {"customers.csv", "id,name,joined_at\nC-1,Ada,11/28/2026\n", `joined_at is "11/28/2026", expected a time with a zone (2026-11-28T09:14:00Z) or a date (2026-11-28) between the years 1900 and 2200`},
		"a date behind an apostrophe":     {"customers.csv", "id,name,joined_at\nC-1,Ada,'2026-11-28\n", `joined_at is "'2026-11-28", expected the number alone, without the apostrophe that a spreadsheet puts before it`},
		"a currency in small letters":     {"accounts.csv", "id,customer_id,number,currency\nA-1,C-1,1,ngn\n", `currency is "ngn", expected an ISO 4217 currency in capitals, such as NGN: did you mean NGN?`},
		"the bank's own account":          {"accounts.csv", "id,customer_id,number,currency\nsuspense:NGN,C-1,1,NGN\n", `id is "suspense:NGN", expected a customer's account: ids that begin with "suspense:" are the bank's own`},
		"a number of bytes that is a lot": {"customers.csv", "id,name\nC-1," + strings.Repeat("n", 10<<20) + "\n", `name is a text of 10485760 bytes, expected at most 4000 bytes`},
		"a required cell that is empty":   {"customers.csv", "id,name\n,Ada\n", `id is missing, expected a value: the column is required`},
	}
	for _, text := range []string{"-5", "+5", "0", " 5", "5 ", "1 234", "1\u00a0234", "₦45", "9007199254740992", "99999999999999999999999", "abc", "٣"} {
		refused["an amount of "+text] = struct{ file, text, want string }{"transactions.csv", heading + payment("T-1", text), fmt.Sprintf(minor, text)}
	}
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			o, _ := take(t, c.file, c.text)
			want := []string{fmt.Sprintf("%s:2: %s row 1: %s", c.file, strings.TrimSuffix(c.file, ".csv"), c.want)}
			if diff := cmp.Diff(want, o.problems); diff != "" || o.err != nil {
				t.Error(o.err, diff)
			}
		})
	}
}

func TestNumbersThatLostTheirZeros(t *testing.T) {
	accounts := func(numbers ...string) string {
		var b strings.Builder
		b.WriteString("id,customer_id,number,currency\n")
		for i, n := range numbers {
			fmt.Fprintf(&b, "A-%d,C-1,%s,NGN\n", i, n)
		}
		return b.String()
	}
	full := slices.Repeat([]string{"0123456789"}, 20)
	for name, c := range map[string]struct {
		numbers []string
		want    []string
	}{
		"two that are shorter are noticed":            {append(slices.Clone(full), "123456789", "23456789"), []string{"number: 2 of 22 numbers have fewer than the 10 digits of the others: did a spreadsheet drop zeros at their front?"}},
		"numbers of one length are all right":         {full, nil},
		"a longer one is no loss":                     {append(slices.Clone(full), "01234567890"), nil},
		"one much shorter is another kind":            {append(slices.Clone(full), "12345"), nil},
		"letters in it are not a number's":            {append(slices.Clone(full), "GB123"), nil},
		"where every length occurs nobody can tell":   {[]string{"1", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "123456789", "1234567890"}, nil},
		"a handful is too few to tell the usual from": {[]string{"0123456789", "0123456789", "123456789"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := take(t, "accounts.csv", accounts(c.numbers...))
			if diff := cmp.Diff(c.want, o.sum.Notes); diff != "" || o.sum.Rows() != len(c.numbers) {
				t.Error(o.sum.Rows(), o.problems, diff)
			}
		})
	}
}

func TestArrayNamed(t *testing.T) {
	for file, want := range map[string]Array{
		"transactions.csv": Transactions, "TRANSACTIONS.CSV": Transactions, "transactions (1).csv": Transactions, "transactions-2026-11.csv": Transactions,
		"Transactions_2026_11_final.tsv": Transactions, "transactions - Copy.csv": Transactions, "transactions.2026.csv": Transactions, "transactions": Transactions,
		"/home/ada/accounts/customers.csv": Customers, `C:\Users\Ada\ledger-entries.csv`: LedgerEntries, "ledger entries (2).txt": LedgerEntries,
		"": "", ".csv": "", "statement.csv": "", "transaction.csv": "", "transactionsold.csv": "", "bank_transactions.csv": "", "accounts-customers.csv": "",
		"customers.csv/statement.csv": "",
	} {
		t.Run(file, func(t *testing.T) {
			got, err := ArrayNamed(file)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("got %q, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), joined(Arrays)) {
				t.Errorf("the error does not list the arrays: %v", err)
			}
		})
	}
}

func TestRecognise(t *testing.T) {
	recognised := func(name string, array Array, text string) Form {
		t.Helper()
		f, err := Recognise(name, array, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, c := range map[string]struct {
		file  string
		array Array
		text  string
		want  Form
	}{
		"a name that ends in json":                    {"bank.json", "", "id,name\n", Form{Format: JSON, Encoding: UTF8}},
		"a brace, whatever the name":                  {"customers.csv", "", "\ufeff \n{}", Form{Format: JSON, Encoding: UTF8}},
		"a name without an ending":                    {"customers", "", "id,name\n", Form{Format: JSON, Encoding: UTF8}},
		"a name that ends in csv":                     {"customers.csv", "", "id,name\n", Form{Format: CSV, Array: Customers, Encoding: UTF8, Delimiter: Comma}},
		"a name that ends in tsv":                     {"customers.tsv", "", "id\tname\n", Form{Format: CSV, Array: Customers, Encoding: UTF8, Delimiter: Tab}},
		"what somebody says goes before the name":     {"accounts.csv", Customers, "id,name\n", Form{Format: CSV, Array: Customers, Encoding: UTF8, Delimiter: Comma}},
		"and is enough where the name says nothing":   {"export", Customers, "id,name\n", Form{Format: CSV, Array: Customers, Encoding: UTF8, Delimiter: Comma}},
		"but JSON names its arrays itself":            {"bank.json", Customers, "{}", Form{Format: JSON, Encoding: UTF8, Notes: []string{"the file is JSON, which names its arrays itself; it was not taken for customers"}}},
		"one column alone is parted by what you will": {"customers.csv", "", "id\n", Form{Format: CSV, Array: Customers, Encoding: UTF8, Delimiter: Comma}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.File = c.file
			if diff := cmp.Diff(c.want, recognised(c.file, c.array, c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("an array that there is not", func(t *testing.T) {
		_, err := Recognise("x.csv", "orders", strings.NewReader("id\n"))
		if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), `"orders" is no array, expected one of `+joined(Arrays)) {
			t.Error(err)
		}
	})
}

func TestReadCSVPassesOnErrors(t *testing.T) {
	unplugged := errors.New("unplugged")
	cut := func() io.Reader {
		return io.MultiReader(strings.NewReader("id,name\nC-1,Ada\nC-2,"), iotest.ErrReader(unplugged))
	}
	form := Form{File: "customers.csv", Format: CSV, Array: Customers, Encoding: UTF8, Delimiter: Comma}
	all := func(Row) error { return nil }
	for e, at := range map[Encoding]string{UTF8: "line 3", Windows1252: "line 3"} {
		t.Run("of a file in "+string(e), func(t *testing.T) {
			form := form
			form.Encoding = e
			_, err := form.Read(cut(), all, func(p Problem) { t.Error(p) })
			if !errors.Is(err, unplugged) || !strings.HasPrefix(err.Error(), "customers.csv: reading the file at "+at) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("of a file that is being recognised", func(t *testing.T) {
		for _, in := range []io.Reader{cut(), iotest.ErrReader(unplugged), io.MultiReader(strings.NewReader(strings.Repeat("\n", headSize)), iotest.ErrReader(unplugged))} {
			if _, err := Recognise("customers.csv", "", in); !errors.Is(err, unplugged) || !strings.HasPrefix(err.Error(), "customers.csv: reading the file at line ") {
				t.Errorf("got %v", err)
			}
		}
	})
	for _, stop := range []error{countersign.Errorf(countersign.Unavailable, "the disk is full"), io.EOF} {
		t.Run("of the caller, untouched: "+stop.Error(), func(t *testing.T) {
			before := stop.Error()
			_, err := form.Read(strings.NewReader("id,name\nC-1,Ada\n"), func(Row) error { return stop }, func(Problem) {})
			if err != stop || stop.Error() != before {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestReadCSVHoldsNoEndlessRow reads rows, headers and cells that go on for longer than anybody could hold.
func TestReadCSVHoldsNoEndlessRow(t *testing.T) {
	form := Form{File: "customers.csv", Format: CSV, Array: Customers, Encoding: UTF8, Delimiter: Comma}
	const long = 16 << 20
	for name, c := range map[string]struct{ head, repeated, want string }{
		"a row of cells":         {"id,name\nC-1", ",x", "customers.csv:2: customers row 1 is 8388609 cells wide, expected 2 like the header: a text or number with a comma in it stands in quotes"},
		"a cell in quotes":       {"id,name\nC-1,\"", "x\n", "customers.csv: line 2: the quote that opens here is never closed"},
		"a cell without":         {"id,name\nC-1,", "xx", "customers.csv:2: customers row 1: name is a text of 16777216 bytes, expected at most 4000 bytes"},
		"a header":               {"id,name", ",x", "customers.csv: line 1: the header is 8388610 cells wide, expected at most 200"},
		"rows without any cells": {"id,name\n", ",\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			said := ""
			held := allocated(func() {
				in := io.MultiReader(strings.NewReader(c.head), io.LimitReader(&repeating{c.repeated}, long))
				_, err := form.Read(in, func(Row) error { return nil }, func(p Problem) { said = p.String() })
				if err != nil {
					said = err.Error()
				}
			})
			if said != c.want || held > 1<<20 {
				t.Errorf("%d bytes allocated\ngot  %s\nwant %s", held, said, c.want)
			}
		})
	}
}

// allocated is how many bytes a function asked for, given back or not.
func allocated(by func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	by()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// repeating serves the same text for ever.
type repeating struct{ text string }

func (r *repeating) Read(b []byte) (int, error) {
	n := 0
	for len(b)-n >= len(r.text) {
		n += copy(b[n:], r.text)
	}
	return n, nil
}

// TestCSVSaysTheSameAsJSON writes good rows of every array as CSV and reads back what JSON holds.
func TestCSVSaysTheSameAsJSON(t *testing.T) {
	want := read(t, strings.NewReader(document(good)))
	var got Set
	for _, a := range Arrays {
		o, _ := take(t, string(a)+".csv", sheetOf(t, want.set, a, ','))
		if o.err != nil || len(o.problems) > 0 {
			t.Fatal(a, o.err, o.problems)
		}
		for row := range o.set.Rows() {
			got.Add(row)
		}
	}
	if diff := cmp.Diff(want.set, got, sameWhen); diff != "" {
		t.Error(diff)
	}
}

// sheetOf writes one array of a set as CSV, every column of it.
func sheetOf(t testing.TB, set Set, a Array, delimiter rune) string {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = delimiter
	if err := w.Write(Columns(a)); err != nil {
		t.Fatal(err)
	}
	for row := range set.Rows() {
		if row.Record.Array() != a {
			continue
		}
		var cells []string
		for _, c := range tables[a].columns {
			cells = append(cells, cellOf(c.at(row.Record)))
		}
		if err := w.Write(cells); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return b.String()
}

func cellOf(p any) string {
	if flags, is := p.(*[]string); is {
		if *flags != nil && len(*flags) == 0 {
			return "|"
		}
		return strings.Join(*flags, "|")
	}
	return text(p)
}

// TestHoweverACSVFileIsWritten writes names that nobody foresaw in every encoding that has them and with every delimiter.
func TestHoweverACSVFileIsWritten(t *testing.T) {
	encode := map[Encoding]func(string) string{
		UTF8:        func(s string) string { return s },
		UTF8Marked:  func(s string) string { return mark + s },
		UTF16LE:     func(s string) string { return "\xff\xfe" + utf16Of(s, false) },
		UTF16BE:     func(s string) string { return "\xfe\xff" + utf16Of(s, true) },
		UTF16LEBare: func(s string) string { return utf16Of(s, false) },
		UTF16BEBare: func(s string) string { return utf16Of(s, true) },
	}
	rapid.Check(t, func(rt *rapid.T) {
		var set Set
		names := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("aZ0 ,;|\"'=\n\té€Ọ😀\u0301"))).Filter(speaks), 1, 9).Draw(rt, "names")
		for i, name := range names {
			set.Customers = append(set.Customers, Customer{ID: fmt.Sprint("C", i), Name: name})
		}
		e := rapid.SampledFrom([]Encoding{UTF8, UTF8Marked, UTF16LE, UTF16BE, UTF16LEBare, UTF16BEBare}).Draw(rt, "encoding")
		d := rapid.SampledFrom(delimiters).Draw(rt, "delimiter")
		o, f := take(t, "customers.csv", encode[e](sheetOf(t, set, Customers, rune(delimiterBytes[d]))))
		if o.err != nil || len(o.problems) > 0 || f.Encoding != e || f.Delimiter != d {
			rt.Fatal(o.err, o.problems, f)
		}
		if diff := cmp.Diff(set, o.set, sameWhen); diff != "" {
			rt.Error(diff)
		}
	})
}

// speaks reports whether a name is one that an import takes and no spreadsheet would have spoilt.
func speaks(name string) bool {
	c := cell{kind: words, text: []byte(name), size: len(name)}
	return strings.TrimSpace(name) != "" && c.damaged() == ""
}

func FuzzReadCSV(f *testing.F) {
	rows := read(f, strings.NewReader(document(good))).set
	seeds := []string{
		"", "\ufeff", "\xff\xfe", "\xff\xfei", "id", "id,name", "id,name\n", "id;name\r\n\r\n;\r\nC-1;J\xfcrgen \x80\r\n", "sep=;\nid;name\n1;2", "id,name\n\"", "id,name\nC,\"a\"b\n",
		"\"id\",\"name\"\r\"C\"\"1\",\"A\nB\"\r", utf16Of("id,name\nC-1,Ada\n", false), utf16Of("id|name\nC-1|Ọjà 😀\n", true), "id,name,flags\n1,2,a|b\n1,3,;\n,,\n1", "id,name,joined_at\n,\x1b,yesterday\n",
	}
	for _, s := range seeds {
		f.Add([]byte(s), uint8(0)) // customers
	}
	for i, a := range Arrays {
		s := sheetOf(f, rows, a, ';')
		if o, _ := take(f, string(a)+".csv", s); o.sum.Rows() != 1 {
			f.Fatalf("the seed of %s is no good: %v, %v", a, o.err, o.problems)
		}
		f.Add([]byte(s), uint8(i))
	}
	if len(seeds) < 15 {
		f.Fatal("the seeds are gone")
	}
	f.Fuzz(func(t *testing.T, in []byte, which uint8) {
		name := string(Arrays[int(which)%len(Arrays)]) + ".csv"
		whole, form := take(t, name, string(in))
		bytewise, _ := takeFrom(t, name, func() io.Reader { return iotest.OneByteReader(bytes.NewReader(in)) })
		if diff := cmp.Diff(whole.problems, bytewise.problems); diff != "" || fmt.Sprint(whole.err) != fmt.Sprint(bytewise.err) {
			t.Fatalf("another answer when the file comes in pieces: %v, %v\n%s", whole.err, bytewise.err, diff)
		}
		for _, p := range whole.problems {
			if strings.ContainsFunc(p, unprintable) || strings.Contains(p, "\n") || len(p) > 2000 {
				t.Fatalf("not one short printable line: %q", p)
			}
		}
		if form.Format != CSV || whole.err != nil {
			return
		}
		count := whole.sum.Arrays[0]
		if rows := rowsIn(form, in); count.Rows != len(whole.lines) || count.Rows+count.Repeated+count.Refused != rows {
			t.Fatalf("%d rows delivered, %+v counted, and the file has %d", len(whole.lines), count, rows)
		}
	})
}

// rowsIn counts the rows below the header that have anything in them.
func rowsIn(f Form, in []byte) int {
	g, rows := newGrid(f.Encoding.decode(bytes.NewReader(in)), f.Delimiter), -1
	for g.next() == nil {
		first := strings.ToLower(string(g.cells[0].text))
		declares := rows < 0 && strings.HasPrefix(first, "sep=") && len(first) < 6
		if !declares && slices.ContainsFunc(g.cells, func(c cell) bool { return len(bytes.TrimSpace(c.text)) > 0 }) {
			rows++
		}
	}
	return rows
}

func BenchmarkReadCSV(b *testing.B) {
	const rows = 20_000
	var doc strings.Builder
	doc.WriteString(strings.TrimSuffix(heading, "\n") + ",posted_at,merchant_id,reference,device_id,city,country,memo\n")
	for i := range rows {
		fmt.Fprintf(&doc, "TX-%06d,ACC-%04d,card,debit,%d,NGN,posted,2026-11-28T09:14:00Z,2026-11-28T09:14:03Z,M-%d,ORDER-%d,D-1,Lagos,NG,POS purchase at the corner shop\n", i, i%500, 1000+i, i%90, i)
	}
	b.SetBytes(int64(doc.Len()))
	b.ReportAllocs()
	for b.Loop() {
		form, err := Recognise("transactions.csv", "", strings.NewReader(doc.String()))
		if err != nil {
			b.Fatal(err)
		}
		sum, err := form.Read(strings.NewReader(doc.String()), func(Row) error { return nil }, func(p Problem) { b.Fatal(p) })
		if err != nil || sum.Rows() != rows {
			b.Fatal(sum.Rows(), err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}
