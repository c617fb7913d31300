package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign"
	"countersign/auth"
	"countersign/store"
)

// perPage is how many cases a page of the queue lists.
const perPage = 50

// queueScreen is the queue, narrowed as the address says. Every number on it is what following it lists.
type queueScreen struct {
	Heading   string
	Tabs      []tab
	Selects   []choice
	Show      string // the tab, as the address names it
	Query     string
	Mine      bool
	Late      bool
	LateCount string
	Narrowed  bool
	Clear     string
	Capped    string
	Alarm     string // what will be lost by default unless somebody takes it
	Rows      []queueRow
	CanTake   bool
	News      string // where to ask whether this page is still what the queue says
	Here      string
	PerPage   int
	Later     bool // this is not the first page
	First     string
	Next      string

	Empty, EmptyHint string
	EmptyActs        []entry
}

// Searched is what was searched for, to be read.
func (p *queueScreen) Searched() string { return legible(p.Query) }

type tab struct {
	Title, Href, Count string
	Current            bool
}

// choice is one way to narrow the queue.
type choice struct {
	Title, Name string
	Options     []picked
}

type picked struct {
	Value, Title, Count string
	Current             bool
}

type queueRow struct {
	ID, Title, Why, Who, Standing string
	Amount                        amount
	Due                           due
}

// narrowing is what the address of the queue says.
type narrowing struct {
	show, desk, complaint, why, wants, q string
	mine, late                           bool
	after                                store.Place
}

// The tabs, by the word in the address.
const (
	waiting = ""
	raised  = "raised"
	allOpen = "open"
	closed  = "closed"
)

func queue(v *visit) error {
	n, err := readNarrowing(v.r.URL.Query())
	if err != nil {
		return err
	}
	ctx, f := v.r.Context(), n.filter(v)
	page, err := v.Store.Page(ctx, f)
	if err != nil {
		return err
	}
	tabs, err := v.Store.QueueCounts(ctx, n.beside(v))
	if err != nil {
		return err
	}
	if instead := n.elsewhere(page, tabs); instead != "" {
		return v.back(instead, "")
	}
	counts, err := v.Store.QueueCounts(ctx, f)
	if err != nil {
		return err
	}
	p := v.queueScreen(n, page, tabs, counts)
	if p.Rows, err = v.queueRows(ctx, page.Cases); err != nil {
		return err
	}
	if !n.narrowed() { // it counts all there is
		if p.Alarm, err = v.alarm(ctx); err != nil {
			return err
		}
	}
	s := screen{Title: p.Heading, Section: "Queue", Page: p}
	if len(p.Rows) == 0 && !n.narrowed() {
		s.Refresh = 5 // nobody's reading is disturbed
	}
	return v.show(http.StatusOK, "queue", s)
}

// elsewhere is the tab in which what is searched for lies, when it is not in the one that a search begins with.
func (n narrowing) elsewhere(page store.Page, tabs store.Counts) string {
	if n.q == "" || n.show != waiting || len(page.Cases) > 0 {
		return ""
	}
	switch {
	case tabs.Open > 0:
		n.show = allOpen
	case tabs.Status[countersign.Closed] > 0:
		n.show = closed
	default:
		return ""
	}
	return n.href()
}

// alarmed is how long before its deadline a case that nobody has taken is an alarm.
const alarmed = 48 * time.Hour

func (v *visit) alarm(ctx context.Context) (string, error) {
	n, err := v.Store.Unattended(ctx, v.now.Add(alarmed), v.now)
	return alarmText(n), err
}

func alarmText(n int) string {
	if n == 0 {
		return ""
	}
	return many(n, "case is", "cases are") + " due within 48 hours or overdue, and nobody has taken " + map[bool]string{true: "it", false: "them"}[n == 1] + "."
}

// queueNews says whether the queue has changed since a page of it was drawn, in a line that leads to what it says now. It does
// not change the page: nothing is pulled away under somebody who reads.
func queueNews(v *visit) error {
	query := v.r.URL.Query()
	n, err := readNarrowing(query)
	if err != nil {
		return err
	}
	tabs, err := v.Store.QueueCounts(v.r.Context(), n.beside(v))
	if err != nil {
		return err
	}
	news := newsLine{Href: n.href(), Waiting: many(tabs.ForPerson, "case needs a person", "cases need a person") + " now, " + many(tabs.Open, "is open", "are open")}
	if stampOf(tabs) == query.Get("stamp") {
		news = newsLine{}
	}
	return v.fragment("queue", "news", news)
}

type newsLine struct{ Href, Waiting string }

// stampOf is what the counts beside the queue were.
func stampOf(tabs store.Counts) string {
	return fmt.Sprintf("%d.%d.%d.%d", tabs.ForPerson, tabs.Raised, tabs.Open, tabs.Status[countersign.Closed])
}

func (n narrowing) news(tabs store.Counts) string {
	address := n.href()
	return "/queue/news?stamp=" + stampOf(tabs) + strings.Replace(strings.TrimPrefix(address, "/queue"), "?", "&", 1)
}

func (v *visit) queueScreen(n narrowing, page store.Page, tabs, counts store.Counts) *queueScreen {
	p := &queueScreen{Heading: map[string]string{waiting: "Needs a person", raised: "Raised to approvers", allOpen: "All open cases", closed: "Closed cases"}[n.show],
		Show: n.show, Query: n.q, Mine: n.mine, Late: n.late, CanTake: v.may(auth.Decide), Here: n.href(), PerPage: perPage,
		Narrowed: n.narrowed(), Later: n.after != store.Place{}, Tabs: n.tabs(tabs), Selects: v.selects(n, counts)}
	if late := counts.Due[store.Overdue]; late > 0 {
		p.LateCount = count(int64(late))
	}
	if page.Capped {
		p.Capped = "Many customers have that name; the first ones are looked through. Type more of it."
	}
	p.Clear, p.First, p.News = narrowing{show: n.show}.href(), n.from(store.Place{}), n.news(tabs)
	if page.Next != (store.Place{}) {
		p.Next = n.from(page.Next)
	}
	if len(page.Cases) == 0 {
		v.empty(p, n, tabs)
	}
	return p
}

// empty says why nothing is listed, and where to go from there.
func (v *visit) empty(p *queueScreen, n narrowing, tabs store.Counts) {
	switch {
	case n.narrowed():
		p.Empty, p.EmptyHint = "Nothing matches", "No case fits everything that was chosen above."
		for _, tab := range p.Tabs { // what is looked for may lie in another
			if !tab.Current && tab.Count != "" && tab.Count != "0" {
				p.EmptyActs = append(p.EmptyActs, entry{Title: tab.Title + ": " + tab.Count, Path: tab.Href})
			}
		}
		p.EmptyActs = append(p.EmptyActs, entry{Title: "Show all", Path: p.Clear})
	case tabs.Open == 0 && tabs.Status[countersign.Closed] == 0:
		p.Empty, p.EmptyHint = "No dispute yet", "At the bank's desk, import the bank's records and open the first dispute; at the shop's, connect the shop's database and open the first chargeback. Your systems can send both to the API."
		if v.may(auth.Import) {
			p.EmptyActs = append(p.EmptyActs, entry{Title: "Import records", Path: "/import"})
		}
		if v.may(auth.Manage) {
			p.EmptyActs = append(p.EmptyActs, entry{Title: "Connect a shop", Path: "/settings/shop"})
		}
		if v.may(auth.Open) {
			p.EmptyActs = append(p.EmptyActs, entry{Title: "Open a dispute", Path: "/open"}, entry{Title: "Open a chargeback", Path: "/open/chargeback"})
		}
	case n.show == waiting:
		p.Empty, p.EmptyHint = "Nothing waits for a person", fmt.Sprintf("%s being worked; what needs a person will appear here.", many(tabs.Open, "case is", "cases are"))
		p.EmptyActs = []entry{{Title: "All open cases", Path: "/queue?show=open"}, {Title: "Closed cases", Path: "/queue?show=closed"}}
	default:
		p.Empty, p.EmptyHint = "None", "There is no such case now."
		p.EmptyActs = []entry{{Title: "What needs a person", Path: "/queue"}}
	}
}

func (v *visit) queueRows(ctx context.Context, cases []countersign.Case) (rows []queueRow, err error) {
	var ids []countersign.CaseID
	for _, c := range cases {
		ids = append(ids, c.ID)
	}
	holders, err := v.Store.Holders(ctx, ids, v.now)
	if err != nil {
		return nil, err
	}
	names, err := v.Store.Names(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		rows = append(rows, queueRow{string(c.ID), matter(c), reasonsShort(c), v.whoHas(holders[c.ID], names), needs(c), money(c.Amount), v.due(c)})
	}
	return rows, nil
}

func reasonsShort(c countersign.Case) string {
	if c.Verdict == nil {
		return ""
	}
	var all []string
	for _, r := range telling(c.Verdict.Reasons) {
		all = append(all, reasonShort(r.Code))
	}
	return strings.Join(all, " · ")
}

// telling are the reasons that say something of this case: that a person decides every case of its desk is said only where nothing
// else is.
func telling(reasons []countersign.Reason) []countersign.Reason {
	if len(reasons) < 2 {
		return reasons
	}
	return slices.DeleteFunc(slices.Clone(reasons), func(r countersign.Reason) bool { return r.Code == countersign.PersonDecides })
}

func (v *visit) whoHas(c store.Claim, names map[string]string) string {
	switch {
	case c.PersonID == "":
		return ""
	case c.PersonID == v.who.PersonID:
		return "you"
	}
	return legible(names[c.PersonID])
}

// readNarrowing reads the address. A word that the queue does not have must not list everything.
func readNarrowing(query url.Values) (n narrowing, err error) {
	n = narrowing{show: query.Get("show"), desk: query.Get("desk"), complaint: query.Get("complaint"), why: query.Get("why"), wants: query.Get("wants"),
		q: strings.TrimSpace(query.Get("q")), mine: query.Get("mine") != "", late: query.Get("late") != ""}
	for _, word := range []struct {
		name, value string
		known       []string
	}{
		{"show", n.show, []string{raised, allOpen, closed}}, {"desk", n.desk, names(countersign.Bank, countersign.Merchant)},
		{"complaint", n.complaint, names(countersign.DisputeReasons...)}, {"why", n.why, names(countersign.ReasonOrder...)},
		{"wants", n.wants, recommendations},
	} {
		if word.value != "" && !slices.Contains(word.known, word.value) {
			return n, countersign.Errorf(countersign.Invalid, "%q is not one of %s", clip(word.value), strings.Join(word.known, ", ")).In(word.name)
		}
	}
	if len(n.q) > 200 || !utf8.ValidString(n.q) || strings.ContainsFunc(n.q, unicode.IsControl) {
		return n, countersign.Errorf(countersign.Invalid, "What is searched for has at most 200 bytes of text.")
	}
	if from := query.Get("after"); from != "" {
		risk, id, _ := strings.Cut(from, " ")
		n.after.ID = countersign.CaseID(id)
		if n.after.Risk, err = strconv.ParseInt(risk, 10, 64); err != nil || id == "" {
			return n, countersign.Errorf(countersign.Invalid, "is not where a page of the queue ended").In("after").Try("Go to the first page.")
		}
	}
	return n, nil
}

func names[T ~string](list ...T) (all []string) {
	for _, word := range list {
		all = append(all, string(word))
	}
	return all
}

// facets is the filter without its tab.
func (n narrowing) facets(v *visit) store.Filter {
	f := store.Filter{Desk: countersign.DeskName(n.desk), Complaint: countersign.DisputeReason(n.complaint), Reason: countersign.ReasonCode(n.why),
		Recommendation: n.wants, Query: n.q, Now: v.now, Limit: perPage}
	if n.mine {
		f.Holder = v.who.PersonID
	}
	if n.late {
		f.Due = store.Overdue
	}
	return f
}

func (n narrowing) filter(v *visit) store.Filter {
	f := n.facets(v)
	f.After = n.after
	switch n.show {
	case waiting:
		f.ForPerson = true
	case raised:
		f.Raised = true
	case allOpen:
		f.Open = true
	case closed:
		f.Status = countersign.Closed
	}
	return f
}

// beside is the filter that the tabs are counted by: all of them at once.
func (n narrowing) beside(v *visit) store.Filter { return n.facets(v) }

func (n narrowing) narrowed() bool {
	return n.desk != "" || n.complaint != "" || n.why != "" || n.wants != "" || n.q != "" || n.mine || n.late
}

func (n narrowing) tabs(c store.Counts) []tab {
	one := func(title, show string, count string) tab {
		to := n
		to.show, to.after = show, store.Place{}
		return tab{title, to.href(), count, n.show == show}
	}
	all := []tab{
		one("Needs a person", waiting, count(int64(c.ForPerson))), one("Raised to approvers", raised, count(int64(c.Raised))),
		one("All open", allOpen, count(int64(c.Open))),
	}
	if n.mine || n.late { // closed cases are nobody's and not due
		return all
	}
	return append(all, one("Closed", closed, atMost(c.Status)))
}

// atMost is how many are closed, which are not counted to their end, and beside some choices not at all.
func atMost(counts map[countersign.Status]int) string {
	n, counted := counts[countersign.Closed]
	switch {
	case !counted:
		return ""
	case n >= store.MostCounted:
		return count(store.MostCounted) + "+"
	}
	return count(int64(n))
}

// selects are the ways to narrow further, each with how many it would list.
func (v *visit) selects(n narrowing, c store.Counts) (all []choice) {
	if len(v.Desks) > 1 {
		all = append(all, choose("Desk", "desk", n.desk, "any", names(slices.Sorted(maps.Keys(v.Desks))...), tallied(c.Desk), plain[string]))
	}
	all = append(all, choose("Complaint", "complaint", n.complaint, "any", names(countersign.DisputeReasons...), tallied(c.Complaint), func(s string) string { return complaint(countersign.DisputeReason(s)) }))
	if n.show != closed {
		all = append(all, choose("Why a person", "why", n.why, "any", names(countersign.ReasonOrder...), tallied(c.Reason), func(s string) string { return reasonShort(countersign.ReasonCode(s)) }))
	}
	return append(all, choose("Recommended", "wants", n.wants, "any", recommendations, tallied(c.Recommendation), recommended))
}

// recommendations are those of both desks; manual review is the queue of chargebacks whose recommendation does not stand.
var recommendations = []string{"resolve", "reject", "escalate", "CONTEST", "ACCEPT", "MANUAL_REVIEW_REQUIRED"}

func recommended(word string) string {
	if word == "MANUAL_REVIEW_REQUIRED" {
		return "manual review"
	}
	return strings.ToLower(wants[word])
}

func tallied[K ~string](counts map[K]int) map[string]int {
	if counts == nil {
		return nil
	}
	all := map[string]int{}
	for k, n := range counts {
		all[string(k)] = n
	}
	return all
}

// choose offers the words that would list something, and the one that is chosen. Without counts all are offered.
func choose(title, name, current, any string, words []string, counts map[string]int, say func(string) string) choice {
	c := choice{Title: title, Name: name, Options: []picked{{Value: "", Title: any, Current: current == ""}}}
	for _, word := range words {
		n, counted := counts[word]
		if counts != nil && !counted && word != current {
			continue
		}
		o := picked{Value: word, Title: say(word), Current: word == current}
		if counts != nil {
			o.Count = count(int64(n))
		}
		c.Options = append(c.Options, o)
	}
	return c
}

// href is the address of the first page of a narrowed queue.
func (n narrowing) href() string { return n.from(store.Place{}) }

func (n narrowing) from(place store.Place) string {
	q := url.Values{}
	for name, value := range map[string]string{"show": n.show, "desk": n.desk, "complaint": n.complaint, "why": n.why, "wants": n.wants, "q": n.q} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if n.mine {
		q.Set("mine", "yes")
	}
	if n.late {
		q.Set("late", "yes")
	}
	if place != (store.Place{}) {
		q.Set("after", fmt.Sprintf("%d %s", place.Risk, place.ID))
	}
	if len(q) == 0 {
		return "/queue"
	}
	return "/queue?" + q.Encode()
}

// takeNext claims the case most at risk that nobody has, of those that the queue listed, and opens it.
func takeNext(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	back := ours(v.form("back"))
	n := narrowing{}
	if u, err := url.Parse(back); err == nil {
		if n, err = readNarrowing(u.Query()); err != nil {
			return err
		}
	}
	n.mine, n.after = false, store.Place{}
	f := n.filter(v)
	if n.show == closed {
		f = narrowing{}.filter(v)
	}
	f.Unraised = f.Unraised || v.who.Role == auth.Analyst // what was raised waits for an approver
	var id countersign.CaseID
	var ok bool
	err := v.Store.Write(v.r.Context(), func(ctx context.Context, tx *store.Tx) (err error) {
		id, ok, err = tx.TakeNext(ctx, v.who.PersonID, f, tx.Now.Add(claimTime))
		return err
	})
	switch {
	case err != nil:
		return err
	case !ok:
		return v.back(back, "There is no case to take: every case that waits for a person is before somebody.")
	}
	return v.back("/cases/"+string(id), "You have this case: others see it.")
}
