package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"

	"countersign"
	"countersign/app"
	"countersign/auth"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
	"countersign/store"
)

// office is the whole program on a database: dashboard and API over real HTTP, workers, and somebody of every role. Nothing is
// automatic in it, so that every case whose records are clear waits for a person with a fix that can be posted.
type office struct {
	*app.App
	t      testing.TB
	server *httptest.Server
	people map[auth.Role]store.Person
	tokens map[auth.Role]string
	spare  string       // the id of a token that nobody uses
	ahead  atomic.Int64 // how far its clock is ahead of ours
	log    journal
}

var operator = countersign.Actor{Kind: countersign.CLI, ID: "ada"}

// newOffice opens one, on an SQLite database of its own if the changes to its configuration name none.
func newOffice(t testing.TB, change ...func(*app.Config)) *office {
	t.Helper()
	o := emptyOffice(t, change...)
	o.mode(policy.Shadow)
	for _, role := range auth.Roles {
		o.people[role] = o.person(string(role), role)
		secret, _, err := auth.NewToken(t.Context(), o.Store, "token of "+string(role), role, operator)
		o.must(err)
		o.tokens[role] = secret
	}
	_, spare, err := auth.NewToken(t.Context(), o.Store, "spare", auth.Auditor, operator)
	o.must(err)
	o.spare = spare.ID
	return o
}

// emptyOffice is one that nobody has come to yet, as on the first day.
func emptyOffice(t testing.TB, change ...func(*app.Config)) *office {
	t.Helper()
	o := &office{t: t, people: map[auth.Role]store.Person{}, tokens: map[auth.Role]string{}}
	o.open(change...)
	o.server = httptest.NewServer(o.Handler())
	t.Cleanup(o.server.Close)
	return o
}

// open opens the program and sets it to work.
func (o *office) open(change ...func(*app.Config)) {
	o.t.Helper()
	config := app.Config{Data: o.t.TempDir(), Work: true, Version: "test", Grace: time.Millisecond, Now: o.now,
		Log: slog.New(slog.NewTextHandler(&o.log, nil))}
	for _, f := range change {
		f(&config)
	}
	var err error
	o.App, err = app.Open(o.t.Context(), config)
	o.must(err)
	o.t.Cleanup(func() { _ = o.App.Close() })
	o.must(o.Start(context.WithoutCancel(o.t.Context())))
}

func on(database string) func(*app.Config) { return func(c *app.Config) { c.Database = database } }

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// run is a part of a test, whose failures are its own.
func (o *office) run(t *testing.T, sentence string, f func(*testing.T)) {
	t.Run(sentence, func(t *testing.T) {
		whole := o.t
		o.t = t
		defer func() { o.t = whole }()
		f(t)
	})
}

func (o *office) now() time.Time         { return time.Now().Add(time.Duration(o.ahead.Load())) }
func (o *office) later(by time.Duration) { o.ahead.Add(int64(by)) }
func (o *office) write(f func(context.Context, *store.Tx) error) {
	o.t.Helper()
	o.must(o.Store.Write(o.t.Context(), f))
}

// claimed gives a case to somebody.
func claimed(id countersign.CaseID, p store.Person) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Claim(ctx, id, p.ID, tx.Now.Add(time.Hour))
		return err
	}
}

// mode applies the limits as they come, in that mode.
func (o *office) mode(m policy.Mode) {
	o.t.Helper()
	limits := policy.Default()
	limits.Mode = m
	o.write(func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, limits, operator) })
}

// person adds somebody, who comes in by links: a password costs a tenth of a second each time.
func (o *office) person(name string, role auth.Role) store.Person {
	o.t.Helper()
	p, err := auth.AddPerson(o.t.Context(), o.Store, auth.NewPerson{Email: name + "@bank.example", Name: strings.ToUpper(name[:1]) + name[1:] + " Obi", Role: role}, operator)
	o.must(err)
	return p
}

// failedTransfer is what the books hold of a customer's transfer that failed for good: what a reversal needs and nothing else.
func failedTransfer(id string, at time.Time) records.Set {
	trusted := true
	at = at.UTC().Truncate(time.Second).Add(-50 * time.Hour)
	return records.Set{
		Customers: []records.Customer{{ID: "C-" + id, Name: "Adaeze Okafor", HomeCity: "Lagos", HomeCountry: "NG", JoinedAt: countersign.At(at.AddDate(-3, 0, 0))}},
		Accounts:  []records.Account{{ID: "A-" + id, CustomerID: "C-" + id, Number: "0123456789", Currency: "NGN", Kind: "savings", Status: "active"}},
		Devices: []records.Device{{ID: "P-" + id, CustomerID: "C-" + id, Label: "Android phone", City: "Lagos", Country: "NG", Trusted: &trusted,
			FirstSeenAt: countersign.At(at.AddDate(-1, 0, 0)), LastSeenAt: countersign.At(at)}},
		Transactions: []records.Transaction{{ID: id, AccountID: "A-" + id, Kind: records.Transfer, Direction: countersign.Debit, AmountMinor: 24_500_00, Currency: "NGN",
			Status: records.Posted, OccurredAt: countersign.At(at), PostedAt: countersign.At(at), CounterpartyName: "Alhaji Raheem Sanusi", CounterpartyAccount: "9876543210",
			EndToEndID: "E2E-" + id, Channel: "mobile_app", DeviceID: "P-" + id, City: "Lagos", Country: "NG", Memo: "rent balance"}},
		LedgerEntries: []records.LedgerEntry{{ID: "LE-" + id, TransactionID: id, AccountID: "A-" + id, Direction: countersign.Debit, AmountMinor: 24_500_00,
			Currency: "NGN", Kind: records.Original, PostedAt: countersign.At(at)}},
		Settlements: []records.Settlement{{TransactionID: id, Status: records.SettlementFailed, Final: true, Rail: "NIP", FailureReason: "beneficiary bank not available",
			UpdatedAt: countersign.At(at.Add(time.Minute))}},
	}
}

// load brings rows into the books.
func (o *office) load(set records.Set) {
	o.t.Helper()
	_, err := feed.Feed{Store: o.Store, Refused: func(p records.Problem) { o.t.Error(p) }}.Set(o.t.Context(), set)
	o.must(err)
}

// dispute opens a case about a transfer of its own that failed, as an analyst would.
func (o *office) dispute(id string, change ...func(*records.Set)) countersign.Case {
	o.t.Helper()
	set := failedTransfer(id, o.now())
	for _, f := range change {
		f(&set)
	}
	o.load(set)
	return o.complain(intake.Request{SubjectID: id, Reason: countersign.FailedTransfer, Notes: "I sent it on Saturday and it never arrived.", Channel: "whatsapp"})
}

func (o *office) complain(r intake.Request) countersign.Case {
	o.t.Helper()
	opened, err := o.Intake.Open(o.t.Context(), o.Desks[countersign.Bank].Desk, operator, r)
	o.must(err)
	return opened.Case
}

// inReview is such a case once its investigation has ended, with a person.
func (o *office) inReview(id string, change ...func(*records.Set)) countersign.Case {
	o.t.Helper()
	return o.worked(o.dispute(id, change...))
}

func (o *office) worked(c countersign.Case) countersign.Case {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	c, err := o.Wait(ctx, c.ID)
	o.must(err)
	if c.Status != countersign.InReview {
		o.t.Fatalf("case %s is %s", c.ID, c.Status)
	}
	return c
}

// patience is how long a test waits for what takes a moment, on a machine that does much else.
const patience = 2 * time.Minute

func (o *office) latest(id countersign.CaseID) countersign.Case {
	o.t.Helper()
	c, err := o.Store.Case(o.t.Context(), id)
	o.must(err)
	return c
}

// verified fails the test unless every record of the database is whole.
func (o *office) verified() {
	o.t.Helper()
	report, err := o.Store.VerifyRecord(o.t.Context(), nil)
	o.must(err)
	if !report.OK {
		o.t.Errorf("the record is broken: %+v", report.Breaks)
	}
}

// kinds are the rows of a case's record, in order.
func (o *office) kinds(id countersign.CaseID) (all []string) {
	o.t.Helper()
	for row, err := range o.Store.RecordRows(o.t.Context(), id, 0) {
		o.must(err)
		all = append(all, string(row.Kind))
	}
	return all
}

// everything is all that the database holds and that people can change, row by row: what may differ after a request that
// changed nothing is only how long a session lasts.
func (o *office) everything() string {
	o.t.Helper()
	var b strings.Builder
	for _, table := range o.tables() {
		fmt.Fprintf(&b, "%s\n", table)
		rows, err := o.Store.DB().QueryContext(o.t.Context(), "SELECT * FROM "+table+" ORDER BY 1, 2")
		o.must(err)
		columns, err := rows.Columns()
		o.must(err)
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			o.must(rows.Scan(into...))
			fmt.Fprintf(&b, "%v\n", values)
		}
		o.must(errors.Join(rows.Err(), rows.Close()))
	}
	return b.String()
}

func (o *office) tables() (names []string) {
	o.t.Helper()
	rows, err := o.Store.DB().QueryContext(o.t.Context(), "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'river%' AND name NOT LIKE 'sqlite%' AND name <> 'sessions' ORDER BY name")
	o.must(err)
	for rows.Next() {
		var name string
		o.must(rows.Scan(&name))
		names = append(names, name)
	}
	o.must(errors.Join(rows.Err(), rows.Close()))
	return names
}

// browser is one that somebody sits at. It keeps cookies, sends with a form what browsers send, and goes nowhere by itself.
type browser struct {
	*office
	client *http.Client
	site   string // Sec-Fetch-Site of what it posts
	bearer string // of a program's token, sent with everything
}

func (o *office) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{office: o, site: "same-origin", client: &http.Client{Jar: jar, Transport: o.server.Client().Transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (o *office) url(path string) *url.URL {
	o.t.Helper()
	u, err := url.Parse(o.server.URL + path)
	o.must(err)
	return u
}

// fixed is a jar of cookies that nothing is added to.
type fixed []*http.Cookie

func (f fixed) Cookies(*url.URL) []*http.Cookie   { return f }
func (fixed) SetCookies(*url.URL, []*http.Cookie) {}

// as is a browser in which the person of that role has signed in.
func (o *office) as(role auth.Role) *browser {
	o.t.Helper()
	return o.signedIn(o.people[role])
}

func (o *office) signedIn(p store.Person) *browser {
	o.t.Helper()
	b := o.browser()
	link, err := auth.MakeLink(o.t.Context(), o.Store, p.ID, auth.SignInLink, time.Hour, operator)
	o.must(err)
	if page := b.post("/link/"+link, nil); page.status != http.StatusSeeOther {
		o.t.Fatalf("%s cannot sign in: %d %s", p.Name, page.status, page.text)
	}
	b.get("/keys") // which shows the greeting, so that no later page does
	return b
}

// page is an answer.
type page struct {
	t      testing.TB
	status int
	header http.Header
	text   string
}

func (b *browser) get(path string) page { b.t.Helper(); return b.send("GET", path, nil, nil) }

func (b *browser) post(path string, form url.Values) page {
	b.t.Helper()
	return b.send("POST", path, form, http.Header{"Sec-Fetch-Site": {b.site}, "Origin": {b.server.URL}})
}

// follow is the page that an answer leads to.
func (b *browser) follow(p page) page {
	b.t.Helper()
	if p.status != http.StatusSeeOther {
		b.t.Fatalf("the answer leads nowhere: %d %s", p.status, p.text)
	}
	return b.get(p.leads())
}

func (b *browser) send(method, path string, form url.Values, header http.Header) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.server.URL+path, strings.NewReader(form.Encode()))
	b.must(err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if b.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+b.bearer)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := b.client.Do(req)
	b.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	b.must(err)
	return page{b.t, res.StatusCode, res.Header, string(text)}
}

// document is a file as a browser sends it.
type document struct{ name, content string }

// uploads sends files as a page's form does, with its other fields: name, value, name, value, …
func (b *browser) uploads(path string, files []document, fields ...string) page {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		b.must(form.WriteField(fields[i], fields[i+1]))
	}
	for _, f := range files {
		part, err := form.CreateFormFile("files", f.name)
		b.must(err)
		_, err = io.WriteString(part, f.content)
		b.must(err)
	}
	b.must(form.Close())
	return b.sendTo(path, form.FormDataContentType(), &body)
}

func (b *browser) sendTo(path, kind string, body io.Reader) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "POST", b.server.URL+path, body)
	b.must(err)
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Sec-Fetch-Site", b.site)
	res, err := b.client.Do(req)
	b.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	b.must(err)
	return page{b.t, res.StatusCode, res.Header, string(text)}
}

// is fails the test unless the answer has that status and says all of that.
func (p page) is(status int, says ...string) page {
	p.t.Helper()
	seen := p.seen()
	for _, text := range says {
		if !strings.Contains(seen, text) {
			p.t.Errorf("the page does not say %q:\n%.3000s", text, seen)
		}
	}
	if p.status != status {
		p.t.Errorf("the answer is %d, want %d:\n%.1000s", p.status, status, seen)
	}
	return p
}

// leads is where a browser goes from there, empty when it stays.
func (p page) leads() string { return p.header.Get("Location") }

// element is one element of a page with what is in it.
type element struct {
	name  string
	attrs map[string]string
	text  string // all text in it
	all   []*element
}

// parse reads the page as a browser without script does.
func (p page) parse() *element {
	p.t.Helper()
	doc, err := html.ParseWithOptions(strings.NewReader(strings.ToValidUTF8(p.text, "\uFFFD")), html.ParseOptionEnableScripting(false))
	if err != nil {
		p.t.Fatalf("the page cannot be read: %v", err)
	}
	return elementOf(doc)
}

func elementOf(n *html.Node) *element {
	e := &element{name: n.Data, attrs: map[string]string{}}
	for _, a := range n.Attr {
		e.attrs[a.Key] = a.Val
	}
	for child := range n.ChildNodes() {
		switch child.Type {
		case html.TextNode:
			e.text += child.Data
		case html.ElementNode:
			inner := elementOf(child)
			e.text += inner.text
			if e.all = append(append(e.all, inner), inner.all...); slices.Contains(blocks, inner.name) {
				e.text += " "
			}
		}
	}
	return e
}

// blocks are elements whose text does not run on into what follows.
var blocks = strings.Fields("a button dd dt div fieldset figcaption h1 h2 h3 label legend li option p summary td textarea th title")

// find lists the elements of that name whose attributes are those: find("input", "name", "revision").
func (e *element) find(name string, attrs ...string) (found []*element) {
	for _, one := range e.all {
		fits := one.name == name
		for pair := range slices.Chunk(attrs, 2) {
			fits = fits && one.attrs[pair[0]] == pair[1]
		}
		if fits {
			found = append(found, one)
		}
	}
	return found
}

// seen is what a person can read on the page.
func (p page) seen() string {
	if !strings.HasPrefix(p.header.Get("Content-Type"), "text/html") {
		return p.text
	}
	return strings.Join(strings.Fields(p.parse().text), " ")
}

// form is what the page's form to that address sends when nobody touches it.
func (p page) form(action string) url.Values {
	p.t.Helper()
	forms := p.parse().find("form", "action", action)
	if len(forms) == 0 {
		p.t.Fatalf("there is no form to %s:\n%s", action, p.seen())
	}
	values := url.Values{}
	for _, e := range forms[0].all {
		name, typed := e.attrs["name"], e.attrs["value"]
		_, checked := e.attrs["checked"]
		switch {
		case name == "" || e.name == "button" || (e.attrs["type"] == "radio" || e.attrs["type"] == "checkbox") && !checked:
		case e.name == "textarea":
			values.Set(name, e.text)
		case e.name == "input":
			values.Set(name, typed)
		}
	}
	return values
}

// with is the form with what somebody entered: with(form, "reason", "he said so").
func with(form url.Values, entered ...string) url.Values {
	for pair := range slices.Chunk(entered, 2) {
		form.Set(pair[0], pair[1])
	}
	return form
}

// journal is a log that may be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
