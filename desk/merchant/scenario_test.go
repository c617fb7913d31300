package merchant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/desk/merchant"
	"countersign/desk/merchant/library"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/shop"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/llm/scripted"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/store"
)

// TestScenarios plays the chargebacks in testdata; the README there says how one is written.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for name, archive := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, archive)
		})
	}
}

func scenarios(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 20 {
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

// ofAnOrder are the reasons that this desk can give, beside the one that every case of it has.
var ofAnOrder = []countersign.ReasonCode{
	countersign.ModelFailed, countersign.ModelSawPartialCase, countersign.EvidenceInvalid, countersign.EvidenceTooLittle,
	countersign.QuoteUnverified, countersign.FactsUnreadable, countersign.OrderNotFound, countersign.DeadlinePassed,
	countersign.RefundContradictsContest, countersign.NoRefundContradictsAccept, countersign.PartialRefund, countersign.OpenReturn,
	countersign.PolicyNewerThanOrder, countersign.FactsDisagree, countersign.FactsUnknown, countersign.ModelAskedForPerson, countersign.PersonDecides,
}

// ofTheBank are the reasons that only a desk can give which may act by itself: what they limit does not exist here.
var ofTheBank = []countersign.ReasonCode{
	countersign.FraudSuspected, countersign.AboveCap, countersign.NoCapForCurrency, countersign.TypeNotAllowed, countersign.ConfidenceLow,
	countersign.RejectionNeedsPerson, countersign.FixNotApplicable, countersign.ShadowMode,
}

// TestEveryReasonOfAnOrderHasAScenario: whatever reason this desk can give is shown by a chargeback that somebody can read, and a
// reason that is added later is this desk's or it is not.
func TestEveryReasonOfAnOrderHasAScenario(t *testing.T) {
	shown := map[string]bool{}
	for _, archive := range scenarios(t) {
		for _, section := range archive.Files {
			for _, line := range wanted(section) {
				if line.key == "reasons" {
					for code := range strings.SplitSeq(line.value, ", ") {
						shown[code] = true
					}
				}
			}
		}
	}
	for _, code := range countersign.ReasonOrder {
		mine, others := slices.Contains(ofAnOrder, code), slices.Contains(ofTheBank, code)
		if mine == others {
			t.Errorf("%s is a reason of one kind of desk, or of both", code)
		}
		if shown[string(code)] != mine {
			t.Errorf("a scenario ends with the reason %s: %v, want %v", code, shown[string(code)], mine)
		}
	}
}

// today is the day of every scenario.
var today = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

var (
	clerk   = countersign.Actor{Kind: countersign.CLI, ID: "test"}
	analyst = countersign.Actor{Kind: countersign.Person, ID: "ada"}
)

// scene is a scenario on the stage: the desk over a real store, a real library of policies, and a shop that is written down.
type scene struct {
	*testing.T
	store    *store.Store
	library  *library.Library
	desk     desk.Desk
	intake   intake.Intake
	review   review.Review
	pipeline *pipeline.Pipeline
	model    llm.Model
	shop     map[string]json.RawMessage
	alter    func(*shop.Records) // what the shop says, once more changed; nil for as it is written
	policies bool                // a section gave some
	id       countersign.CaseID
	seen     string // the hash of the records as somebody last looked at them
	now      time.Time
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, model: rulebook.New(merchant.Playbook()), now: today}
	var err error
	s.store, err = store.Open(t.Context(), testdb.SQLite(t), store.Options{Now: func() time.Time { return s.now }})
	s.must(err)
	t.Cleanup(func() { s.store.Close() })
	extractor, err := library.Self(t.TempDir())
	s.must(err)
	q, err := queue.New(queue.Config{Store: s.store, Log: slog.New(slog.DiscardHandler)})
	s.must(err)
	s.library = &library.Library{Store: s.store, Extractor: extractor}
	s.desk = merchant.New(merchant.Config{Order: s.order, Policies: s.library.Policies(), Now: s.store.Now, Version: "test"})
	s.intake = intake.Intake{Store: s.store, Queue: q}
	s.review = review.Review{Store: s.store, Queue: q, Desks: map[countersign.DeskName]review.Desk{countersign.Merchant: reviewed(s.desk)}}
	s.pipeline = &pipeline.Pipeline{Store: s.store, Desks: map[countersign.DeskName]desk.Desk{countersign.Merchant: s.desk}, Worker: "test",
		Model: func(countersign.Case) llm.Model { return s.model }, Log: slog.New(slog.DiscardHandler)}
	ordinary, err := os.ReadFile("testdata/order.json")
	s.must(err)
	s.records(ordinary)
	return s
}

// reviewed is what people's decisions need to know of the desk.
func reviewed(d desk.Desk) review.Desk {
	r := review.Desk{Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, MustChoose: d.MustChoose, Split: d.Split, Fresh: d.Fresh, Warn: d.Warn}
	for _, kind := range d.Typed {
		r.Typed = append(r.Typed, kind.Name)
	}
	return r
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// order answers as a shop would: with what the scenario says of the order that it names, and with none for any other.
func (s *scene) order(_ context.Context, id string) (r shop.Records) {
	text, err := json.Marshal(s.shop)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		s.Errorf("the scenario's records: %v", err)
	}
	if len(r.Order.All) > 0 && r.Order.All[0].Number != id {
		r = shop.Records{}
	}
	if s.alter != nil {
		s.alter(&r)
	}
	return r
}

// play carries a scenario's sections out in the order in which they stand, and then checks what must hold of every case.
func play(t *testing.T, archive *txtar.Archive) {
	s := newScene(t)
	last := ""
	for _, section := range archive.Files {
		last, _, _ = strings.Cut(section.Name, " ")
		part, ok := sections[last]
		if !ok {
			t.Fatalf("nobody knows a section %q", section.Name)
		}
		part(s, section)
	}
	if s.id == "" || last != "want" {
		t.Fatal("a scenario has a case.json and ends with what it wants")
	}
	s.holds()
}

var sections = map[string]func(*scene, txtar.File){
	"records.json": func(s *scene, f txtar.File) { s.records(f.Data) },
	"policy":       (*scene).policy,
	"case.json":    (*scene).file,
	"model":        func(s *scene, f txtar.File) { s.model = s.script(string(f.Data)) },
	"people":       (*scene).acts,
	"want":         (*scene).compare,
}

// records replaces whole kinds of records.
func (s *scene) records(text []byte) {
	s.Helper()
	kinds := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &kinds); err != nil {
		s.Fatalf("records.json: %v", err)
	}
	all := maps.Clone(s.shop)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	maps.Copy(all, kinds)
	s.shop = all
}

// policy takes a document into the library: "policy returns.md from 2026-01-01".
func (s *scene) policy(f txtar.File) {
	s.Helper()
	words := strings.Fields(f.Name)
	if len(words) != 2 && (len(words) != 4 || words[2] != "from") {
		s.Fatalf("a policy is headed policy FILE, or policy FILE from DAY, not %q", f.Name)
	}
	from := ""
	if len(words) == 4 {
		from = words[3]
	}
	s.policies = true
	r, err := s.library.Import(s.Context(), clerk, words[1], f.Data, from)
	s.must(err)
	s.must(s.library.Confirm(s.Context(), clerk, r.VersionID))
}

// returnsPolicy is the shop's policy where a scenario gives none.
func returnsPolicy(t testing.TB) txtar.File {
	t.Helper()
	text, err := os.ReadFile("testdata/returns.md")
	if err != nil {
		t.Fatal(err)
	}
	return txtar.File{Name: "policy returns.md from 2026-01-01", Data: text}
}

// file opens the chargeback and works it.
func (s *scene) file(f txtar.File) {
	s.Helper()
	var c struct {
		Order, Network, Code, Notes string
		Amount                      *countersign.Money
		Due                         *time.Time
	}
	if err := json.Unmarshal(f.Data, &c); err != nil {
		s.Fatalf("case.json: %v", err)
	}
	if !s.policies {
		s.policy(returnsPolicy(s))
	}
	s.open(intake.Request{SubjectID: c.Order, Notes: c.Notes, Amount: c.Amount, DueAt: c.Due, Terms: countersign.Terms{Network: c.Network, ReasonCode: c.Code}})
}

func (s *scene) open(r intake.Request) {
	s.Helper()
	r.SubjectField, r.Reason, r.Stage = "order_id", countersign.OtherReason, "chargeback"
	opened, err := s.intake.Open(s.Context(), s.desk.Desk, clerk, r)
	s.must(err)
	s.id = opened.Case.ID
	s.work()
}

func (s *scene) work() {
	s.Helper()
	s.must(s.pipeline.Work(s.Context(), s.id))
}

func (s *scene) theCase() countersign.Case {
	s.Helper()
	c, err := s.store.Case(s.Context(), s.id)
	s.must(err)
	return c
}

// acts does what people do, one line an act.
func (s *scene) acts(f txtar.File) {
	for line := range strings.Lines(string(f.Data)) {
		line, why, refused := strings.Cut(strings.TrimSpace(line), ", refused: ")
		err := s.decide(line)
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), why)):
			s.Errorf("%s: want it refused because %q, got %v", line, why, err)
		case !refused && err != nil:
			s.Fatalf("%s: %v", line, err)
		}
		if s.theCase().Status == countersign.Queued {
			s.work()
		}
	}
}

func (s *scene) decide(line string) error {
	verb, said, _ := strings.Cut(line, ": ")
	words := strings.Fields(verb)
	act := review.Act{Case: s.id, Revision: s.theCase().Revision, Actor: analyst, Facts: s.seen}
	var err error
	switch {
	case verb == "looks at the records":
		var now countersign.Facts
		now, err = s.desk.Facts(s.Context(), s.store.View, s.theCase())
		s.seen = now.Seen
	case verb == "approve":
		_, err = s.review.Approve(s.Context(), act)
	case verb == "retry":
		_, err = s.review.Retry(s.Context(), act)
	case len(words) > 1 && words[0] == "states":
		_, err = s.review.AddTypedFact(s.Context(), act, s.stated(words[1:], said))
	case verb == "takes back what was stated":
		all, wrong := s.store.TypedFacts(s.Context(), s.id)
		s.must(wrong)
		for _, f := range all {
			act.Revision = s.theCase().Revision
			_, err = s.review.RemoveTypedFact(s.Context(), act, f.ID)
			s.must(err)
		}
	case len(words) == 4 && words[0] == "override": // override contest USD 70.00
		part, wrong := countersign.ParseMoney(words[3], words[2])
		s.must(wrong)
		act.Part = &part
		fallthrough
	case len(words) == 2 && words[0] == "override":
		_, err = s.review.Override(s.Context(), act, countersign.Outcome(words[1]), said, "")
	default:
		err = fmt.Errorf("nobody can %q", line)
	}
	return err
}

// stated is what a person types in: "refund USD 120.00 on 2026-11-10", and what they know of it.
func (s *scene) stated(words []string, said string) countersign.TypedFact {
	f := countersign.TypedFact{Kind: countersign.TypedKind(words[0]), Text: said}
	for i := 1; i+1 < len(words); i += 2 {
		if words[i] == "on" {
			f.On = words[i+1]
			continue
		}
		m, err := countersign.ParseMoney(words[i+1], words[i])
		s.must(err)
		f.Amount = &m
	}
	return f
}

// want is one line of a section want.
type want struct{ key, value string }

func (w want) String() string { return w.key + ": " + w.value }

func wanted(f txtar.File) (wants []want) {
	if f.Name != "want" {
		return nil
	}
	for line := range strings.Lines(string(f.Data)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			wants = append(wants, want{key, strings.TrimSpace(value)})
		}
	}
	return wants
}

// compare prints what was wanted beside what came, in the form in which it is wanted.
func (s *scene) compare(f txtar.File) {
	s.Helper()
	got := s.describe()
	var wants, came []string
	met := map[string]bool{}
	for _, w := range wanted(f) {
		met[w.key] = true
		is, known := got[w.key]
		if !known {
			s.Fatalf("nobody knows what %q of a case is", w.key)
		}
		if w.key == "because" && strings.Contains(is, w.value) {
			is = w.value
		}
		wants, came = append(wants, w.String()), append(came, want{w.key, is}.String())
	}
	for _, key := range []string{"status", "recommends", "reasons"} {
		if !met[key] {
			s.Errorf("want says nothing of %s", key)
		}
	}
	if diff := cmp.Diff(wants, came); diff != "" {
		c := s.theCase()
		s.Errorf("(-want +got):\n%s\nthe model said: %s\nthe reasons are: %v\nthe facts are: %v", diff, c.Proposal.Summary, c.Verdict.Reasons, c.Facts.Items)
	}
}

// describe is the case in the words of a section want.
func (s *scene) describe() map[string]string {
	s.Helper()
	c := s.theCase()
	if c.Proposal == nil || c.Verdict == nil {
		s.Fatalf("the case is %s and was not investigated", c.Status)
	}
	var codes, because, quotes []string
	for _, r := range c.Verdict.Reasons {
		codes, because = append(codes, string(r.Code)), append(because, r.Text)
	}
	for _, q := range c.Proposal.Quotes {
		quotes = append(quotes, q.Status)
	}
	got := map[string]string{
		"status": string(c.Status), "recommends": c.Recommendation, "wanted": c.Proposal.Recommendation, "reasons": list(codes), "because": strings.Join(because, " "),
		"quotes": list(quotes), "caveats": fmt.Sprint(len(c.Verdict.Caveats)), "outcome": "none", "report": "none", "round": fmt.Sprint(c.Round),
	}
	if c.Outcome != "" {
		got["outcome"] = fmt.Sprintf("%s by %s", c.Outcome, c.HandledBy)
	}
	if content, there := s.report(); there {
		got["report"] = fmt.Sprintf("contests %s, accepts %s", content.Decision.Contested.Text, content.Decision.Accepted.Text)
	}
	for _, fact := range c.Facts.Items {
		got["fact "+fact.Name] = strings.TrimSpace(string(fact.State) + " " + fact.Value)
		got["source of "+fact.Name] = fact.Source
	}
	return got
}

func list(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// report is what the case's evidence report says, if it has one.
func (s *scene) report() (report.Content, bool) {
	s.Helper()
	kept, err := s.store.Report(s.Context(), s.id)
	if countersign.KindOf(err) == countersign.NotFound {
		return report.Content{}, false
	}
	s.must(err)
	sealed, err := report.Open(kept.Content)
	s.must(err)
	if sealed.Fingerprint() != kept.Fingerprint {
		s.Errorf("the report has the fingerprint %s and is kept under %s", sealed.Fingerprint(), kept.Fingerprint)
	}
	return sealed.Content(), true
}

// holds checks what must hold of every case, however it ends: nothing was decided by the program, the record verifies, and every
// round replays to its verdict.
func (s *scene) holds() {
	s.Helper()
	c := s.theCase()
	if c.HandledBy == countersign.ByPolicy || c.Verdict.Kind != countersign.Review {
		s.Errorf("the case is %s, handled by %q", c.Verdict.Kind, c.HandledBy)
	}
	if len(c.Verdict.Caveats) > 0 && c.Recommendation != "MANUAL_REVIEW_REQUIRED" {
		s.Errorf("it recommends %s beside the caveats %q", c.Recommendation, c.Verdict.Caveats)
	}
	s.verifies()
	for round := 1; round <= c.Round; round++ {
		s.replays(round)
	}
}

func (s *scene) verifies() {
	s.Helper()
	found, err := s.store.VerifyRecord(s.Context(), nil)
	s.must(err)
	if !found.OK {
		s.Errorf("the record does not verify: %+v", found)
	}
}

func (s *scene) replays(round int) {
	s.Helper()
	again, err := pipeline.Replay(s.desk.Rules, s.store.RecordRows(s.Context(), s.id, 0), round)
	s.must(err)
	text, err := json.Marshal(again)
	s.must(err)
	if recorded := s.recorded(round); string(text) != recorded {
		s.Errorf("round %d replays to another verdict\nrecorded: %s\nreplayed: %s", round, recorded, text)
	}
}

// recorded is the verdict of a round as its row spells it.
func (s *scene) recorded(round int) (verdict string) {
	s.Helper()
	for row, err := range s.store.RecordRows(s.Context(), s.id, 0) {
		s.must(err)
		var r struct {
			Round   int
			Verdict json.RawMessage
		}
		if row.Kind == audit.Verdict && json.Unmarshal(row.Payload.Bytes, &r) == nil && r.Round == round {
			verdict = string(r.Verdict)
		}
	}
	return verdict
}

// script is the model of a scenario, one turn a line. Past the last line its server is gone.
func (s *scene) script(text string) llm.Model {
	s.Helper()
	var turns []turn
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch said, set := strings.CutPrefix(line, "  "); {
		case strings.TrimSpace(line) == "":
		case set && len(turns) == 0:
			s.Fatalf("%q is set in, and there is no turn above it", line)
		case set:
			turns[len(turns)-1].more = append(turns[len(turns)-1].more, said)
		default:
			turns = append(turns, turn{line: line})
		}
	}
	return scripted.Func(func(n int, r llm.Request) (llm.Reply, error) {
		if n >= len(turns) {
			return llm.Reply{}, scripted.Fail(llm.Unreachable, "the script is over")
		}
		reply, err := turns[n].play(r)
		var told *llm.Error
		if err != nil && !errors.As(err, &told) {
			s.Errorf("the scenario's model: %v", err)
		}
		return reply, err
	})
}

// turn is one line of a model's script, and the lines below it that are set in.
type turn struct {
	line string
	more []string
}

func (t turn) play(r llm.Request) (llm.Reply, error) {
	line, short := strings.CutSuffix(t.line, ", reading 12 tokens")
	verb, rest, _ := strings.Cut(line, " ")
	var reply llm.Reply
	switch {
	case verb == "decides":
		args, err := t.decision(strings.Fields(rest), r)
		if err != nil {
			return reply, err
		}
		reply = scripted.Calls(scripted.Call("submit_decision", args))
	case verb == "asks":
		tool, args, _ := strings.Cut(rest, " ")
		reply = scripted.Calls(scripted.Call(tool, args))
	case line == "says nothing":
		reply = scripted.Say("")
	case verb == "says":
		reply = scripted.Say(rest)
	case line == "cannot be reached":
		return reply, scripted.Fail(llm.Unreachable, "no connection")
	default:
		return reply, fmt.Errorf("nobody knows the turn %q", t.line)
	}
	if short {
		reply.Usage = &llm.Usage{Input: 12, Output: 10}
	}
	return reply, nil
}

// decision is the arguments of a decision: a recommendation and how sure the model is, and what the lines below it add.
func (t turn) decision(words []string, r llm.Request) (string, error) {
	if len(words) != 2 {
		return "", fmt.Errorf("a decision is a recommendation and a confidence, not %q", words)
	}
	line, _, _ := strings.Cut(r.Messages[0].Text.String(), "\n")
	canary, summary, claims, quotes := strings.TrimPrefix(line, "canary: "), "This is what I think.", []any{}, []any{}
	for _, more := range t.more {
		place, value, cites := strings.Cut(more, " = ")
		ref, field, _ := strings.Cut(place, " ")
		document, quote, quoting := strings.Cut(strings.TrimPrefix(more, "quotes "), ": ")
		said, sums := strings.CutPrefix(more, "sums up: ")
		switch {
		case more == "canary wrong":
			canary = "abcdefghijklmnopqrst"
		case sums:
			summary = said
		case strings.HasPrefix(more, "quotes ") && quoting:
			quotes = append(quotes, map[string]any{"document": document, "quote": quote})
		case cites:
			claims = append(claims, map[string]any{"text": "So it is.", "citations": []any{map[string]any{"ref": ref, "field": field, "value": value}}})
		default:
			return "", fmt.Errorf("nobody knows what %q adds to a decision", more)
		}
	}
	b, err := json.Marshal(map[string]any{"recommendation": words[0], "confidence": json.Number(words[1]), "summary": summary,
		"canary": canary, "claims": claims, "quotes": quotes})
	return string(b), err
}
