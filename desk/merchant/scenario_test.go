package merchant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant"
	"countersign/desk/merchant/library"
	"countersign/desk/merchant/shop"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/llm/rulebook"
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
	countersign.ReopenedByEvent, countersign.RefundHasFailed, countersign.QuoteUnverified, countersign.FactsUnreadable, countersign.OrderNotFound, countersign.DeadlinePassed,
	countersign.RefundContradictsContest, countersign.NoRefundContradictsAccept, countersign.PartialRefund, countersign.OpenReturn,
	countersign.PolicyNewerThanOrder, countersign.FactsDisagree, countersign.FactsUnknown, countersign.ModelAskedForPerson, countersign.PersonDecides,
}

// ofTheBank are the reasons that only a desk can give which may act by itself: what they limit does not exist here.
var ofTheBank = []countersign.ReasonCode{
	countersign.FraudSuspected, countersign.AboveCap, countersign.NoCapForCurrency, countersign.TypeNotAllowed, countersign.ConfidenceLow,
	countersign.RejectionNeedsPerson, countersign.FixNotApplicable, countersign.FixDeclined, countersign.FixOutcomeUnknown, countersign.ShadowMode,
}

// ofTheModels are the reasons that depend on which of several models was asked and what it may cost, whatever the case is about: here
// there is one, which costs nothing.
var ofTheModels = []countersign.ReasonCode{countersign.BudgetReached, countersign.OfflineStoodIn}

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
		mine, others := slices.Contains(ofAnOrder, code), slices.Contains(ofTheBank, code) || slices.Contains(ofTheModels, code)
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
		Model: func(_ context.Context, _ store.View, _ countersign.Case) (llm.Model, error) { return s.model, nil }, Log: slog.New(slog.DiscardHandler)}
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
	"event.json":   (*scene).hears,
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

// hears takes in an event of the provider's, and works the case that it opened, for the first time or again.
func (s *scene) hears(f txtar.File) {
	s.Helper()
	if !s.policies {
		s.policy(returnsPolicy(s))
	}
	in := intake.Events{Intake: s.intake, Desks: map[countersign.DeskName]intake.Desk{countersign.Merchant: s.desk.Desk}}
	got, err := in.Receive(s.Context(), intake.Delivery{Source: store.EventSource{Name: "provider", Desk: countersign.Merchant}, Body: f.Data, Plain: f.Data, SignedAt: s.now})
	s.must(err)
	for _, c := range got.Cases {
		s.id = c.ID
	}
	if s.theCase().Status == countersign.Queued {
		s.work()
	}
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
	case verb == "attach":
		_, err = s.review.Attach(s.Context(), act, said)
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
