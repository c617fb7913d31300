package feed

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
)

// sheet writes the rows of one array as CSV, the columns that any of them has.
func sheet(t testing.TB, array records.Array, rows []map[string]any, delimiter rune) []byte {
	t.Helper()
	columns := slices.DeleteFunc(records.Columns(array), func(column string) bool {
		return !slices.ContainsFunc(rows, func(row map[string]any) bool { return row[column] != nil })
	})
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = delimiter, true
	all := [][]string{columns}
	for _, row := range rows {
		var cells []string
		for _, column := range columns {
			if row[column] == nil {
				row[column] = ""
			}
			cells = append(cells, fmt.Sprint(row[column]))
		}
		all = append(all, cells)
	}
	if err := w.WriteAll(all); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sheets writes every array of a set as a file of its own, those that are owned before their owners.
func sheets(t testing.TB, set map[string][]map[string]any, delimiter rune) (sources []Source) {
	t.Helper()
	for _, array := range slices.Backward(records.Arrays) {
		if len(set[string(array)]) > 0 {
			sources = append(sources, Source{Name: string(array) + ".csv", Content: bytes.NewReader(sheet(t, array, set[string(array)], delimiter))})
		}
	}
	return sources
}

// shelves is everything in the books.
func shelves(t testing.TB, s *store.Store) map[records.Array][][]string {
	t.Helper()
	all := map[records.Array][][]string{}
	for _, array := range records.Arrays {
		columns := records.Columns(array)
		rows, err := s.DB().Query("SELECT " + strings.Join(columns, ", ") + " FROM " + string(array) + " ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			cells := make([]any, len(columns))
			for i := range cells {
				cells[i] = new(any)
			}
			if err := rows.Scan(cells...); err != nil {
				t.Fatal(err)
			}
			var row []string
			for _, c := range cells {
				row = append(row, fmt.Sprint(*c.(*any)))
			}
			all[array] = append(all[array], row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// bring imports sources and returns the reports without what differs between a dry run and an import, and what was refused.
func bring(t testing.TB, f Feed, sources ...Source) ([]Report, []string) {
	t.Helper()
	refused := []string{}
	f.Refused = func(p records.Problem) { refused = append(refused, p.String()) }
	reports, err := f.All(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return reports, refused
}

func sum(reports []Report) (total Report) {
	for _, r := range reports {
		total.New, total.Changed, total.Same, total.Refused = total.New+r.New, total.Changed+r.Changed, total.Same+r.Same, total.Refused+r.Refused
	}
	return total
}

// engines runs a sub-test per database engine, which opens as many empty stores as it likes.
func engines(t *testing.T, run func(t *testing.T, empty func() *store.Store)) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": testdb.SQLite, "postgres": testdb.Postgres} {
		t.Run(name, func(t *testing.T) { run(t, func() *store.Store { return open(t, database(t)) }) })
	}
}

func TestCSVAndJSONStoreTheSameBooks(t *testing.T) {
	engines(t, func(t *testing.T, empty func() *store.Store) {
		set := books(150)
		set["customers"][3]["name"] = "Ọjà \"Market\",\r\n₦ |;"
		set["devices"][4]["trusted"] = true
		set["settlements"][5]["final"] = true
		asObject, asTables := empty(), empty()
		read(t, Feed{Store: asObject}, asJSON(t, set))
		reports, refused := bring(t, Feed{Store: asTables}, sheets(t, set, ';')...)
		if total := sum(reports); total.New != 1051 || total.Refused != 0 || len(refused) > 0 {
			t.Fatalf("imported %+v, refused %v", total, refused)
		}
		if diff := cmp.Diff(shelves(t, asObject), shelves(t, asTables)); diff != "" {
			t.Errorf("from JSON (-) and from CSV (+):\n%s", diff)
		}
		again, _ := bring(t, Feed{Store: asObject}, sheets(t, set, '|')...)
		if total := sum(again); total.Same != 1051 || total.New+total.Changed+total.Refused != 0 {
			t.Errorf("CSV over JSON: %+v", total)
		}
	})
}

func TestFilesThatComeTogetherAreOneImport(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	set := books(40)
	set["transactions"][7]["account_id"] = "nobody"
	sources := sheets(t, set, ',')
	order := []string{"customers.csv", "accounts.csv", "merchants.csv", "devices.csv", "transactions.csv", "ledger_entries.csv", "settlements.csv"}
	would, wouldRefuse := bring(t, Feed{Store: s, DryRun: true}, sources...)
	if diff := cmp.Diff(nothing, counts(t, s)); diff != "" {
		t.Errorf("the dry run changed something:\n%s", diff)
	}
	did, refused := bring(t, Feed{Store: s}, sources...)
	if diff := cmp.Diff(would, did); diff != "" {
		t.Errorf("the dry run's reports are not the import's:\n%s", diff)
	}
	if diff := cmp.Diff(wouldRefuse, refused); diff != "" {
		t.Errorf("refused by the dry run (-) and by the import (+):\n%s", diff)
	}
	if total := sum(did); total.New != 280 || total.Refused != 1 || len(refused) != 1 {
		t.Errorf("imported %+v, refused %v", total, refused)
	}
	var files []string
	for _, r := range did {
		files = append(files, r.File)
	}
	if diff := cmp.Diff(order, files); diff != "" {
		t.Errorf("owners do not come first:\n%s", diff)
	}
	want := Report{File: "accounts.csv", Format: records.CSV, Encoding: records.UTF8, Delimiter: records.Comma, LineEnds: "CRLF",
		Understood: []Understood{{records.Accounts, 40}}, Unknown: []UnknownColumn{}, Notes: []string{}, New: 40}
	if diff := cmp.Diff(want, did[1]); diff != "" {
		t.Error(diff)
	}
}

// JSON may hold in one file what is owned in another, either way round.
func TestJSONAndCSVTogether(t *testing.T) {
	set := books(3)
	first := map[string]any{"accounts": set["accounts"], "settlements": set["settlements"]}
	second := map[string]any{"customers": set["customers"], "transactions": set["transactions"], "merchants": set["merchants"]}
	sources := []Source{
		{Name: "first.json", Content: bytes.NewReader(asJSON(t, first))},
		{Name: "devices.csv", Content: bytes.NewReader(sheet(t, records.Devices, set["devices"], ','))},
		{Name: "second.json", Content: bytes.NewReader(asJSON(t, second))},
		{Name: "last.csv", Array: records.LedgerEntries, Content: bytes.NewReader(sheet(t, records.LedgerEntries, set["ledger_entries"], ','))},
	}
	s := open(t, testdb.SQLite(t))
	for _, dry := range []bool{true, false} {
		reports, refused := bring(t, Feed{Store: s, DryRun: dry}, sources...)
		if total := sum(reports); total.New != 22 || len(refused) != 0 {
			t.Errorf("dry run %v: imported %+v, refused %v", dry, total, refused)
		}
		if reports[0].File != "second.json" || reports[3].File != "last.csv" {
			t.Errorf("the order is %+v", reports)
		}
	}
}

// Two files may hold the same row: months overlap where they meet.
func TestFilesThatOverlap(t *testing.T) {
	october, november := books(3)["customers"], books(5)["customers"]
	files := func() []Source {
		return []Source{{Name: "customers-2026-10.csv", Content: bytes.NewReader(sheet(t, records.Customers, october, ','))},
			{Name: "customers-2026-11.csv", Content: bytes.NewReader(sheet(t, records.Customers, november, ','))}}
	}
	s := open(t, testdb.SQLite(t))
	would, _ := bring(t, Feed{Store: s, DryRun: true}, files()...)
	did, _ := bring(t, Feed{Store: s}, files()...)
	if diff := cmp.Diff(would, did); diff != "" || did[1].Same != 3 || did[1].New != 2 {
		t.Errorf("the dry run's reports (-) are not the import's (+):\n%s", diff)
	}
	november[1]["name"], november[2]["name"] = "Ada O.", "Ada O."
	would, _ = bring(t, Feed{Store: s, DryRun: true}, files()...)
	note := "an earlier file says something else of one of the customers: the dry run compares both with the books as they are now, the import will compare them with each other"
	if diff := cmp.Diff([]string{note}, would[1].Notes); diff != "" {
		t.Error(diff)
	}
}

func TestOneBrokenFileOfSeveralStoresNothing(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	sources := sheets(t, books(30), ',')
	for name, last := range map[string]string{
		"a quote that never closes": "\"",
		"a byte of no encoding":     "\x81",
		"a NUL byte":                "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			broken := Source{Name: "merchants.csv", Content: strings.NewReader("id,name\nM-1,Mart\nM-2," + last)}
			reports, err := Feed{Store: s}.All(t.Context(), append(sources[:2:2], broken)...)
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), "merchants.csv: line 3") || len(reports) != 3 {
				t.Errorf("%d reports, and the error is %v, want one of the kind invalid that names the file and line 3", len(reports), err)
			}
			if diff := cmp.Diff(nothing, counts(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, name := range []string{"statement.csv", "customers-accounts.csv"} {
		if _, err := (Feed{Store: s}).Read(t.Context(), name, strings.NewReader("id,name\n")); countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), "ledger_entries") {
			t.Errorf("%s: the error is %v, want one that lists the arrays", name, err)
		}
	}
}

// An import that stops somewhere is run again, and then the books are as if it had never stopped.
func TestAnImportGoesOnWhereItStopped(t *testing.T) {
	engines(t, func(t *testing.T, empty func() *store.Store) {
		sources := sheets(t, books(720), ',') // 5,041 rows
		straight, stopped := empty(), empty()
		bring(t, Feed{Store: straight}, sources...)
		var before Report
		for _, at := range []int{900, 2500, 2501, 4100} {
			ctx, cancel := context.WithCancel(t.Context())
			f := Feed{Store: stopped, Progress: func(done, total int, is string) {
				if total > 0 && done >= at {
					cancel()
				}
			}}
			reports, err := f.All(ctx, sources...)
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("at %d: %v", at, err)
			}
			if now := sum(reports); now.New == 0 && at != 2501 || now.Same != before.New+before.Same || now.Refused+now.Changed != 0 {
				t.Errorf("at %d: %+v after %+v", at, now, before)
			} else {
				before = now
			}
		}
		last, _ := bring(t, Feed{Store: stopped}, sources...)
		if total := sum(last); total.New == 0 || total.Same == 0 || total.New+total.Same != 5041 {
			t.Errorf("the last run: %+v", total)
		}
		if diff := cmp.Diff(shelves(t, straight), shelves(t, stopped)); diff != "" {
			t.Errorf("straight through (-) and in pieces (+):\n%s", diff)
		}
	})
}

func TestResults(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	customers := "id,name\nC-1,Ada\n=1+1,\x1b[2J\nC-2,\n"
	accounts := "id,customer_id,number,currency\nA-1,C-9,0123456789,NGN\nA-2,C-1,1.2E+18,ngn\nA-3\n"
	sources := []Source{{Name: "accounts.csv", Content: strings.NewReader(accounts)}, {Name: "customers.csv", Content: strings.NewReader(customers)}}
	want := `file,line,array,row,id,field,found,expected
accounts.csv,3,accounts,2,A-2,number,**** (7 bytes),all digits of the number: a spreadsheet shortened it; format the column as text and export it again
accounts.csv,3,accounts,2,A-2,currency,ngn,"an ISO 4217 currency in capitals, such as NGN: did you mean NGN?"
accounts.csv,4,accounts,3,,,1 cells wide,4 like the header
customers.csv,3,customers,2,'=1+1,name,?[2J,text without control characters
customers.csv,4,customers,3,C-2,name,,a value: the column is required
accounts.csv,2,accounts,1,A-1,customer_id,C-9,"the id of one of the customers, in this file or on record"
`
	for _, dry := range []bool{true, false} {
		var b strings.Builder
		reports, refused := bring(t, Feed{Store: s, DryRun: dry, Results: &b}, sources...)
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("dry run %v:\n%s", dry, diff)
		}
		if total := sum(reports); total.New != 1 || total.Refused != 5 || len(refused) != 6 {
			t.Errorf("dry run %v: %+v, of which were told %d", dry, total, len(refused))
		}
	}
	t.Run("where nothing is refused there is a header", func(t *testing.T) {
		var b strings.Builder
		bring(t, Feed{Store: s, Results: &b}, Source{Name: "customers.csv", Content: strings.NewReader("id,name\nC-1,Ada\n")})
		if b.String() != "file,line,array,row,id,field,found,expected\n" {
			t.Error(b.String())
		}
	})
	t.Run("a file that is broken at its end leaves what was found before", func(t *testing.T) {
		var b strings.Builder
		_, err := Feed{Store: s, Results: &b}.Read(t.Context(), "customers.csv", strings.NewReader("id,name\nC-1,\n\"\n"))
		if err == nil || strings.Count(b.String(), "\n") != 2 {
			t.Errorf("%v, %q", err, b.String())
		}
	})
	t.Run("that cannot be written are an error", func(t *testing.T) {
		full := errors.New("the disk is full")
		_, err := Feed{Store: s, Results: failing{full}}.Read(t.Context(), "customers.csv", strings.NewReader("id,name\nC-1,Ada\n"))
		if !errors.Is(err, full) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("and stop an import before it goes on for long", func(t *testing.T) {
		full := errors.New("the disk is full")
		text := "id,name\n" + strings.Repeat("C-1,\n", 2000)
		for i := range 2000 {
			text += fmt.Sprintf("D-%d,Ada\n", i)
		}
		report, err := Feed{Store: s, Results: failing{full}}.Read(t.Context(), "customers.csv", strings.NewReader(text))
		if !errors.Is(err, full) || report.New != batch {
			t.Errorf("%d rows were stored before %v", report.New, err)
		}
	})
}

// failing is a disk that is full.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestAnOutsideBankInEveryEncoding takes a bank that others wrote (tau2-bench, Sierra Research, MIT) through what other
// programs make of its records: encoders that are not ours, and every delimiter.
func TestAnOutsideBankInEveryEncoding(t *testing.T) {
	set := outsideBank(t)
	if len(set["customers"]) < 30 || len(set["accounts"]) < 30 || len(set["transactions"]) < 250 {
		t.Fatalf("the outside bank has %d customers, %d accounts, %d transactions", len(set["customers"]), len(set["accounts"]), len(set["transactions"]))
	}
	asObject := open(t, testdb.SQLite(t))
	first, _ := read(t, Feed{Store: asObject}, asJSON(t, set))
	want := shelves(t, asObject)
	if first.Refused != 0 || !strings.ContainsRune(fmt.Sprint(want[records.Customers]), 'í') {
		t.Fatalf("imported %+v, without a letter beyond ASCII", first)
	}
	for name, c := range map[string]struct {
		encoding  encoding.Encoding
		delimiter rune
		want      records.Encoding
	}{
		"UTF-8":                   {unicode.UTF8, ',', records.UTF8},
		"UTF-8 with a mark":       {unicode.UTF8BOM, ';', records.UTF8Marked},
		"Windows-1252":            {charmap.Windows1252, ';', records.Windows1252},
		"UTF-16LE with a mark":    {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), '\t', records.UTF16LE},
		"UTF-16BE with a mark":    {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), '|', records.UTF16BE},
		"UTF-16LE without a mark": {unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), ',', records.UTF16LEBare},
		"UTF-16BE without a mark": {unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), ';', records.UTF16BEBare},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, testdb.SQLite(t))
			sources := sheets(t, set, c.delimiter)
			for i := range sources {
				encoded, err := c.encoding.NewEncoder().Bytes(sheet(t, arrayOf(sources[i]), set[string(arrayOf(sources[i]))], c.delimiter))
				if err != nil {
					t.Fatal(err)
				}
				sources[i].Content = bytes.NewReader(encoded)
			}
			reports, refused := bring(t, Feed{Store: s}, sources...)
			if total := sum(reports); total.New != first.New || len(refused) != 0 || reports[0].Encoding != c.want {
				t.Errorf("imported %+v as %s, refused %v", total, reports[0].Encoding, refused)
			}
			if diff := cmp.Diff(want, shelves(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func arrayOf(s Source) records.Array { return records.Array(strings.TrimSuffix(s.Name, ".csv")) }

// outsideBank is what the outside bank keeps, in the words of ours. Its dates have no time of day and its amounts have two
// decimals, which is known of that bank and would be a guess of any other.
func outsideBank(t testing.TB) map[string][]map[string]any {
	t.Helper()
	text, err := os.ReadFile(testdb.Shared(t, "data", "tau2-banking", "db.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bank struct {
		Users        struct{ Data map[string]map[string]any } `json:"users"`
		Accounts     struct{ Data map[string]map[string]any } `json:"accounts"`
		Transactions struct{ Data map[string]map[string]any } `json:"bank_account_transaction_history"`
	}
	if err := json.Unmarshal(text, &bank); err != nil {
		t.Fatal(err)
	}
	set := map[string][]map[string]any{}
	add := func(array string, row map[string]any) { set[array] = append(set[array], row) }
	day := func(us any) string {
		at, err := time.Parse("01/02/2006", us.(string))
		if err != nil {
			t.Fatal(err)
		}
		return at.Format(time.DateOnly)
	}
	for id, user := range bank.Users.Data {
		add("customers", map[string]any{"id": id, "name": user["name"], "email": user["email"], "phone": user["phone_number"]})
	}
	for id, account := range bank.Accounts.Data {
		if bank.Users.Data[account["user_id"].(string)] != nil {
			add("accounts", map[string]any{"id": id, "customer_id": account["user_id"], "number": id, "currency": "USD", "kind": account["class"], "status": account["status"]})
		}
	}
	for id, transaction := range bank.Transactions.Data {
		owned := slices.ContainsFunc(set["accounts"], func(account map[string]any) bool { return account["id"] == transaction["account_id"] })
		amount, _ := transaction["amount"].(float64)
		minor, err := strconv.Atoi(strings.Replace(strconv.FormatFloat(max(amount, -amount), 'f', 2, 64), ".", "", 1))
		if !owned || err != nil || minor == 0 {
			continue
		}
		direction := "credit"
		if amount < 0 {
			direction = "debit"
		}
		add("transactions", map[string]any{"id": id, "account_id": transaction["account_id"], "kind": "other", "direction": direction, "amount_minor": minor,
			"currency": "USD", "status": "posted", "occurred_at": day(transaction["date"]), "memo": transaction["description"]})
	}
	return set
}

// The document shows a CSV file for somebody to copy: a line with its name, then its text.
func TestTheDocumentedCSVCanBeImported(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testdb.Root(t), "docs", "records.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)`([a-z_]+\\.csv)`[^`]*```csv\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		t.Fatal("the document shows no CSV")
	}
	s := open(t, testdb.SQLite(t))
	object := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(string(text))
	read(t, Feed{Store: s}, []byte(object[1])) // what the rows refer to
	for _, block := range blocks {
		reports, refused := bring(t, Feed{Store: s}, Source{Name: block[1], Content: strings.NewReader(block[2])})
		if len(refused) > 0 || len(reports[0].Unknown) > 0 || reports[0].New == 0 {
			t.Errorf("%s: %+v, refused %v", block[1], reports[0], refused)
		}
	}
}

// BenchmarkImportCSV imports 300,000 transactions from a file and fails if that takes memory as if the file were held in it.
func BenchmarkImportCSV(b *testing.B) {
	const rows, most = 300_000, 256 << 20
	path := filepath.Join(b.TempDir(), "transactions.csv")
	var text bytes.Buffer
	text.WriteString("id;account_id;kind;direction;amount_minor;currency;status;occurred_at;merchant_id;reference;city;memo\n")
	for i := range rows {
		fmt.Fprintf(&text, "TX-%06d;A%d;card;debit;%d;NGN;posted;2026-11-28T09:14:00Z;M-%d;ORDER-%d;K\xf6ln;POS purchase at the corner shop\n", i, i%500, 1000+i, i%90, i)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	text = bytes.Buffer{}
	owners := books(500)
	for b.Loop() {
		b.StopTimer()
		s := open(b, testdb.SQLite(b))
		bring(b, Feed{Store: s}, sheets(b, map[string][]map[string]any{"customers": owners["customers"], "accounts": owners["accounts"]}, ',')...)
		runtime.GC()
		b.StartTimer()
		peak := uint64(0)
		f := Feed{Store: s, Progress: func(int, int, string) {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}}
		report, err := f.File(b.Context(), path)
		if err != nil || report.New != rows || peak > most {
			b.Fatalf("%d rows, %d MB at most, %v", report.New, peak>>20, err)
		}
		b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}
