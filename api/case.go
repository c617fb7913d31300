package api

import (
	"time"

	"countersign"
)

// Case is a case as it is shown. What is not known yet is null, and a list is never null.
type Case struct {
	ID         countersign.CaseID        `json:"id"`
	Desk       countersign.DeskName      `json:"desk" enum:"bank,merchant"`
	Subject    Subject                   `json:"subject"`
	CustomerID string                    `json:"customer_id"`
	Channel    string                    `json:"channel"`
	Reason     countersign.DisputeReason `json:"reason" enum:"failed_transfer,duplicate_charge,unauthorised,not_received,wrong_amount,other" doc:"What the customer says went wrong."`
	Notes      string                    `json:"notes" doc:"The customer's own words."`
	Amount     *Amount                   `json:"amount" doc:"What is in dispute; null until somebody said or the order was read."`
	Contested  *Amount                   `json:"contested" doc:"What a person decided to contest, when that is less than the amount."`
	Network    *string                   `json:"network" doc:"Who carries the dispute."`
	ReasonCode *string                   `json:"reason_code" doc:"The network's."`
	Reference  *string                   `json:"provider_ref"`

	Status         countersign.Status     `json:"status" enum:"queued,investigating,in_review,awaiting_second_approval,awaiting_confirmation,closed"`
	Stage          *string                `json:"stage"`
	Recommendation *string                `json:"recommendation" doc:"What stands after every check; proposal.recommendation is what the model wanted."`
	Outcome        *countersign.Outcome   `json:"outcome" enum:"resolved,rejected,escalated,contest,accept"`
	HandledBy      *countersign.HandledBy `json:"handled_by" enum:"policy,person"`
	Raised         bool                   `json:"raised" doc:"A person escalated it: it waits for an approver."`
	Result         *Result                `json:"result" doc:"How the network decided, as its provider says; outcome is what was decided here."`
	Reopened       *Reopened              `json:"reopened" doc:"Why the case was opened again after it was closed, last."`

	OpenedAt  time.Time             `json:"opened_at"`
	UpdatedAt time.Time             `json:"updated_at"`
	DueAt     *time.Time            `json:"due_at"`
	DueSource countersign.DueSource `json:"due_source" enum:"unknown,rule,provider,manual"`

	Proposal *Proposal `json:"proposal"`
	Facts    []Fact    `json:"facts"`
	Verdict  *Verdict  `json:"verdict"`
	Fix      Fix       `json:"fix"`
	Message  string    `json:"message" doc:"The draft to the customer. Nothing is sent."`
	Model    Model     `json:"model"`
	Record   *Record   `json:"record,omitempty" doc:"Left out of lists: it is verified each time it is shown."`
	Round    int       `json:"round" doc:"Which investigation this is; retry starts the next one."`
	Warnings []string  `json:"warnings,omitempty" doc:"What there is to know of the outcome that was decided; in the answer to a decision alone."`
	Revision int64     `json:"revision" doc:"What If-Match must carry; also the ETag of a case."`
}

// Subject is what the case is about: one of the two.
type Subject struct {
	TransactionID string `json:"transaction_id,omitempty"`
	OrderID       string `json:"order_id,omitempty"`
}

// Result is the network's own decision. A later one may take it back.
type Result struct {
	State string    `json:"state" enum:"won,reversed,withdrawn,lost,accepted,expired,closed"`
	At    time.Time `json:"at" doc:"By the provider's clock."`
	Round int       `json:"round" doc:"Of the dispute: a second chargeback is 2."`
}

// Reopened is why a case was opened again.
type Reopened struct {
	Code  countersign.ReasonCode `json:"code" enum:"reopened_by_event,refund_failed"`
	Text  string                 `json:"text"`
	At    time.Time              `json:"at"`
	Round int                    `json:"round" doc:"Of the case: the first after it was opened again."`
}

// Amount is money, exact in minor units, with the same for people.
type Amount struct {
	Minor    int64  `json:"minor" doc:"In the currency's smallest unit."`
	Currency string `json:"currency" doc:"ISO 4217."`
	Text     string `json:"text" doc:"For people."`
}

// Proposal is what the model wants: never more than a proposal.
type Proposal struct {
	Recommendation  string                     `json:"recommendation"`
	Category        *countersign.DisputeReason `json:"category"`
	Confidence      float64                    `json:"confidence"`
	FraudSuspected  bool                       `json:"fraud_suspected"`
	Summary         string                     `json:"summary"`
	Claims          []Claim                    `json:"claims"`
	Quotes          []Quote                    `json:"quotes"`
	CustomerMessage string                     `json:"customer_message"`
	Failure         *countersign.Failure       `json:"failure" doc:"Why the model never produced one and this is the hard-coded escalation."`
	Partial         *string                    `json:"partial" doc:"Why we think that the model did not see the whole case."`
}

// Claim is one sentence of the model's.
type Claim struct {
	Text      string     `json:"text"`
	Citations []Citation `json:"citations"`
}

// Citation says that a value stands in a step. Verified means that the value is there, not that the claim is true.
type Citation struct {
	Ref    countersign.StepRef        `json:"ref"`
	Field  string                     `json:"field"`
	Value  string                     `json:"value"`
	Status countersign.CitationStatus `json:"status" enum:"verified,unknown_step,failed_step,value_mismatch,not_yet_finished"`
}

// Quote is text the model says it copied from a document.
type Quote struct {
	Document string `json:"document"`
	Version  string `json:"version"`
	Quote    string `json:"quote"`
	Status   string `json:"status" enum:"exact,folded,not_found,unknown_document,too_short,leaves_out"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Page     int    `json:"page"`
}

// Fact is one thing that code read in the records itself.
type Fact struct {
	Name   string                `json:"name"`
	State  countersign.FactState `json:"state" enum:"present,absent,unknown"`
	Value  string                `json:"value"`
	Source string                `json:"source"`
}

// Verdict is the policy's answer.
type Verdict struct {
	Kind          countersign.VerdictKind `json:"kind" enum:"automatic,review"`
	Reasons       []Reason                `json:"reasons"`
	PolicyVersion string                  `json:"policy_version"`
	Caveats       []string                `json:"caveats"`
}

// Reason is why a person must look.
type Reason struct {
	Code countersign.ReasonCode `json:"code"`
	Text string                 `json:"text"`
}

// Fix is what execution would do or did.
type Fix struct {
	State         countersign.FixState `json:"state" enum:"none,planned,requested,posted,refused,rejected,unknown" doc:"requested, rejected and unknown are of a fix that the bank's own core posts."`
	Kind          *countersign.FixKind `json:"kind" enum:"reversal,refund"`
	TransactionID *string              `json:"transaction_id"`
	Amount        *Amount              `json:"amount"`
	Entries       []Entry              `json:"entries"`
	Why           *string              `json:"why" doc:"Why it was refused, or why what became of it is not known."`
	Instruction   *Instruction         `json:"instruction" doc:"What the bank's own core was sent; null for a fix that is posted here."`
}

// Instruction is a fix that the bank's own core is asked to post.
type Instruction struct {
	ID        string                       `json:"id" doc:"Also the key under which it is posted once."`
	State     countersign.InstructionState `json:"state" enum:"requested,confirmed,rejected,unknown"`
	Reference *string                      `json:"reference" doc:"The core's own."`
	Said      *string                      `json:"said" doc:"Why the core rejected it, in its words."`
	Attempts  int                          `json:"attempts" doc:"How often the core was asked, or was about to be."`
	AskedAt   *time.Time                   `json:"asked_at" doc:"When it was last asked."`
}

// Entry is one side of a double entry.
type Entry struct {
	AccountID string                `json:"account_id"`
	Direction countersign.Direction `json:"direction" enum:"debit,credit"`
	Amount    Amount                `json:"amount"`
	Kind      countersign.FixKind   `json:"kind" enum:"reversal,refund"`
}

// Model is what the model's turns cost, over all rounds.
type Model struct {
	Provider     string `json:"provider"`
	Name         string `json:"name"`
	Attempts     int    `json:"attempts"`
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	Assumed      int64  `json:"assumed_tokens,omitempty" doc:"Counted for calls of which no server said what they used, and which may have to be paid."`
	Cost         string `json:"cost" doc:"A currency and a decimal, such as USD 0.0123, for tokens of both kinds; empty while no price is set."`
}

func modelOf(m countersign.ModelUse) Model {
	return Model{m.Provider, m.Name, m.Attempts, m.InputTokens, m.OutputTokens, m.AssumedTokens, m.Cost.String()}
}

// shown is a case as the API shows it, without its record.
func shown(c countersign.Case) Case {
	return Case{
		ID: c.ID, Desk: c.Desk, Subject: subject(c.Subject), CustomerID: c.CustomerID, Channel: c.Channel, Reason: c.Reason,
		Notes: c.Notes, Amount: disputed(c.Amount), Contested: part(c.Contested), Network: known(c.Terms.Network), ReasonCode: known(c.Terms.ReasonCode),
		Reference: known(c.Terms.Reference), Status: c.Status, Stage: known(c.Stage), Recommendation: known(c.Recommendation),
		Outcome: known(c.Outcome), HandledBy: known(c.HandledBy), Raised: c.Raised, Result: (*Result)(c.Result), Reopened: reopened(c.Reopened), OpenedAt: c.OpenedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
		DueAt: due(c.DueAt), DueSource: or(c.DueSource, countersign.DueUnknown), Proposal: proposal(c.Proposal), Facts: facts(c.Facts),
		Verdict: verdict(c.Verdict), Fix: fix(c.Fix), Message: c.Message, Model: modelOf(c.Model), Round: c.Round, Revision: c.Revision,
	}
}

func reopened(r *countersign.Reopened) *Reopened {
	if r == nil {
		return nil
	}
	return &Reopened{r.Code, r.Text, r.At, r.Round}
}

// disputed is nil for an amount that nobody knows yet: 0 would be one.
func disputed(m countersign.Money) *Amount {
	if m.Currency == "" {
		return nil
	}
	return part(&m)
}

func part(m *countersign.Money) *Amount {
	if m == nil {
		return nil
	}
	shown := amount(*m)
	return &shown
}

// known is nil for a word that is not there yet.
func known[T ~string](word T) *T {
	if word == "" {
		return nil
	}
	return &word
}

func or[T ~string](word, otherwise T) T {
	if word == "" {
		return otherwise
	}
	return word
}

// each shows a list, which is never null.
func each[From, To any](list []From, show func(From) To) []To {
	all := make([]To, 0, len(list))
	for _, one := range list {
		all = append(all, show(one))
	}
	return all
}

func subject(s countersign.Subject) Subject {
	if s.Kind == countersign.OrderSubject {
		return Subject{OrderID: s.ID}
	}
	return Subject{TransactionID: s.ID}
}

func amount(m countersign.Money) Amount { return Amount{m.Minor, m.Currency, m.String()} }

func due(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	utc := at.UTC()
	return &utc
}

func proposal(p *countersign.Proposal) *Proposal {
	if p == nil {
		return nil
	}
	return &Proposal{
		Recommendation: p.Recommendation, Category: known(p.Category), Confidence: p.Confidence, FraudSuspected: p.FraudSuspected,
		Summary: p.Summary, Claims: each(p.Claims, claim), Quotes: each(p.Quotes, quote), CustomerMessage: p.CustomerMessage,
		Failure: known(p.Failure), Partial: known(p.Partial),
	}
}

func claim(c countersign.Claim) Claim {
	return Claim{c.Text, each(c.Citations, func(c countersign.Citation) Citation { return Citation(c) })}
}

func quote(q countersign.Quote) Quote {
	return Quote{q.Document, q.Version, q.Quote, q.Status, q.Start, q.End, q.Page}
}

func facts(f *countersign.Facts) []Fact {
	if f == nil {
		return []Fact{}
	}
	return each(f.Items, func(f countersign.Fact) Fact { return Fact{f.Name, f.State, f.Value, f.Source} })
}

func verdict(v *countersign.Verdict) *Verdict {
	if v == nil {
		return nil
	}
	return &Verdict{v.Kind, each(v.Reasons, func(r countersign.Reason) Reason { return Reason(r) }), v.PolicyVersion, append([]string{}, v.Caveats...)}
}

func fix(o countersign.FixOutcome) Fix {
	f := Fix{State: or(o.State, countersign.FixNone), Entries: []Entry{}, Why: known(o.Why)}
	if i := o.Instruction; i != nil {
		f.Instruction = &Instruction{i.ID, i.State, known(i.Reference), known(i.Said), i.Attempts, due(i.AskedAt)}
	}
	if o.Fix == nil {
		return f
	}
	a := amount(o.Fix.Amount)
	f.Kind, f.TransactionID, f.Amount = &o.Fix.Kind, &o.Fix.TransactionID, &a
	f.Entries = each(o.Fix.Entries, entry)
	return f
}

func entry(e countersign.Entry) Entry {
	return Entry{e.AccountID, e.Direction, amount(e.Amount), e.Kind}
}
