package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"countersign"
	"countersign/desk/bank/records"
)

// importScreen is where files are chosen, beside what they have to hold.
type importScreen struct {
	Mine   []uploadLine
	Arrays []arrayHelp
	Array  string // what was chosen for CSV files whose names do not say
	Most   string
	Wrong  string
}

// uploadLine is an upload of the reader's own, for finding it again.
type uploadLine struct {
	Href, Files, Stands string
	Since               moment
}

// arrayHelp is what a file of one array has to hold.
type arrayHelp struct {
	Name, Title, About string
	Required, Optional []string
}

// ofArray says what the rows of each array are, and what one is called.
var ofArray = map[records.Array]struct{ one, about string }{
	records.Customers:     {"customer", "whom the bank knows"},
	records.Accounts:      {"account", "the customers' accounts"},
	records.Merchants:     {"merchant", "whom customers pay by card"},
	records.Devices:       {"device", "phones and computers that customers pay from"},
	records.Transactions:  {"transaction", "payments: what customers dispute"},
	records.LedgerEntries: {"ledger entry", "what was posted to an account for a transaction, and given back"},
	records.Settlements:   {"settlement", "what the payment network says became of a transaction"},
}

func importForm(v *visit) error { return v.showImport(http.StatusOK, "", "") }

func (v *visit) showImport(status int, array, wrong string) error {
	p := importScreen{Mine: v.ownUploads(), Array: array, Most: size(mostUpload), Wrong: wrong}
	for _, a := range records.Arrays {
		p.Arrays = append(p.Arrays, helpFor(a))
	}
	return v.show(status, "import", screen{Title: "Import records", Section: "Import", Page: p})
}

func helpFor(a records.Array) arrayHelp {
	h := arrayHelp{Name: string(a), Title: capital(plain(a)), About: ofArray[a].about, Required: records.Required(a)}
	h.Optional = slices.DeleteFunc(records.Columns(a), func(column string) bool { return slices.Contains(h.Required, column) })
	return h
}

// ownUploads are the reader's uploads that there is still something to see of, the latest first.
func (v *visit) ownUploads() (lines []uploadLine) {
	for _, t := range v.tasks.of(v.who.Actor.ID) {
		u, ok := t.progress(v.now).Result.(*upload)
		if !ok {
			continue
		}
		now := u.look()
		if words := stands[now.phase]; words != "" {
			lines = append(lines, uploadLine{"/import/" + t.ID, now.names(), words, v.moment(t.Began)})
		}
	}
	return lines
}

// stands says in a few words how far an upload is. Those that nothing can be seen of have none.
var stands = map[phase]string{
	checking:  "being checked",
	unclear:   "waits to hear what it holds",
	checked:   "checked, not imported",
	unchecked: "could not be checked",
	importing: "being imported",
	halted:    "imported in part",
	imported:  "imported",
}

// of lists a person's tasks, the latest first.
func (ts *tasks) of(owner string) (own []*task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.all {
		if t.Owner == owner {
			own = append(own, t)
		}
	}
	slices.SortFunc(own, func(a, b *task) int {
		if later := b.Began.Compare(a.Began); later != 0 {
			return later
		}
		return strings.Compare(a.ID, b.ID)
	})
	return own
}

// importTemplate is an empty CSV file of one array: the line with the names of its columns, for a spreadsheet to begin with.
func importTemplate(v *visit) error {
	name := v.r.PathValue("file")
	array := records.Array(strings.TrimSuffix(name, ".csv"))
	if !slices.Contains(records.Arrays, array) {
		return countersign.Errorf(countersign.NotFound, "There is no empty file of that name.").Try("The page that imports records lists them.")
	}
	v.attach("text/csv; charset=utf-8", string(array)+".csv")
	_, _ = fmt.Fprintf(v.w, "%s\r\n", strings.Join(records.Columns(array), ",")) // nobody is left to tell
	return nil
}

// attach says that the answer is a file to keep.
func (v *visit) attach(kind, name string) {
	v.w.Header().Set("Content-Type", kind)
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// size is a limit on bytes in words.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return many(int(n), "byte", "bytes")
	case n < 1<<20:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
