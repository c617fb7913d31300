package web

import (
	"fmt"
	"slices"
	"strings"

	"countersign"
	"countersign/desk"
)

// factsPanel is what code read in the records: never the model's.
type factsPanel struct {
	Groups     []factGroup
	Supports   string // which fix the facts justify by themselves, in a sentence
	Unreadable string
	Tables     []rowTable // the rows that the facts were read from, as they are now
	None       bool       // the records were not read yet
	Stale      string     // that the facts are of records that have changed since
}

type factGroup struct {
	Title string
	Aside bool   // it bears on another complaint than this one
	Clear string // a sentence in place of the facts, when each of them stands as a fix needs it
	Facts []factLine
}

// factLine is one fact. Mark says in one word and glyph whether it stands as a fix would need it.
type factLine struct {
	Name, Title, State, Value string
	Now                       string // what it is by now, when that is something else
	Mark                      mark
	Sources                   []source
}

type mark struct{ Glyph, Words, Class string }

var (
	fits      = mark{"✓", "as a fix needs it", "good"}
	disagrees = mark{"≠", "speaks against a fix", "bad"}

	looks       = mark{"!", "a person must look", "warn"}
	contradicts = mark{"≠", "speaks against what is proposed", "bad"}
	warns       = mark{"!", "a sign of fraud", "warn"}
	open        = mark{"?", "not known", "warn"}
	neutral     = mark{"·", "read", "none"}
	moved       = mark{"!", "has changed since", "warn"}
)

type source struct{ Text, Href string }

func (v *visit) facts(f *file) factsPanel {
	p := factsPanel{Tables: v.tables(f), None: f.Facts == nil, Unreadable: f.unreadable}
	if f.Facts == nil {
		return p
	}
	if f.Facts.Unreadable != "" {
		p.Unreadable = "The records could not be read: " + f.Facts.Unreadable
	}
	if f.desk.Acts() {
		p.Supports = supports(f)
	}
	if f.stale {
		p.Supports, p.Stale = "", f.whatMoved()+" changed since. What is listed first is what was read when this case was investigated; what has changed has beside it what it is now."
	}
	left := slices.Concat(f.Facts.Items, f.arrived())
	for _, group := range f.desk.FactGroups {
		shown := factGroup{Title: group.Title, Aside: f.beside(group.About)}
		for _, title := range group.Facts {
			i := slices.IndexFunc(left, func(fact countersign.Fact) bool { return fact.Name == title.Name })
			if i >= 0 {
				shown.Facts = append(shown.Facts, v.fact(f, left[i], title.Title))
				left = slices.Delete(left, i, i+1)
			}
		}
		if group.Clear != "" && !slices.ContainsFunc(shown.Facts, func(l factLine) bool { return l.Mark != fits }) {
			shown.Clear = fmt.Sprintf(group.Clear, len(shown.Facts))
		}
		if len(shown.Facts) > 0 {
			p.Groups = append(p.Groups, shown)
		}
	}
	if len(left) > 0 {
		p.Groups = append(p.Groups, v.others(f, left))
	}
	slices.SortStableFunc(p.Groups, func(a, b factGroup) int { return rank(a) - rank(b) })
	return p
}

// rank puts first what somebody has to look at, and last what bears on another complaint.
func rank(g factGroup) int {
	switch {
	case g.Aside:
		return 2
	case slices.ContainsFunc(g.Facts, func(l factLine) bool {
		return l.Mark == moved || l.Mark == disagrees || l.Mark == contradicts || l.Mark == warns || l.Mark == open
	}):
		return 0
	}
	return 1
}

// others are facts that the desk has no names for: those of an earlier version.
func (v *visit) others(f *file, facts []countersign.Fact) factGroup {
	g := factGroup{Title: "Also read"}
	for _, fact := range facts {
		g.Facts = append(g.Facts, v.fact(f, fact, capital(plain(fact.Name))))
	}
	return g
}

// beside reports whether facts about that complaint bear on something else than what was complained of, proposed or supported.
func (f *file) beside(about countersign.DisputeReason) bool {
	if about == "" || about == f.Reason || about == f.Facts.Supports {
		return false
	}
	return f.Proposal == nil || about != f.Proposal.Category
}

func supports(f *file) string {
	if fix := f.Facts.Fix; fix != nil {
		return "By themselves the records support one fix: a " + string(fix.Kind) + " of " + fix.Amount.String() + "."
	}
	return "By themselves the records support no fix."
}

func (v *visit) fact(f *file, fact countersign.Fact, title string) factLine {
	line := factLine{Name: fact.Name, Title: title, Mark: f.mark(fact), Sources: f.sources(fact.Source)}
	line.State, line.Value = v.stated(fact)
	if now, other := f.byNow(fact); other {
		state, value := v.stated(now)
		line.Now, line.Mark = joined(state, value), moved
	}
	return line
}

// stated is a fact in words; a value that says nothing more than its state is left out.
func (v *visit) stated(fact countersign.Fact) (state, value string) {
	if fact.State == "" {
		return "not there", ""
	}
	state, value = stateWords[fact.State], v.readable(fact.Value)
	if value == state {
		return state, ""
	}
	return state, value
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// byNow is what a fact is now, and whether that is something else than it was. One that is not there has no state.
func (f *file) byNow(was countersign.Fact) (now countersign.Fact, other bool) {
	if f.now.Seen == "" {
		return was, false
	}
	now = countersign.Fact{Name: was.Name}
	if i := slices.IndexFunc(f.now.Items, func(fact countersign.Fact) bool { return fact.Name == was.Name }); i >= 0 {
		now = f.now.Items[i]
	}
	return now, now.State != was.State || now.Value != was.Value
}

// arrived are the facts that were not there when the case was judged, as they were then.
func (f *file) arrived() (all []countersign.Fact) {
	for _, now := range f.now.Items {
		if !slices.ContainsFunc(f.Facts.Items, func(was countersign.Fact) bool { return was.Name == now.Name }) {
			all = append(all, countersign.Fact{Name: now.Name})
		}
	}
	return all
}

// whatMoved says, as the beginning of a sentence, what is not any more as it was judged: the rows, or only what is judged beside them,
// such as a deadline that passed or was edited.
func (f *file) whatMoved() string {
	if f.Facts != nil && f.Facts.Rows != "" && f.Facts.Rows == f.now.Rows {
		return "The facts have"
	}
	return "The records have"
}

var stateWords = map[countersign.FactState]string{countersign.Present: "yes", countersign.Absent: "no", countersign.Unknown: "not known"}

// mark judges nothing: it shows which facts the rules found a doubt in. Facts that were established before doubts named their
// fact get no mark at all.
func (f *file) mark(fact countersign.Fact) mark {
	named := len(f.Facts.Doubts) == 0
	worst := fits
	for _, d := range f.Facts.Doubts {
		named = named || d.Fact != ""
		if d.Fact == fact.Name && (d.Against == "" || !f.beside(d.Against)) && f.wanted(d) {
			worst = f.doubtMark(d.Reason.Code)
		}
	}
	switch {
	case f.stale: // what spoke for a fix then may speak against it now
		return neutral
	case fact.State == countersign.Unknown:
		return open
	case !named, worst == fits && !f.desk.Acts():
		return neutral
	}
	return worst
}

// wanted reports whether a doubt speaks against what the model wanted, or against everything.
func (f *file) wanted(d countersign.Doubt) bool {
	return d.Wanting == "" || f.Proposal != nil && d.Wanting == f.Proposal.Recommendation
}

func (f *file) doubtMark(code countersign.ReasonCode) mark {
	switch {
	case f.desk.Acts():
	case code == countersign.FactsDisagree:
		return contradicts
	case code != countersign.FactsUnknown && code != countersign.RefundContradictsContest && code != countersign.NoRefundContradictsAccept:
		return looks
	}
	switch code {
	case countersign.FactsDisagree:
		return disagrees
	case countersign.RefundContradictsContest, countersign.NoRefundContradictsAccept:
		return contradicts
	case countersign.FraudSuspected:
		return warns
	}
	return open
}

// readable is a value with the instants in it as the reader's clock shows them.
func (v *visit) readable(value string) string {
	fields := strings.Fields(value)
	for i, field := range fields {
		if w, err := countersign.ParseWhen(field); err == nil && !w.IsZero() {
			fields[i] = v.when(w).Text
		}
	}
	return strings.Join(fields, " ")
}

// sources turns "ledger_entries LE-1, LE-2" into one link for each row that is on the page.
func (f *file) sources(from string) (all []source) {
	for _, table := range f.display.Tables {
		for _, begin := range table.Cited {
			ids, ok := strings.CutPrefix(from, begin+" ")
			if !ok {
				continue
			}
			for id := range strings.SplitSeq(ids, ", ") {
				all = append(all, source{id, f.rowHref(table, id)})
			}
			return all
		}
	}
	if from == "" {
		return nil
	}
	return []source{{Text: from}}
}

func (f *file) rowHref(table desk.Table, id string) string {
	if slices.ContainsFunc(table.Rows, func(r desk.Row) bool { return r.ID == id }) {
		return fragment(rowID(table.Name, id))
	}
	return ""
}

// rowID is a row's place on the page. Ids are opaque text from somebody's file; a browser takes any character but a blank.
func rowID(table, id string) string {
	return "row-" + table + "-" + strings.Join(strings.Fields(id), "_")
}

type rowTable struct {
	Title   string
	Columns []column
	Rows    []tableRow
}

type column struct {
	Title   string
	Numbers bool
}

type tableRow struct {
	ID    string
	Mine  bool
	Cells []cell
}

func (v *visit) tables(f *file) (all []rowTable) {
	for _, t := range f.display.Tables {
		shown := rowTable{Title: t.Title}
		for _, title := range t.Columns {
			shown.Columns = append(shown.Columns, column{Title: title})
		}
		for _, r := range t.Rows {
			row := tableRow{ID: rowID(t.Name, r.ID), Mine: r.Mine}
			for i, c := range r.Cells {
				shownCell := v.cell(c)
				row.Cells = append(row.Cells, shownCell)
				shown.Columns[i].Numbers = shown.Columns[i].Numbers || shownCell.Numbers
			}
			shown.Rows = append(shown.Rows, row)
		}
		shown.line()
		all = append(all, shown)
	}
	return all
}

// line lets every cell of a column of numbers stand where numbers do.
func (t rowTable) line() {
	for _, row := range t.Rows {
		for i := range row.Cells {
			row.Cells[i].Numbers = t.Columns[i].Numbers
		}
	}
}
