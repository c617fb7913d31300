package web_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"countersign"
	"countersign/auth"
	"countersign/demo"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
)

// upload sends files as the page's form does, with what was chosen for those whose names say nothing.
func (b *browser) upload(array string, files ...document) page {
	b.t.Helper()
	return b.uploads("/import", files, "array", array)
}

func (b *browser) sendBody(kind string, body io.Reader) page {
	b.t.Helper()
	return b.sendTo("/import", kind, body)
}

// settled is the page of an upload once nothing is under way.
func (b *browser) settled(path string) page {
	b.t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; {
		if p := b.get(path); !strings.Contains(p.text, "<progress") {
			return p
		}
	}
	b.t.Fatalf("%s is still under way", path)
	return page{}
}

// checks sends files and returns the address of their page, and the page once they are checked.
func (b *browser) checks(array string, files ...document) (string, page) {
	b.t.Helper()
	answer := b.upload(array, files...)
	answer.is(http.StatusSeeOther)
	return answer.leads(), b.settled(answer.leads())
}

// does presses the button of an upload's page and returns the page once that is done.
func (b *browser) does(path string) page {
	b.t.Helper()
	form := b.get(path).form(path + "/run")
	b.post(path+"/run", form).is(http.StatusSeeOther)
	return b.settled(path)
}

// counted is how many rows of each array are in the books.
func (o *office) counted() map[records.Array]int {
	o.t.Helper()
	all := map[records.Array]int{}
	for _, array := range records.Arrays {
		var n int
		o.must(o.Store.DB().QueryRow("SELECT count(*) FROM " + string(array)).Scan(&n))
		all[array] = n
	}
	return all
}

// uploads lists the folders of uploads that there are.
func (o *office) uploadFolders() []string {
	o.t.Helper()
	all, err := filepath.Glob(filepath.Join(o.Data, "upload-*"))
	o.must(err)
	return all
}

// gone waits until no upload is kept.
func (o *office) gone() {
	o.t.Helper()
	for begun := time.Now(); len(o.uploadFolders()) > 0; {
		if time.Since(begun) > patience {
			o.t.Fatalf("%v are still there", o.uploadFolders())
		}
	}
}

// jsonOf is a bank's books as one JSON file.
func jsonOf(t testing.TB, set records.Set) string {
	t.Helper()
	text, err := json.Marshal(map[records.Array]any{records.Customers: set.Customers, records.Accounts: set.Accounts, records.Merchants: set.Merchants,
		records.Devices: set.Devices, records.Transactions: set.Transactions, records.LedgerEntries: set.LedgerEntries, records.Settlements: set.Settlements})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sheetsOf is a bank's books as a spreadsheet of Western Europe exports them: a file for each array, semicolons, Windows-1252.
func sheetsOf(t testing.TB, set records.Set) (files []document) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(jsonOf(t, set)))
	d.UseNumber()
	var arrays map[string][]map[string]any
	if err := d.Decode(&arrays); err != nil {
		t.Fatal(err)
	}
	for _, array := range slices.Backward(records.Arrays) {
		text, err := charmap.Windows1252.NewEncoder().String(sheetOf(t, array, arrays[string(array)]))
		if err != nil {
			t.Fatalf("%s: %v", array, err)
		}
		files = append(files, document{string(array) + ".csv", text})
	}
	return files
}

func sheetOf(t testing.TB, array records.Array, rows []map[string]any) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = ';', true
	lines := [][]string{records.Columns(array)}
	for _, row := range rows {
		var cells []string
		for _, column := range records.Columns(array) {
			cells = append(cells, inCell(row[column]))
		}
		lines = append(lines, cells)
	}
	if err := w.WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func inCell(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case []any:
		var texts []string
		for _, v := range value {
			texts = append(texts, fmt.Sprint(v))
		}
		return strings.Join(texts, "|")
	}
	return fmt.Sprint(value)
}

// westernBank is the demo's bank with a part of its payments, and names that Windows-1252 has the letters of.
func westernBank() records.Set {
	set := demo.Bank(time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC))
	western := strings.NewReplacer("ọ", "ö", "ẹ", "ë", "Ọ", "Ö", "ṣ", "s", "\u0301", "", "\u0300", "")
	for i, c := range set.Customers {
		set.Customers[i].Name = western.Replace(c.Name)
	}
	kept := map[string]bool{}
	for _, x := range set.Transactions[:200] {
		kept[x.ID] = true
	}
	set.Transactions = set.Transactions[:200]
	set.LedgerEntries = slices.DeleteFunc(set.LedgerEntries, func(e records.LedgerEntry) bool { return !kept[e.TransactionID] })
	set.Settlements = slices.DeleteFunc(set.Settlements, func(e records.Settlement) bool { return !kept[e.TransactionID] })
	return set
}

func rowsIn(set records.Set) int {
	return len(set.Customers) + len(set.Accounts) + len(set.Merchants) + len(set.Devices) + len(set.Transactions) + len(set.LedgerEntries) + len(set.Settlements)
}

func TestImport(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	bank := westernBank()
	rows := figure(rowsIn(bank))

	before := o.everything()
	path, p := b.checks("", document{"bank.json", jsonOf(t, bank)})
	p.is(http.StatusOK, "Checked, nothing is stored yet", "Import "+rows+" rows", "bank.json", "JSON", " customers, ").sum(rows + " 0 0 0")
	if after := o.everything(); after != before {
		t.Error("the dry run changed the database")
	}
	b.does(path).is(http.StatusOK, "Imported "+rows+" rows", "Open a dispute", "Go to the queue").sum(rows + " 0 0 0")
	if n := o.counted()[records.Transactions]; n != len(bank.Transactions) {
		t.Errorf("%d transactions are in the books, want %d", n, len(bank.Transactions))
	}
	o.gone()

	t.Run("pressed twice it shows what came of it", func(t *testing.T) {
		b.post(path+"/run", map[string][]string{"act": {"import"}}).is(http.StatusSeeOther)
		b.get(path).is(http.StatusOK, "Imported "+rows+" rows")
		b.post(path+"/cancel", nil).is(http.StatusSeeOther)
		b.get(path).is(http.StatusOK, "Imported "+rows+" rows")
	})
	t.Run("the same books as seven tables are no change", func(t *testing.T) {
		path, p := b.checks("", sheetsOf(t, bank)...)
		p.is(http.StatusOK, "there is nothing to import", "Windows-1252", "semicolon between cells", "CRLF at line ends", "no decimal sign in amounts").
			sum("0 0 " + rows + " 0")
		if len(p.parse().find("form", "action", path+"/run")) > 0 {
			t.Error("there is a button to import nothing")
		}
		if files := p.parse().find("table", "class", "files")[0].find("th", "scope", "row"); len(files) != 7 || files[0].text != "customers.csv" {
			t.Errorf("owners do not come first:\n%s", p.seen())
		}
	})
	t.Run("the next import can be found from the first page", func(t *testing.T) {
		b.get("/import").is(http.StatusOK, "bank.json imported", "settlements.csv and 6 other files checked, not imported")
	})
}

// sum is what a page says happens to rows: new, changed, unchanged, refused.
func (p page) sum(want string) page {
	p.t.Helper()
	var got []string
	for _, list := range p.parse().find("dl", "class", "lines figures") {
		for _, dd := range list.find("dd") {
			got = append(got, dd.text)
		}
	}
	if strings.Join(got, " ") != want {
		p.t.Errorf("rows are %v, want %s:\n%s", got, want, p.seen())
	}
	return p
}

// figure is a number as pages write it.
func figure(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func TestTheBankOfSomebodyElseComesInByTheBrowser(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Admin)
	bank := outsideBank(t)
	if len(bank.Customers) < 30 || len(bank.Transactions) < 250 {
		t.Fatalf("the outside bank has %d customers and %d transactions", len(bank.Customers), len(bank.Transactions))
	}
	path, p := b.checks("", sheetsOf(t, bank)...)
	p.is(http.StatusOK, "Windows-1252").sum(figure(rowsIn(bank)) + " 0 0 0")
	b.does(path).is(http.StatusOK, "Imported "+figure(rowsIn(bank))+" rows")
	if n := o.counted(); n[records.Customers] != len(bank.Customers) || n[records.Accounts] != len(bank.Accounts) || n[records.Transactions] != len(bank.Transactions) {
		t.Errorf("in the books are %v", n)
	}
}

// outsideBank is a bank that others wrote (tau2-bench, Sierra Research, MIT), in the words of ours. Its dates have no time of day.
func outsideBank(t testing.TB) (set records.Set) {
	t.Helper()
	text, err := os.ReadFile(testdb.Shared(t, "data", "tau2-banking", "db.json"))
	if err != nil {
		t.Fatal(err)
	}
	type rows struct{ Data map[string]map[string]any }
	var bank struct {
		Users        rows
		Accounts     rows
		Transactions rows `json:"bank_account_transaction_history"`
	}
	if err := json.Unmarshal(text, &bank); err != nil {
		t.Fatal(err)
	}
	says := func(row map[string]any, field string) string { text, _ := row[field].(string); return text }
	for id, u := range bank.Users.Data {
		set.Customers = append(set.Customers, records.Customer{ID: id, Name: says(u, "name"), Email: says(u, "email"), Phone: says(u, "phone_number")})
	}
	for id, a := range bank.Accounts.Data {
		if owner := says(a, "user_id"); bank.Users.Data[owner] != nil {
			set.Accounts = append(set.Accounts, records.Account{ID: id, CustomerID: owner, Number: id, Currency: "USD", Kind: says(a, "class")})
		}
	}
	for id, x := range bank.Transactions.Data {
		account := says(x, "account_id")
		minor, _ := strconv.ParseInt(strings.NewReplacer("-", "", ".", "").Replace(fmt.Sprintf("%.2f", x["amount"])), 10, 64)
		on, err := countersign.ParseWhen(regexp.MustCompile("^(..)/(..)/(....)$").ReplaceAllString(says(x, "date"), "$3-$1-$2"))
		if owner := says(bank.Accounts.Data[account], "user_id"); err == nil && minor != 0 && bank.Users.Data[owner] != nil {
			set.Transactions = append(set.Transactions, records.Transaction{ID: id, AccountID: account, Kind: records.Other, Direction: countersign.Debit, Currency: "USD",
				AmountMinor: minor, Status: records.Posted, OccurredAt: on, Memo: says(x, "description")})
		}
	}
	return set
}

const (
	someCustomers = "id,name,shoe_size\nC-1,Ada,44\n<b>C-2</b>,,\nC-3,\u202eadA \u0007,\n"
	someAccounts  = "id,customer_id,number,currency\nA-1,C-1,0123456789,NGN\nA-2,C-1,9876543210,ngn\nA-3,C-9,5555555555,NGN\n"
)

func TestRefusedRows(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	path, p := b.checks("", document{"accounts.csv", someAccounts}, document{"customers.csv", someCustomers})
	p.is(http.StatusOK, "Import 2 rows", "4 refused rows are left out", "ISO 4217 currency in capitals", "accounts.csv 3 accounts 2 A-2 currency ngn an ISO",
		"name missing a value: the column is required", "without control characters", "⟨U+202E⟩adA", "The column \"shoe_size\" of customers is not known and is left out").sum("2 0 0 4")
	if strings.Contains(p.text, "<b>C-2") {
		t.Error("an id became markup")
	}
	if q := p.parse().find("q", "class", "theirs"); len(q) == 0 || !slices.ContainsFunc(q, func(e *element) bool { return e.text == "<b>C-2</b>" }) {
		t.Errorf("an id is not shown as other people's text: %s", p.text)
	}
	results := b.get(path + "/results").is(http.StatusOK)
	if kind := results.header.Get("Content-Type"); kind != "text/csv; charset=utf-8" || !strings.HasPrefix(results.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("the results come as %s, %s", kind, results.header.Get("Content-Disposition"))
	}
	lines, err := csv.NewReader(strings.NewReader(results.text)).ReadAll()
	if err != nil || len(lines) != 5 || lines[1][0] != "accounts.csv" {
		t.Errorf("%v: %v", err, lines)
	}
	done := b.does(path).is(http.StatusOK, "Imported 2 rows", "4 refused rows were left out")
	if len(done.parse().find("a", "href", path+"/results")) == 0 {
		t.Error("what was refused cannot be had after the import")
	}
	if again := b.get(path + "/results"); again.text != results.text {
		t.Errorf("the import refused\n%s\nand the dry run\n%s", again.text, results.text)
	}
	for _, folder := range o.uploadFolders() {
		if files, _ := os.ReadDir(folder); slices.ContainsFunc(files, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".csv") }) {
			t.Errorf("files stay behind after their import: %v", files)
		}
	}

	t.Run("an empty text is not a missing one", func(t *testing.T) {
		_, p := b.checks("", document{"bank.json", `{"customers": [{"id": "C-7", "name": ""}, {"id": "C-8"}]}`})
		p.is(http.StatusOK, "C-7 name empty", "C-8 name missing")
	})
	t.Run("the page lists the first and counts all", func(t *testing.T) {
		_, p := b.checks("", document{"customers.csv", "id,name\n" + strings.Repeat("X-1,\n", 70)})
		p.is(http.StatusOK, "70 customers name expected a value: the column is required", "The first 50 of 70 things that are wrong", "Every row was refused")
		if rows := p.parse().find("table", "class", "refused")[0].find("tr"); len(rows) != 51 {
			t.Errorf("the page lists %d rows", len(rows)-1)
		}
	})
}

func TestFilesThatCannotBeRead(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	for name, c := range map[string]struct {
		file document
		says string
	}{
		"a quote that never closes": {document{"merchants.csv", "id,name\nM-1,Mart\nM-2,\""}, "merchants.csv: line 3"},
		"JSON that ends early":      {document{"bank.json", "{\"customers\": [\n{\"id\":"}, "bank.json: line 2"},
		"no text at all":            {document{"customers.csv", "PK\x03\x04 and so on"}, "customers.csv: the file is a spreadsheet or an archive, expected text. Export it as CSV, or unpack it first."},
		"nothing":                   {document{"customers.csv", ""}, "customers.csv: the file is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			before := o.counted()
			path, p := b.checks("", document{"accounts.csv", someAccounts}, c.file)
			p.is(http.StatusOK, "These files cannot be imported", c.says, "Nothing was stored. Mend what is wrong", "Choose files again")
			b.post(path+"/run", map[string][]string{"act": {"import"}})
			b.get(path).is(http.StatusOK, "These files cannot be imported")
			if after := o.counted(); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("%v became %v", before, after)
			}
			o.gone()
		})
	}
}

func TestAnImportThatIsStopped(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	const all = 6_000
	text := strings.Builder{}
	text.WriteString("id,name\n")
	for i := range all {
		fmt.Fprintf(&text, "C-%d,Ada\n", i)
	}
	path, p := b.checks("", document{"customers.csv", text.String()})
	b.post(path+"/run", p.form(path+"/run"))
	for stored := 0; stored == 0; stored = o.counted()[records.Customers] {
	}
	release := o.holdWrites()
	defer release()
	b.get(path).is(http.StatusOK, "Importing 1 file", "You can leave this page")
	b.get(path + "/results").is(http.StatusOK) // of the check
	b.post(path+"/cancel", nil).is(http.StatusSeeOther)
	release()
	p = b.settled(path)
	stored := o.counted()[records.Customers]
	if stored == 0 || stored == all {
		t.Fatalf("%d rows were stored before the stop", stored)
	}
	p.is(http.StatusOK, "Stopped: "+figure(stored)+" rows are stored", "goes on from there", "Import the rest")
	b.does(path).is(http.StatusOK, "Imported 6,000 rows", figure(stored)+" rows were stored before the import stopped", "count as unchanged here").
		sum(figure(all-stored) + " 0 " + figure(stored) + " 0")
	if n := o.counted()[records.Customers]; n != all {
		t.Errorf("%d rows are in the books", n)
	}
}

// holdWrites keeps everybody from writing to the database until it is released.
func (o *office) holdWrites() (release func()) {
	held, released := make(chan struct{}), make(chan struct{})
	go func() {
		_ = o.Store.Write(context.Background(), func(context.Context, *store.Tx) error {
			close(held)
			<-released
			return nil
		})
	}()
	<-held
	return sync.OnceFunc(func() { close(released) })
}

func TestTheImportPageSaysWhatIsExpected(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	p := b.get("/import").is(http.StatusOK, "id account_id kind direction amount_minor currency status occurred_at", "posted_at merchant_id counterparty_name")
	for _, array := range records.Arrays {
		href := "/templates/" + string(array) + ".csv"
		if len(p.parse().find("a", "href", href)) != 1 {
			t.Errorf("there is no link to %s", href)
		}
		if got, want := b.get(href).is(http.StatusOK).text, strings.Join(records.Columns(array), ",")+"\r\n"; got != want {
			t.Errorf("%s is %q, want %q", href, got, want)
		}
	}
	b.get("/templates/shoes.csv").is(http.StatusNotFound)
}
