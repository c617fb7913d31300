package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/llm/chain"
	"countersign/pipeline"
	"countersign/pipeline/budget"
	"countersign/pipeline/policy"
	"countersign/store"
)

// TestScenarios plays the cases in testdata; the README there says how one is written. A new PostgreSQL database takes far
// longer than a case, so only those are played there in which people or other programs come in between.
func TestScenarios(t *testing.T) {
	t.Parallel()
	all := scenarios(t)
	t.Run("sqlite", func(t *testing.T) {
		for name, archive := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				play(t, testdb.SQLite(t), archive)
			})
		}
	})
	t.Run("postgres", func(t *testing.T) {
		for name, archive := range all {
			if !slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "people" || f.Name == "meanwhile.json" }) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				play(t, testdb.Postgres(t), archive)
			})
		}
	})
}

// scenarios reads every file in testdata, by its name.
func scenarios(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d scenarios found in testdata, expected all of them: %v", len(files), err)
	}
	all := map[string]*txtar.Archive{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".txtar")] = archive
	}
	return all
}

// TestEveryReasonHasAScenario: whatever reason the bank's desk can give is shown by a case that somebody can read.
func TestEveryReasonHasAScenario(t *testing.T) {
	shown := map[countersign.ReasonCode]bool{}
	for _, archive := range scenarios(t) {
		for _, section := range archive.Files {
			for _, w := range readWant(string(section.Data)) {
				for code := range strings.SplitSeq(w.value, ", ") {
					shown[countersign.ReasonCode(code)] = shown[countersign.ReasonCode(code)] || section.Name == "want" && w.key == "reasons"
				}
			}
		}
	}
	for _, code := range countersign.ReasonOrder {
		if !shown[code] && !ofAnOrder[code] && !afterwards[code] {
			t.Errorf("no scenario ends with the reason %s", code)
		}
	}
}

// ofAnOrder are the reasons that only the other desk gives: its scenarios stand beside it.
var ofAnOrder = map[countersign.ReasonCode]bool{
	countersign.QuoteUnverified: true, countersign.OrderNotFound: true, countersign.DeadlinePassed: true, countersign.RefundContradictsContest: true,
	countersign.NoRefundContradictsAccept: true, countersign.PartialRefund: true, countersign.OpenReturn: true,
	countersign.PolicyNewerThanOrder: true, countersign.PersonDecides: true, countersign.ReopenedByEvent: true, countersign.RefundHasFailed: true,
}

// afterwards are the reasons that come of carrying a verdict out elsewhere: pipeline/outside shows them.
var afterwards = map[countersign.ReasonCode]bool{countersign.FixDeclined: true, countersign.FixOutcomeUnknown: true}

// scene is a scenario on the stage.
type scene struct {
	*world
	books books
	id    countersign.CaseID
	links func() []chain.Link // nil where one model investigates

	mu        sync.Mutex
	meanwhile books
}

// play carries a scenario's sections out in the order in which they stand, and then checks what must hold of every case.
func play(t *testing.T, database string, archive *txtar.Archive) {
	s := &scene{world: newWorld(t, database, nil), books: sharedBank(t)}
	s.pipeline.Model = func(context.Context, store.View, countersign.Case) (llm.Model, error) { return s.asked(), nil }
	wanted := false
	for _, section := range archive.Files {
		part, ok := sections[section.Name]
		if !ok {
			t.Fatalf("nobody knows a section %q", section.Name)
		}
		part(s, section.Data)
		wanted = section.Name == "want"
	}
	if s.id == "" || !wanted {
		t.Fatal("a scenario has a case.json and ends with what it wants")
	}
	s.holds()
}

var sections = map[string]func(*scene, []byte){
	"case.json":      (*scene).file,
	"records.json":   (*scene).arrived,
	"meanwhile.json": func(s *scene, text []byte) { s.meanwhile = s.books.copy().change(s, readBooks(s, text)) },
	"damaged.json":   (*scene).spoil,
	"policy.json":    (*scene).limit,
	"chain.json":     (*scene).chain,
	"model":          func(s *scene, text []byte) { s.model.Model = model(s, string(text)) },
	"people":         (*scene).acts,
	"want":           (*scene).compare,
}

// file opens the dispute and works it.
func (s *scene) file(text []byte) {
	var c struct {
		Transaction string
		Reason      countersign.DisputeReason
		Notes       string
	}
	if err := json.Unmarshal(text, &c); err != nil {
		s.Fatalf("case.json: %v", err)
	}
	s.mustBring(s.books)
	s.id = s.open(c.Transaction, c.Reason, c.Notes)
	s.workIt()
}

func (s *scene) workIt() {
	s.Helper()
	if err := s.pipeline.Work(ctx, s.id); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) mustBring(b books) {
	s.Helper()
	if err := s.bring(b); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) arrived(text []byte) {
	touched := s.books.change(s, readBooks(s, text))
	if s.id != "" {
		s.mustBring(touched)
	}
}

// spoil needs the rows to be there: they are brought in first.
func (s *scene) spoil(text []byte) {
	s.mustBring(s.books)
	s.damage(readBooks(s, text))
	s.books = books{}
}

func (s *scene) limit(text []byte) {
	limits := policy.Default()
	if err := json.Unmarshal(text, &limits); err != nil {
		s.Fatalf("policy.json: %v", err)
	}
	err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, limits, clerk) })
	if err != nil {
		s.Fatal(err)
	}
}

// chain makes of the scenario's model the first of a chain, with a price and a budget.
func (s *scene) chain(text []byte) {
	var c struct {
		Offline bool `json:"offline_reviewer"`
		Tokens  int64
		Money   string
	}
	if err := json.Unmarshal(text, &c); err != nil {
		s.Fatalf("chain.json: %v", err)
	}
	limit := budget.Limit{Tokens: c.Tokens}
	if c.Money != "" {
		m, err := countersign.ParseMoney(c.Money, "USD")
		if err != nil {
			s.Fatalf("chain.json: %v", err)
		}
		limit.Money = &m
	}
	s.pipeline.Budgets = func(context.Context) (budget.Budgets, error) { return budget.Budgets{Day: limit}, nil }
	s.links = func() []chain.Link {
		links := []chain.Link{{Connection: "desk", Model: deciding{s.model, s.arrive}, Identity: llm.Identity{Provider: "openai", Name: "desk-model-1"},
			Price: llm.Price{Currency: "USD", Input: 3_000_000, Cached: 300_000, Output: 15_000_000}}}
		if c.Offline {
			links = append(links, chain.Link{Connection: "rulebook", Model: offline, Identity: offline.Identity(), Offline: true})
		}
		return links
	}
}

// asked is the model of the scenario. What a chain knew of servers that were down is forgotten by the next round.
func (s *scene) asked() llm.Model {
	if s.links == nil {
		return deciding{s.model, s.arrive}
	}
	return chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), s.links()...)
}

// deciding is a model during whose decision something arrives.
type deciding struct {
	llm.Model
	arrive func() error
}

func (m deciding) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	reply, err := m.Model.Complete(ctx, r)
	if slices.ContainsFunc(reply.Calls, func(c llm.Call) bool { return c.Name == "submit_decision" }) {
		err = errors.Join(err, m.arrive())
	}
	return reply, err
}

func (s *scene) arrive() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.meanwhile
	s.meanwhile = nil
	if rows == nil {
		return nil
	}
	return s.bring(rows)
}

// acts does what people do, one line an act.
func (s *scene) acts(text []byte) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		line, why, refused := strings.Cut(line, ", refused: ")
		err := s.decide(line)
		switch {
		case refused && (countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), why)):
			s.Errorf("%s: want it refused because %q, got %v", line, why, err)
		case !refused && err != nil:
			s.Fatalf("%s: %v", line, err)
		}
		if s.theCase(s.id).Status == countersign.Queued {
			s.workIt()
		}
	}
}

// decide carries out one line. What follows the colon is what the person says.
func (s *scene) decide(line string) error {
	verb, said, _ := strings.Cut(line, ": ")
	words := strings.Fields(verb)
	if len(words) == 0 {
		return errors.New("an empty line is not an act")
	}
	now := s.act(s.id)
	argument := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	var err error
	switch words[0] {
	case "approve":
		_, err = s.review.Approve(ctx, now)
	case "override":
		_, err = s.review.Override(ctx, now, countersign.Outcome(argument(1)), said, argument(2))
	case "escalate":
		_, err = s.review.Escalate(ctx, now, said, argument(2))
	case "message":
		_, err = s.review.Message(ctx, now, said)
	case "retry":
		_, err = s.review.Retry(ctx, now)
	default:
		err = fmt.Errorf("nobody can %q", words[0])
	}
	return err
}

// want is one line of a section want.
type want struct{ key, value string }

func (w want) String() string { return w.key + ": " + w.value }

func readWant(text string) (wants []want) {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			wants = append(wants, want{key, strings.TrimSpace(value)})
		}
	}
	return wants
}

// compare prints what was wanted beside what came, in the form in which it is wanted.
func (s *scene) compare(text []byte) {
	s.Helper()
	got := s.describe()
	var wanted, came []string
	met := map[string]bool{}
	for _, w := range readWant(string(text)) {
		met[w.key] = true
		is, known := got[w.key]
		if !known {
			s.Fatalf("nobody knows what %q of a case is", w.key)
		}
		if (w.key == "because" || w.key == "message") && strings.Contains(is, w.value) {
			is = w.value
		}
		wanted, came = append(wanted, w.String()), append(came, want{w.key, is}.String())
	}
	for _, key := range []string{"status", "reasons", "fix"} {
		if !met[key] {
			s.Errorf("want says nothing of the %s", key)
		}
	}
	if slices.Equal(wanted, came) {
		return
	}
	c := s.theCase(s.id)
	s.Errorf("want:\n  %s\ngot:\n  %s\ndifference (-want +got):\n%s\nthe model said: %s\nthe reasons are: %v", strings.Join(wanted, "\n  "), strings.Join(came, "\n  "),
		cmp.Diff(wanted, came), c.Proposal.Summary, c.Verdict.Reasons)
}

// describe is the case in the words of a section want.
func (s *scene) describe() map[string]string {
	c := s.theCase(s.id)
	if c.Proposal == nil || c.Verdict == nil {
		s.Fatalf("the case is %s and was not investigated", c.Status)
	}
	codes, because := []string{}, []string{}
	for _, r := range c.Verdict.Reasons {
		codes, because = append(codes, string(r.Code)), append(because, r.Text)
	}
	got := map[string]string{
		"status": string(c.Status), "outcome": "none", "recommends": c.Recommendation, "reasons": orNone(codes),
		"because": strings.Join(because, " "), "fix": fixWords(c.Fix), "message": c.Message, "round": fmt.Sprint(c.Round), "raised": "no",
		"asked": fmt.Sprint(len(s.model.asked())), "record": s.kinds(),
	}
	if c.Outcome != "" {
		got["outcome"] = fmt.Sprintf("%s by %s", c.Outcome, c.HandledBy)
	}
	if c.Raised {
		got["raised"] = "yes"
	}
	return got
}

func orNone(codes []string) string {
	if len(codes) == 0 {
		return "none"
	}
	return strings.Join(codes, ", ")
}

func fixWords(f countersign.FixOutcome) string {
	if f.Fix == nil {
		return string(f.State)
	}
	return fmt.Sprintf("%s %s of %s on %s", f.State, f.Fix.Kind, f.Fix.Amount, f.Fix.TransactionID)
}

// kinds are the kinds of the case's record rows, counted where they repeat.
func (s *scene) kinds() string {
	var out []string
	last, n := audit.Kind(""), 0
	flush := func() {
		switch {
		case n == 1:
			out = append(out, string(last))
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s", n, last))
		}
	}
	for _, row := range s.rows(s.id) {
		if row.Kind != last {
			flush()
			last, n = row.Kind, 0
		}
		n++
	}
	flush()
	return strings.Join(out, ", ")
}

// holds checks what must hold of every case, however it ends: the record verifies, every round replays to its verdict, no
// turn was asked for twice, and nothing was posted but one balanced pair for a fix that is called posted.
func (s *scene) holds() {
	s.verifies()
	c := s.theCase(s.id)
	for round := 1; round <= c.Round; round++ {
		s.replays(round)
	}
	var posted []countersign.Entry
	if c.Fix.State == countersign.FixPosted {
		posted = c.Fix.Fix.Entries
	}
	if diff := cmp.Diff(posted, s.posted()); diff != "" {
		s.Errorf("the ledger holds other entries than the fix of the case (-case +ledger):\n%s", diff)
	}
	if (c.HandledBy == countersign.ByPolicy) != (c.Status == countersign.Closed && len(c.Verdict.Reasons) == 0) && c.HandledBy != countersign.ByPerson {
		s.Errorf("%s by %q with %d reasons", c.Status, c.HandledBy, len(c.Verdict.Reasons))
	}
}

// replays decides a round again from its record and compares the bytes with what was recorded.
func (s *scene) replays(round int) {
	s.Helper()
	again, err := pipeline.Replay(s.desk.Rules, s.store.RecordRows(ctx, s.id, 0), round)
	if err != nil {
		s.Errorf("round %d does not replay: %v", round, err)
		return
	}
	text, err := json.Marshal(again)
	if err != nil {
		s.Fatal(err)
	}
	if recorded := s.recordedVerdict(round); string(text) != recorded {
		s.Errorf("round %d replays to another verdict\nrecorded: %s\nreplayed: %s", round, recorded, text)
	}
}

// recordedVerdict is the verdict of a round as its row spells it.
func (s *scene) recordedVerdict(round int) string {
	for _, row := range s.rows(s.id) {
		var r struct {
			Round   int
			Verdict json.RawMessage
		}
		if row.Kind != audit.Verdict {
			continue
		}
		if err := json.Unmarshal(row.Payload.Bytes, &r); err != nil {
			s.Fatal(err)
		}
		if r.Round == round {
			return string(r.Verdict)
		}
	}
	s.Fatalf("round %d has no verdict on record", round)
	return ""
}
