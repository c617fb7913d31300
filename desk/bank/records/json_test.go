package records

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"countersign"

	"github.com/google/go-cmp/cmp"
)

// good is one valid row of each array.
var good = map[Array]string{
	Customers:     `{"id":"C-1","name":"Ada Obi","email":"ada@example.ng","home_city":"Lagos","joined_at":"2020-01-31","flags":["watch"]}`,
	Accounts:      `{"id":"A-1","customer_id":"C-1","number":"0000014579","currency":"NGN","kind":"savings"}`,
	Merchants:     `{"id":"M-1","name":"Ọjà \"Market\" \u20a6","flagged":true}`,
	Devices:       `{"id":"D-1","customer_id":"C-1","first_seen_at":"2025-01-01T00:00:00+01:00","trusted":false}`,
	Transactions:  `{"id":"T-1","account_id":"A-1","kind":"card","direction":"debit","amount_minor":2450000,"currency":"NGN","status":"posted","occurred_at":"2026-11-28T09:14:00Z","merchant_id":"M-1","memo":null}`,
	LedgerEntries: `{"id":"L-1","transaction_id":"T-1","account_id":"A-1","direction":"debit","amount_minor":2450000,"currency":"NGN","kind":"original","posted_at":"2026-11-28T09:14:02Z"}`,
	Settlements:   `{"transaction_id":"T-1","status":"settled","final":true,"updated_at":"2026-11-28T09:20:00Z"}`,
}

// outcome is everything ReadJSON says about a document.
type outcome struct {
	set      Set
	lines    []int
	problems []string
	sum      Summary
	err      error
}

func read(t testing.TB, in io.Reader) (o outcome) {
	t.Helper()
	o.sum, o.err = ReadJSON("in.json", in, func(r Row) error {
		if bad := r.Record.Validate(); len(bad) > 0 {
			t.Errorf("an invalid row was delivered: %v", bad)
		}
		o.set.Add(r)
		o.lines = append(o.lines, r.Line)
		return nil
	}, func(p Problem) { o.problems = append(o.problems, p.String()) })
	return o
}

func document(rows map[Array]string) string {
	var members []string
	for _, a := range Arrays {
		if rows[a] != "" {
			members = append(members, fmt.Sprintf("%q: [\n%s\n]", a, rows[a]))
		}
	}
	return "{" + strings.Join(members, ",\n") + "}"
}

func TestReadJSONDelivers(t *testing.T) {
	no := false
	want := Set{
		Customers:     []Customer{{ID: "C-1", Name: "Ada Obi", Email: "ada@example.ng", HomeCity: "Lagos", JoinedAt: when("2020-01-31"), Flags: []string{"watch"}}},
		Accounts:      []Account{{ID: "A-1", CustomerID: "C-1", Number: "0000014579", Currency: "NGN", Kind: "savings"}},
		Merchants:     []Merchant{{ID: "M-1", Name: "Ọjà \"Market\" ₦", Flagged: true}},
		Devices:       []Device{{ID: "D-1", CustomerID: "C-1", FirstSeenAt: when("2024-12-31T23:00:00Z"), Trusted: &no}},
		Transactions:  []Transaction{{ID: "T-1", AccountID: "A-1", Kind: Card, Direction: countersign.Debit, AmountMinor: 2450000, Currency: "NGN", Status: Posted, OccurredAt: when("2026-11-28T09:14:00Z"), MerchantID: "M-1"}},
		LedgerEntries: []LedgerEntry{{ID: "L-1", TransactionID: "T-1", AccountID: "A-1", Direction: countersign.Debit, AmountMinor: 2450000, Currency: "NGN", Kind: Original, PostedAt: when("2026-11-28T09:14:02Z")}},
		Settlements:   []Settlement{{TransactionID: "T-1", Status: Settled, Final: true, UpdatedAt: when("2026-11-28T09:20:00Z")}},
	}
	whole := document(good)
	for name, in := range map[string]io.Reader{
		"all seven arrays":                    strings.NewReader(whole),
		"the same behind a byte order mark":   strings.NewReader("\ufeff" + whole),
		"the same one byte at a time":         iotest.OneByteReader(strings.NewReader(whole)),
		"the same with the end told early":    iotest.DataErrReader(strings.NewReader(whole)),
		"the same with Windows line ends":     strings.NewReader(strings.ReplaceAll(whole, "\n", "\r\n")),
		"the same with white space after it":  strings.NewReader(whole + "\n \t\r\n"),
		"every row twice, delivered but once": strings.NewReader(document(twice(good))),
	} {
		t.Run(name, func(t *testing.T) {
			o := read(t, in)
			if o.err != nil || len(o.problems) > 0 || o.sum.Refused != 0 {
				t.Fatalf("error %v, problems %q, refused %d", o.err, o.problems, o.sum.Refused)
			}
			if diff := cmp.Diff(want, o.set, sameWhen); diff != "" {
				t.Error(diff)
			}
			if o.sum.Rows() != 7 {
				t.Errorf("%d rows counted, want 7", o.sum.Rows())
			}
		})
	}
}

func twice(rows map[Array]string) map[Array]string {
	out := map[Array]string{}
	for a, r := range rows {
		out[a] = r + ",\n" + r
	}
	return out
}

var sameWhen = cmp.Comparer(func(a, b countersign.When) bool { return a == b })

func when(s string) countersign.When {
	w, err := countersign.ParseWhen(s)
	if err != nil {
		panic(err)
	}
	return w
}

// with is a valid row with one more member behind the others; has replaces text in a valid row.
func with(a Array, member string) string {
	return strings.TrimSuffix(good[a], "}") + "," + member + "}"
}

func has(a Array, old, now string) string {
	if !strings.Contains(good[a], old) {
		panic("the row has no " + old)
	}
	return strings.Replace(good[a], old, now, 1)
}

func TestReadJSONRefusesARow(t *testing.T) {
	const amount = ", expected a whole number of minor units from 1 to 9007199254740991, without quotes, point or exponent"
	const moment = ", expected a time with a zone (2026-11-28T09:14:00Z) or a date (2026-11-28) between the years 1900 and 2200"
	tx := func(old, now string) string { return has(Transactions, old, now) }
	for name, row := range map[string]struct {
		array Array
		row   string
		want  string // after "in.json:2: "
	}{
		"an id that is a number loses digits elsewhere": {Transactions, tx(`"T-1"`, `9007199254740993`), `transactions row 1: id is 9007199254740993, expected a text: write it as a string, in quotes`},
		"an id that is empty":                           {Transactions, tx(`"T-1"`, `""`), `transactions row 1: id is "", expected text that is not empty`},
		"an id that is null is missing":                 {Transactions, tx(`"T-1"`, `null`), `transactions row 1: id is missing, expected a value: the column is required`},
		"an id that is not there":                       {Transactions, tx(`"id":"T-1",`, ``), `transactions row 1: id is missing, expected a value: the column is required`},
		"an id with a line break":                       {Transactions, tx(`T-1`, `T\n1`), `transactions row 1: id is "T\n1", expected text without control characters`},
		"an id with a NUL written out":                  {Transactions, tx(`T-1`, `T\u00001`), `transactions row 1: id is "T\x001", expected text without NUL bytes`},
		"an id with a raw NUL byte":                     {Transactions, tx(`T-1`, "T\x001"), `transactions row 1: id is "T\x001", expected text without NUL bytes`},
		"an id with a space at its end":                 {Transactions, tx(`T-1`, `T-1 `), `transactions row 1: id is "T-1 ", expected text without spaces at its ends`},
		"an id with a no-break space before it":         {Transactions, tx(`T-1`, `\u00a0T-1`), `transactions row 1: id is "\u00a0T-1", expected text without spaces at its ends`},
		"an id of 201 bytes":                            {Transactions, tx(`T-1`, strings.Repeat("9", 201)), `transactions row 1: id is "` + strings.Repeat("9", 60) + `"… (201 bytes), expected at most 200 bytes`},
		"an id that is not UTF-8":                       {Transactions, tx(`T-1`, "T\xff"), `transactions row 1: id is "T\xff", expected valid UTF-8`},
		"an id with half a surrogate pair":              {Transactions, tx(`T-1`, `\ud800x`), `transactions row 1: id is "\xed\xa0\x80x", expected valid UTF-8`},
		"an id with two halves the wrong way round":     {Transactions, tx(`T-1`, `\udc00\ud800`), `transactions row 1: id is "\xed\xb0\x80\xed\xa0\x80", expected valid UTF-8`},
		"another row's id with blanks inside its ends":  {Transactions, tx(`"account_id":"A-1"`, `"account_id":"\tA-1"`), `transactions row 1: account_id is "\tA-1", expected text without control characters`},

		"an amount of zero":            {Transactions, tx(`2450000`, `0`), `transactions row 1: amount_minor is 0` + amount},
		"an amount below zero":         {Transactions, tx(`2450000`, `-5`), `transactions row 1: amount_minor is -5` + amount},
		"an amount with a point":       {Transactions, tx(`2450000`, `12.5`), `transactions row 1: amount_minor is 12.5` + amount},
		"an amount of whole hundreds":  {Transactions, tx(`2450000`, `12.0`), `transactions row 1: amount_minor is 12.0` + amount},
		"an amount with an exponent":   {Transactions, tx(`2450000`, `1e3`), `transactions row 1: amount_minor is 1e3` + amount},
		"an amount in quotes":          {Transactions, tx(`2450000`, `"12"`), `transactions row 1: amount_minor is "12"` + amount},
		"the largest int64":            {Transactions, tx(`2450000`, `9223372036854775807`), `transactions row 1: amount_minor is 9223372036854775807` + amount},
		"one more than the largest":    {Transactions, tx(`2450000`, `9223372036854775808`), `transactions row 1: amount_minor is 9223372036854775808` + amount},
		"one more than a reader keeps": {Transactions, tx(`2450000`, `9007199254740992`), `transactions row 1: amount_minor is 9007199254740992` + amount},
		"an amount of 1,000 digits":    {Transactions, tx(`2450000`, strings.Repeat("1", 1000)), `transactions row 1: amount_minor is a number of 1000 digits` + amount},
		"an amount that is true":       {Transactions, tx(`2450000`, `true`), `transactions row 1: amount_minor is true` + amount},
		"an amount that is an object":  {Transactions, tx(`2450000`, `{"minor":5,"currency":"NGN"}`), `transactions row 1: amount_minor is an object` + amount},
		"an amount that is null":       {Transactions, tx(`2450000`, `null`), `transactions row 1: amount_minor is missing, expected a value: the column is required`},
		"a posting of minus one":       {LedgerEntries, has(LedgerEntries, `2450000`, `-1`), `ledger_entries row 1: amount_minor is -1` + amount},

		"a currency nobody issues":           {Transactions, tx(`"NGN"`, `"XYZ"`), `transactions row 1: currency is "XYZ", expected an ISO 4217 currency in capitals, such as NGN`},
		"a currency in small letters":        {Transactions, tx(`"NGN"`, `"ngn"`), `transactions row 1: currency is "ngn", expected an ISO 4217 currency in capitals, such as NGN: did you mean NGN?`},
		"gold, which is no money":            {Accounts, has(Accounts, `"NGN"`, `"XAU"`), `accounts row 1: currency is "XAU", expected an ISO 4217 currency in capitals, such as NGN`},
		"a currency that is empty":           {LedgerEntries, has(LedgerEntries, `"NGN"`, `""`), `ledger_entries row 1: currency is "", expected an ISO 4217 currency in capitals, such as NGN`},
		"a time without a zone":              {Transactions, tx(`09:14:00Z`, `09:14:00`), `transactions row 1: occurred_at is "2026-11-28T09:14:00"` + moment},
		"a month thirteen":                   {Transactions, tx(`2026-11-28T09:14:00Z`, `2026-13-40`), `transactions row 1: occurred_at is "2026-13-40"` + moment},
		"the thirtieth of February":          {Transactions, tx(`2026-11-28T09:14:00Z`, `2026-02-30`), `transactions row 1: occurred_at is "2026-02-30"` + moment},
		"a day before its month":             {Transactions, tx(`2026-11-28T09:14:00Z`, `28/11/2026`), `transactions row 1: occurred_at is "28/11/2026"` + moment},
		"the year 0026":                      {Transactions, tx(`2026-11`, `0026-11`), `transactions row 1: occurred_at is "0026-11-28T09:14:00Z"` + moment},
		"a time that is a number":            {Transactions, tx(`"2026-11-28T09:14:00Z"`, `1764321240`), `transactions row 1: occurred_at is 1764321240` + moment},
		"a time that is empty":               {Transactions, tx(`2026-11-28T09:14:00Z`, ``), `transactions row 1: occurred_at is ""` + moment},
		"an optional time that is wrong":     {Devices, has(Devices, `2025-01-01T00:00:00+01:00`, `yesterday`), `devices row 1: first_seen_at is "yesterday"` + moment},
		"an unknown kind":                    {Transactions, tx(`"card"`, `"crypto"`), `transactions row 1: kind is "crypto", expected one of transfer, card, atm, bill, fee, other`},
		"a kind with a capital":              {Transactions, tx(`"card"`, `"Card"`), `transactions row 1: kind is "Card", expected one of transfer, card, atm, bill, fee, other`},
		"an unknown direction":               {Transactions, tx(`"debit"`, `"out"`), `transactions row 1: direction is "out", expected one of debit, credit`},
		"an unknown status":                  {Transactions, tx(`"posted"`, `"done"`), `transactions row 1: status is "done", expected one of posted, pending, failed, reversed`},
		"an unknown kind of posting":         {LedgerEntries, has(LedgerEntries, `"original"`, `"chargeback"`), `ledger_entries row 1: kind is "chargeback", expected one of original, reversal, refund, fee, adjustment`},
		"an unknown settlement status":       {Settlements, has(Settlements, `"settled"`, `"ok"`), `settlements row 1: status is "ok", expected one of settled, failed, returned, pending, timed_out, unknown`},
		"final in quotes":                    {Settlements, has(Settlements, `true`, `"true"`), `settlements row 1: final is "true", expected true or false, without quotes`},
		"final as a number":                  {Settlements, has(Settlements, `true`, `1`), `settlements row 1: final is 1, expected true or false, without quotes`},
		"final not said":                     {Settlements, has(Settlements, `"final":true,`, ``), `settlements row 1: final is missing, expected a value: the column is required`},
		"trusted in words":                   {Devices, has(Devices, `false`, `"no"`), `devices row 1: trusted is "no", expected true or false, without quotes`},
		"a name of spaces":                   {Customers, has(Customers, `Ada Obi`, `  `), `customers row 1: name is "  ", expected text that is not blank`},
		"a name that is a list":              {Merchants, `{"id":"M-1","name":["a","b"]}`, `merchants row 1: name is a list of texts, expected a text`},
		"a name with an escape sequence":     {Merchants, `{"id":"M-1","name":"\u001b[2J"}`, `merchants row 1: name is "\x1b[2J", expected text without control characters`},
		"a memo of 4,001 bytes":              {Transactions, tx(`null`, `"`+strings.Repeat("m", 4001)+`"`), `transactions row 1: memo is a text of 4001 bytes, expected at most 4000 bytes`},
		"a memo of ten megabytes":            {Transactions, tx(`null`, `"`+strings.Repeat("m", 10<<20)+`"`), `transactions row 1: memo is a text of 10485760 bytes, expected at most 4000 bytes`},
		"a name of ten megabytes of escapes": {Customers, has(Customers, `Ada Obi`, strings.Repeat(`\ud83d\ude00`, 1<<20)), `customers row 1: name is a text of 4194304 bytes, expected at most 4000 bytes`},
		"a megabyte of half surrogate pairs": {Customers, has(Customers, `Ada Obi`, strings.Repeat(`\ud800`, 1<<20)), `customers row 1: name is a text of 3145728 bytes, expected at most 4000 bytes`},
		"flags that are one text":            {Customers, has(Customers, `["watch"]`, `"watch"`), `customers row 1: flags is "watch", expected a list of texts`},
		"a flag that is a number":            {Customers, has(Customers, `["watch"]`, `["watch",1]`), `customers row 1: flags is a list, expected a list of texts`},
		"a flag that is empty":               {Customers, has(Customers, `["watch"]`, `["watch",""]`), `customers row 1: flags[1] is "", expected text that is not empty`},
		"more flags than anyone has":         {Customers, has(Customers, `["watch"]`, `["w"`+strings.Repeat(`,"w"`, 5000)+`]`), `customers row 1: flags is a list of more than 100, expected at most 100 flags`},
		"a column that stands there twice":   {Transactions, with(Transactions, `"id":"T-2"`), `transactions row 1: id is there twice, expected each column once`},
		"an unknown column there twice":      {Transactions, with(Transactions, `"colour":1,"colour":2`), `transactions row 1: "colour" is there twice, expected each column once`},
		"a row that is a list":               {Transactions, `["T-1","A-1"]`, `transactions row 1 is a list of texts, expected an object`},
		"a row that is null":                 {Transactions, `null`, `transactions row 1 is null, expected an object`},
		"a row that is a text":               {Transactions, `"T-1"`, `transactions row 1 is a text of 3 bytes, expected an object`},
		"an account number is not repeated":  {Accounts, has(Accounts, `0000014579`, `0000014579 `), `accounts row 1: number is ****579  (11 bytes), expected text without spaces at its ends`},
		"nor one that is a number":           {Accounts, has(Accounts, `"0000014579"`, `1000014579`), `accounts row 1: number is a number, expected a text: write it as a string, in quotes`},
		"an account with the bank's own id":  {Accounts, has(Accounts, `"A-1"`, `"suspense:NGN"`), `accounts row 1: id is "suspense:NGN", expected a customer's account: ids that begin with "suspense:" are the bank's own`},
		"a movement on the bank's account":   {Transactions, tx(`"A-1"`, `"suspense:NGN"`), `transactions row 1: account_id is "suspense:NGN", expected a customer's account: ids that begin with "suspense:" are the bank's own`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := map[Array]string{row.array: row.row + ",\n" + strings.NewReplacer(`"id":"`, `"id":"second-`, `"transaction_id":"`, `"transaction_id":"second-`).Replace(good[row.array])}
			o := read(t, strings.NewReader(document(rows)))
			if o.err != nil {
				t.Fatal(o.err)
			}
			want := []string{"in.json:2: " + row.want}
			if diff := cmp.Diff(want, o.problems); diff != "" {
				t.Error(diff)
			}
			if o.sum.Rows() != 1 || o.sum.Refused != 1 {
				t.Errorf("%d rows and %d refused, want the second row alone", o.sum.Rows(), o.sum.Refused)
			}
		})
	}
}

func TestReadJSONNamesEverythingWrongWithARow(t *testing.T) {
	o := read(t, strings.NewReader(`{"transactions":[
		{"id":7,
		 "kind":"card","direction":"debit","amount_minor":1.5,"currency":"ngn",
		 "status":"posted","occurred_at":"soon"}]}`))
	want := []string{
		`in.json:2: transactions row 1: id is 7, expected a text: write it as a string, in quotes`,
		`in.json:3: transactions row 1: amount_minor is 1.5, expected ` + wantAmount,
		`in.json:4: transactions row 1: occurred_at is "soon", expected ` + wantWhen,
		`in.json:2: transactions row 1: account_id is missing, expected a value: the column is required`,
		`in.json:2: transactions row 1: currency is "ngn", expected an ISO 4217 currency in capitals, such as NGN: did you mean NGN?`,
	}
	if diff := cmp.Diff(want, o.problems); diff != "" {
		t.Error(diff)
	}
}

func TestReadJSONRefusesAnArray(t *testing.T) {
	const seven = "customers, accounts, merchants, devices, transactions, ledger_entries, settlements"
	for name, c := range map[string]struct{ in, want string }{
		"a name that is none of the seven":   {`{"payments":[{"id":1}],"customers":[` + good[Customers] + `]}`, `in.json:1: array is "payments", expected one of ` + seven},
		"a name with a capital":              {`{"Customers":[],"customers":[` + good[Customers] + `]}`, `in.json:1: array is "Customers", expected one of ` + seven},
		"one that is an object":              {`{"accounts":{"A-1":{}},"customers":[` + good[Customers] + `]}`, `in.json:1: accounts is an object, expected a list of rows`},
		"one that is null":                   {`{"accounts":null,"customers":[` + good[Customers] + `]}`, `in.json:1: accounts is null, expected a list of rows`},
		"one that stands there twice":        {`{"customers":[` + good[Customers] + `],"customers":[` + good[Customers] + `]}`, `in.json:1: customers is there twice, expected each array once`},
		"one that is a text of a megabyte":   {`{"accounts":"` + strings.Repeat("x", 1<<20) + `","customers":[` + good[Customers] + `]}`, `in.json:1: accounts is a text of 1048576 bytes, expected a list of rows`},
		"a name nobody could print":          {`{"` + strings.Repeat("n", 300) + `":[],"customers":[` + good[Customers] + `]}`, `in.json:1: array is "` + strings.Repeat("n", 60) + `"… (256 bytes), expected one of ` + seven},
		"a name with a character that hides": {`{"customers\u200b":[],"customers":[` + good[Customers] + `]}`, `in.json:1: array is "customers\u200b", expected one of ` + seven},
	} {
		t.Run(name, func(t *testing.T) {
			o := read(t, strings.NewReader(c.in))
			if diff := cmp.Diff([]string{c.want}, o.problems); diff != "" || o.err != nil {
				t.Error(o.err, diff)
			}
			if o.sum.Rows() != 1 || o.sum.Refused != 1 {
				t.Errorf("%d rows, %d refused, want the customer and one refusal", o.sum.Rows(), o.sum.Refused)
			}
		})
	}
}

func TestReadJSONStopsAtABrokenDocument(t *testing.T) {
	first := `{"customers":[` + good[Customers] + `,` + "\n"
	for name, c := range map[string]struct {
		in, want string
		rows     int
	}{
		"nothing at all":                      {"", "in.json: line 1, column 1: the file is empty, expected one JSON object with any of " + joined(Arrays), 0},
		"white space alone":                   {" \n ", "in.json: line 2, column 2: the file is empty, expected one JSON object with any of " + joined(Arrays), 0},
		"a list at the top":                   {`[{"id":"C-1"}]`, "in.json: line 1, column 1: found [, expected { and one JSON object with any of " + joined(Arrays), 0},
		"a CSV file":                          {"id,name\nC-1,Ada", "in.json: line 1, column 1: found i, expected { and one JSON object with any of " + joined(Arrays), 0},
		"a NUL byte at the top":               {"\x00{}", "in.json: line 1, column 1: found the byte 0x00, expected { and one JSON object with any of " + joined(Arrays), 0},
		"a file in UTF-16":                    {"\xff\xfe{\x00}\x00", "in.json: line 1, column 1: the file is UTF-16; save it as UTF-8", 0},
		"a file that is compressed":           {"\x1f\x8b\x08\x00", "in.json: line 1, column 1: the file is compressed; unpack it first", 0},
		"an end in the middle of a row":       {first + `{"id":"C-2","name"`, "in.json: line 2, column 19: the file ends where : should stand after the name \"name\"", 1},
		"an end inside a text":                {first + `{"id":"C-2`, "in.json: line 2, column 11: the file ends inside a text", 1},
		"an end inside an escape":             {first + `{"id":"C-2\u00`, "in.json: line 2, column 15: the file ends inside a text", 1},
		"an end after a comma":                {first, "in.json: line 2, column 1: the file ends where a value should stand", 1},
		"an end before the last brace":        {`{"customers":[` + good[Customers] + `]`, "in.json: line 1, column 133: the file ends where , or } should stand", 1},
		"two documents":                       {`{"customers":[` + good[Customers] + "]}\n{}", "in.json: line 2, column 1: found { after the end of the object: an import is one JSON object and nothing else", 1},
		"a NUL byte after the end":            {"{}\x00", "in.json: line 1, column 3: found the byte 0x00 after the end of the object: an import is one JSON object and nothing else", 0},
		"a comma too many in a row":           {first + `{"id":"C-2",}]}`, "in.json: line 2, column 13: a comma with nothing after it", 1},
		"a comma too many after a row":        {first + `]}`, "in.json: line 2, column 1: a comma with nothing after it", 1},
		"no comma between rows":               {`{"customers":[` + good[Customers] + "\n{}]}", "in.json: line 2, column 1: found { where , or ] should stand", 1},
		"a name without quotes":               {first + `{id:"C-2"}]}`, "in.json: line 2, column 2: found i where a name in quotes should stand", 1},
		"a text in single quotes":             {first + `{"id":'C-2'}]}`, "in.json: line 2, column 7: found ' where a value should stand", 1},
		"a comment":                           {"{ // customers\n}", "in.json: line 1, column 3: found / where a name in quotes should stand", 0},
		"a number that is none":               {first + `{"id":NaN}]}`, `in.json: line 2, column 7: "NaN" is not JSON: text stands in quotes, and the only words are true, false and null`, 1},
		"a number with a zero before it":      {first + `{"id":0123}]}`, `in.json: line 2, column 7: "0123" is not JSON: text stands in quotes, and the only words are true, false and null`, 1},
		"a number that ends in its point":     {first + `{"id":1.}]}`, `in.json: line 2, column 7: "1." is not JSON: text stands in quotes, and the only words are true, false and null`, 1},
		"a word from another language":        {first + `{"id":None}]}`, `in.json: line 2, column 7: "None" is not JSON: text stands in quotes, and the only words are true, false and null`, 1},
		"a line break inside a text":          {first + "{\"id\":\"C\n2\"}]}", "in.json: line 2, column 9: a line ends inside a text; the closing quote is missing, or write \\n", 1},
		"a backslash before a wrong letter":   {first + `{"id":"C:\x"}]}`, "in.json: line 2, column 11: found x after a backslash, which JSON does not know", 1},
		"an escape with too few digits":       {first + `{"id":"\u12g4"}]}`, "in.json: line 2, column 14: \\u must be followed by four hexadecimal digits", 1},
		"an unknown column a thousand deep":   {first + `{"x":` + strings.Repeat("[", 1000), "in.json: line 2, column 35: lists and objects stand more than 32 deep inside each other", 1},
		"objects a million deep":              {first + strings.Repeat(`{"x":`, 1_000_000), "in.json: line 2, column 151: lists and objects stand more than 32 deep inside each other", 1},
		"an unknown array that never ends":    {`{"payments":` + strings.Repeat("[", 100), "in.json: line 1, column 44: lists and objects stand more than 32 deep inside each other", 0},
		"a broken value in an unknown column": {first + `{"x":[1,,2]}]}`, "in.json: line 2, column 9: found , where a value should stand", 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := read(t, strings.NewReader(c.in))
			if o.err == nil || o.err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", o.err, c.want)
			}
			if countersign.KindOf(o.err) != countersign.Invalid {
				t.Errorf("kind %s, want invalid", countersign.KindOf(o.err))
			}
			if o.sum.Rows() != c.rows {
				t.Errorf("%d rows delivered before it, want %d", o.sum.Rows(), c.rows)
			}
		})
	}
}

func TestReadJSONPassesOnErrors(t *testing.T) {
	unplugged := errors.New("unplugged")
	t.Run("of the file, with its name", func(t *testing.T) {
		in := io.MultiReader(strings.NewReader(`{"customers":[`+good[Customers]), iotest.ErrReader(unplugged))
		o := read(t, in)
		if !errors.Is(o.err, unplugged) || !strings.HasPrefix(o.err.Error(), "in.json: ") {
			t.Errorf("got %v", o.err)
		}
	})
	t.Run("of the file behind the last brace", func(t *testing.T) {
		if o := read(t, io.MultiReader(strings.NewReader(`{}`), iotest.ErrReader(unplugged))); !errors.Is(o.err, unplugged) {
			t.Errorf("got %v", o.err)
		}
	})
	t.Run("of the caller, untouched", func(t *testing.T) {
		full := countersign.Errorf(countersign.Unavailable, "the disk is full")
		_, err := ReadJSON("in.json", strings.NewReader(document(good)), func(Row) error { return full }, func(Problem) {})
		if err != error(full) || full.Message != "the disk is full" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("of a reader that never has anything", func(t *testing.T) {
		if o := read(t, nothing{}); !errors.Is(o.err, io.ErrNoProgress) {
			t.Errorf("got %v", o.err)
		}
	})
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestReadJSONAcceptsOpaqueIDs(t *testing.T) {
	for name, id := range map[string]string{
		"quotes":            `it's \"quoted\"`,
		"slashes":           `../../etc/passwd\\..`,
		"SQL":               `'; DROP TABLE x; --`,
		"spaces inside":     `TX 1`,
		"other alphabets":   `ТХ-№1-₦`,
		"an escaped smile":  `\ud83d\ude00`,
		"200 bytes":         strings.Repeat("x", 200),
		"what looks like 0": `000`,
	} {
		t.Run(name, func(t *testing.T) {
			o := read(t, strings.NewReader(`{"merchants":[{"id":"`+id+`","name":"x"}]}`))
			if len(o.set.Merchants) != 1 || o.err != nil || len(o.problems) > 0 {
				t.Errorf("error %v, problems %v", o.err, o.problems)
			}
		})
	}
}

func TestReadJSONComparesRowsWithTheSameID(t *testing.T) {
	second := has(Transactions, "2450000", "2450001")
	o := read(t, strings.NewReader("{\"transactions\":[\n"+good[Transactions]+",\n"+good[Transactions]+",\n"+second+"]}"))
	want := []string{`in.json:4: transactions row 3: id is "T-1", expected one row for each id: line 2 has this one with other content`}
	if diff := cmp.Diff(want, o.problems); diff != "" {
		t.Error(diff)
	}
	if got := o.sum.Arrays[0]; got != (Count{Transactions, 1, 1, 1}) {
		t.Errorf("counted %+v", got)
	}
	if o.set.Transactions[0].AmountMinor != 2450000 {
		t.Error("the second row won")
	}
}

func TestReadJSONReportsUnknownColumnsOnce(t *testing.T) {
	row := func(id, more string) string { return `{"id":"` + id + `","name":"x"` + more + `}` }
	in := "{\"merchants\":[\n" + row("1", `,"colour":"red","deep":{"a":[1,{"b":2}]}`) + ",\n" + row("2", `,"colour":7`) + "],\n\"customers\":[\n" +
		row("C", `,"colour":null,"Home_City":"Lagos"`) + "]}"
	o := read(t, strings.NewReader(in))
	want := []Column{{Merchants, `"colour"`, 2, 2}, {Merchants, `"deep"`, 1, 2}, {Customers, `"colour"`, 1, 5}, {Customers, `"Home_City"`, 1, 5}}
	if diff := cmp.Diff(want, o.sum.Unknown); diff != "" {
		t.Error(diff)
	}
	if o.sum.Rows() != 3 || len(o.problems) > 0 || o.err != nil {
		t.Errorf("rows %d, problems %v, error %v", o.sum.Rows(), o.problems, o.err)
	}
	if o.set.Customers[0].HomeCity != "" {
		t.Error("Home_City was taken for home_city: that is a guess")
	}
}

func TestReadJSONHoldsNoEndlessListOfColumns(t *testing.T) {
	var in strings.Builder
	in.WriteString(`{"merchants":[{"id":"0","name":"x"`)
	for i := range 100_000 {
		fmt.Fprintf(&in, `,"c%d":1`, i)
	}
	in.WriteString("}")
	for i := range 1000 {
		fmt.Fprintf(&in, `,{"id":"%d","name":"x","d%d":1}`, i+1, i)
	}
	in.WriteString("]}")
	o := read(t, strings.NewReader(in.String()))
	if len(o.sum.Unknown) > maxUnknown+1 || len(o.problems) != 1 || o.sum.Rows() != 1000 || o.err != nil {
		t.Errorf("%d unknown columns, problems %v, %d rows, error %v", len(o.sum.Unknown), o.problems, o.sum.Rows(), o.err)
	}
}

// TestReadJSONStreams reads far more than it may hold: the rows never end, and the reader is stopped by the caller.
func TestReadJSONStreams(t *testing.T) {
	const rows = 300_000
	in := &endless{head: `{"transactions":[`, row: good[Transactions]}
	n, stop := 0, errors.New("enough")
	_, err := ReadJSON("in.json", in, func(r Row) error {
		if n++; n == rows {
			return stop
		}
		return nil
	}, func(p Problem) { t.Fatal(p) })
	if err != stop || in.served < 50<<20 {
		t.Errorf("stopped by %v after %d MB", err, in.served>>20)
	}
}

// endless serves a document with numbered rows that goes on for ever.
type endless struct {
	head, row string
	n, served int
	rest      []byte
}

func (e *endless) Read(b []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = append(append(e.rest, e.head...), strings.Replace(e.row, "T-1", fmt.Sprintf("T-%d", e.n), 1)...)
		e.head, e.n = ",\n", e.n+1
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	e.served += n
	return n, nil
}

func FuzzReadJSON(f *testing.F) {
	seeds := []string{
		document(good), document(twice(good)), "", "{}", "\xef\xbb", "\xff\xfe", "[]", `{"customers":{}}`, `{"customers":[[[]]]}`, `{"x":[{"a":1,"a":2}]}`,
		`{"transactions":[{"amount_minor":1e400,"id":"\ud800\ud800"}]}`, "\ufeff{}", "{\"merchants\":[{\"id\":\"\x00\xff\",\"name\":\"\\u0000\"}]}",
	}
	for a := range good {
		seeds = append(seeds, document(map[Array]string{a: strings.Replace(good[a], `"id":"`, `"id":"\u0041`, 1)}))
	}
	if len(seeds) < 18 {
		f.Fatal("the seeds are gone")
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole := read(t, strings.NewReader(string(in)))
		bytewise := read(t, iotest.OneByteReader(strings.NewReader(string(in))))
		if diff := cmp.Diff(whole.problems, bytewise.problems); diff != "" || fmt.Sprint(whole.err) != fmt.Sprint(bytewise.err) {
			t.Fatalf("another answer when the file comes in pieces: %v, %v\n%s", whole.err, bytewise.err, diff)
		}
		for _, p := range whole.problems {
			if strings.ContainsFunc(p, unprintable) || strings.Contains(p, "\n") || len(p) > 2000 {
				t.Fatalf("not one short printable line: %q", p)
			}
		}
		if whole.sum.Rows() != len(whole.lines) {
			t.Fatalf("%d rows counted, %d delivered", whole.sum.Rows(), len(whole.lines))
		}
	})
}

func BenchmarkReadJSON(b *testing.B) {
	var doc strings.Builder
	doc.WriteString(`{"transactions":[`)
	const rows = 20_000
	for i := range rows {
		if i > 0 {
			doc.WriteString(",\n")
		}
		fmt.Fprintf(&doc, `{"id":"TX-%06d","account_id":"ACC-%04d","kind":"card","direction":"debit","amount_minor":%d,"currency":"NGN","status":"posted","occurred_at":"2026-11-28T09:14:00Z","posted_at":"2026-11-28T09:14:03Z","merchant_id":"M-%d","reference":"ORDER-%d","device_id":"D-1","city":"Lagos","country":"NG","memo":"POS purchase at the corner shop"}`, i, i%500, 1000+i, i%90, i)
	}
	doc.WriteString("]}")
	b.SetBytes(int64(doc.Len()))
	b.ReportAllocs()
	for b.Loop() {
		sum, err := ReadJSON("bench.json", strings.NewReader(doc.String()), func(Row) error { return nil }, func(p Problem) { b.Fatal(p) })
		if err != nil || sum.Rows() != rows {
			b.Fatal(sum.Rows(), err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}
