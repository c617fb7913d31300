package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/pipeline/verify"
	"countersign/store"
)

// tale is an invented case with everything that its page is made of: how it stands, what the bank's books hold, what the model was
// shown. Its record is written from these, as the pipeline would have written it.
type tale struct {
	countersign.Case
	desk    desk.Desk
	display desk.Display
	steps   []countersign.Step

	documents []verify.Document // what the proposal quotes from
	exhibits  []store.Exhibit   // files that people added
	typed     []countersign.TypedFact
	now       *countersign.Facts // what the records say now, when that is not what the case was judged on
	before    []deed             // what happened in the rounds before this one; nil for a model that did not answer
	later     []deed             // what happened after the verdict
	heard     heard              // what providers said
	holder    store.Claim
	earlier   []countersign.Case
	none      bool // the desk cannot show its records now
}

// deed is something that happened to a case.
type deed struct {
	after   time.Duration
	kind    audit.Kind
	by      countersign.Actor
	payload any
}

// fields are a payload, by name.
type fields map[string]any

var (
	aProgram  = countersign.Actor{Kind: countersign.Token, ID: "tok_core"}
	aWorker   = countersign.Actor{Kind: countersign.Worker, ID: "desk-1/4711"}
	thePolicy = countersign.Actor{Kind: countersign.Policy, ID: "p-fab51dda3c001e92"}
)

// file is the case as a page would have loaded it, with its record verified.
func (t *tale) file() *file {
	d := t.written()
	f := &file{Case: t.Case, desk: t.desk, display: t.display, documents: t.documents, exhibits: t.exhibits, typed: t.typed, rows: d.rows, head: d.head, names: colleagues, earlier: t.earlier,
		heard: t.heard, holder: t.holder, held: t.holder.PersonID != ""}
	f.report, f.reported = d.verified(t.Case), reportedRounds(f.rows)
	switch {
	case t.now != nil:
		f.now, f.stale = *t.now, true
	case t.Facts != nil:
		f.now = *t.Facts
	}
	if t.none {
		f.unreadable = "The records of this case cannot be read now."
	}
	return f
}

// written is the record of the case, as far as its case has come.
func (t *tale) written() *diary {
	d := &diary{head: audit.Head{Case: t.ID}, at: t.OpenedAt}
	d.write(deed{0, audit.Opened, aProgram, fields{"round": 1, "status": countersign.Queued, "desk": t.Desk, "subject": t.Subject, "reason": t.Reason,
		"notes": t.Notes, "amount": t.Amount}})
	if t.Status == countersign.Queued {
		return d
	}
	for _, happened := range t.before {
		d.write(happened)
	}
	for round := 1; round < t.Round && t.before == nil; round++ {
		t.triedInVain(d, round)
	}
	d.write(deed{400 * time.Millisecond, audit.Started, aWorker, fields{"round": t.Round, "status": countersign.Investigating,
		"model": fields{"provider": t.Model.Provider, "name": t.Model.Name}}})
	for _, s := range t.steps { // what code looked at before the model's first turn
		if s.Turn == 0 {
			s.At = d.at
			d.write(deed{s.Took, audit.ToolCall, aWorker, stepPayload{t.Round, s}})
		}
	}
	t.turns(d)
	if t.Status == countersign.Investigating {
		return d
	}
	d.write(deed{12 * time.Millisecond, audit.Facts, aWorker, fields{"round": t.Round, "facts": t.Facts}})
	d.write(deed{time.Millisecond, audit.Proposal, aWorker, fields{"round": t.Round, "proposal": t.Proposal, "evidence": t.evidence()}})
	d.write(deed{time.Millisecond, audit.Verdict, aWorker, fields{"round": t.Round, "status": countersign.InReview, "verdict": t.Verdict}})
	for _, happened := range t.later {
		d.write(happened)
	}
	return d
}

// triedInVain is an earlier round, whose model did not answer.
func (t *tale) triedInVain(d *diary, round int) {
	d.write(deed{400 * time.Millisecond, audit.Started, aWorker, fields{"round": round, "status": countersign.Investigating,
		"model": fields{"provider": t.Model.Provider, "name": t.Model.Name}}})
	d.write(deed{30 * time.Second, audit.ModelTurn, aWorker, fields{"round": round, "turn": 1, "error": "no answer in time", "took_ns": 30 * time.Second}})
	d.write(deed{time.Second, audit.Proposal, aWorker, fields{"round": round, "proposal": countersign.Proposal{Failure: countersign.TimedOut}}})
	d.write(deed{time.Millisecond, audit.Verdict, aWorker, fields{"round": round, "status": countersign.InReview,
		"verdict": countersign.Verdict{Kind: countersign.Review, Reasons: []countersign.Reason{{Code: countersign.ModelFailed}}}}})
	d.write(deed{7 * time.Minute, audit.Decision, anAnalyst.Actor, fields{"round": round + 1, "status": countersign.Queued, "verb": "retry"}})
}

// turns are the model's turns, and what each of them read.
func (t *tale) turns(d *diary) {
	for turn := 1; ; turn++ {
		var asked []fields
		var answers []deed
		for _, s := range t.steps {
			if s.Turn == turn {
				asked = append(asked, fields{"name": s.Tool, "args": "{}"})
				s.At = d.at
				answers = append(answers, deed{s.Took, audit.ToolCall, aWorker, stepPayload{t.Round, s}})
			}
		}
		if len(asked) == 0 {
			break
		}
		t.turn(d, turn, fields{"calls": asked})
		for _, answer := range answers {
			d.write(answer)
		}
	}
	if p := t.Proposal; p != nil && p.Failure != "" {
		t.turn(d, p.Turn, fields{"error": "no answer in time", "note": "the connection was kept open for 30 seconds and nothing came"})
	}
}

func (t *tale) turn(d *diary, n int, said fields) {
	took := 2300*time.Millisecond + time.Duration(n)*370*time.Millisecond
	row := fields{"round": t.Round, "turn": n, "took_ns": took, "request": "{\"system\":\"You investigate one disputed payment for the disputes desk of a bank. …\"}"}
	if said["error"] == nil {
		row["usage"] = fields{"input": 900 + 1100*(n-1), "output": 130 * n}
	}
	for name, value := range said {
		row[name] = value
	}
	d.write(deed{took, audit.ModelTurn, aWorker, row})
}

// stepPayload is how the record keeps a step.
type stepPayload struct {
	Round int `json:"round"`
	countersign.Step
}

func (t *tale) evidence() countersign.Evidence {
	e := countersign.Evidence{Claims: t.Proposal.Claims}
	for _, c := range t.Proposal.Claims {
		for _, cited := range c.Citations {
			if cited.Status != countersign.CitationVerified {
				e.Invalid = append(e.Invalid, string(cited.Ref)+" "+cited.Field)
			}
		}
	}
	return e
}

// diary is a record on its way, one row after the other, with an intact chain.
type diary struct {
	head audit.Head
	at   time.Time
	rows []store.RecordRow
}

func (d *diary) write(happened deed) {
	d.at = d.at.Add(happened.after)
	payload, err := json.Marshal(happened.payload)
	entry := audit.Entry{Kind: happened.kind, Actor: happened.by, At: d.at.UnixMicro(), Salt: audit.Salt{1, byte(d.head.Seq)}, Payload: payload}
	rows, head, refused := audit.Append(d.head, entry)
	if err != nil || refused != nil {
		panic(fmt.Sprint("an invented record cannot be written: ", err, refused)) // unreachable unless a sample is not what the record takes
	}
	d.head = head
	d.rows = append(d.rows, store.RecordRow{Row: rows[0], Payload: &audit.Payload{Salt: entry.Salt[:], Bytes: payload}})
}

// verified is what the verifier says of the record as it stands.
func (d *diary) verified(c countersign.Case) audit.Report {
	v := audit.NewVerifier()
	v.Case(d.head, audit.Projection{Status: c.Status, Outcome: c.Outcome})
	for _, row := range d.rows {
		v.Row(row.Row, row.Payload)
	}
	return v.Report()
}

// tampered is the case after somebody with the database's password has changed the payload of a row.
func (f *file) tampered(seq int, was, is string) *file {
	d := diary{head: f.head, rows: f.rows}
	p := *d.rows[seq-1].Payload
	p.Bytes = []byte(strings.Replace(string(p.Bytes), was, is, 1))
	d.rows[seq-1].Payload = &p
	f.report = d.verified(f.Case)
	return f
}

// close ends the case as somebody decided it.
func (t *tale) close(after time.Duration, by countersign.Actor, outcome countersign.Outcome, handled countersign.HandledBy) {
	t.Status, t.Outcome, t.HandledBy = countersign.Closed, outcome, handled
	t.later = append(t.later, deed{after, audit.Closed, by, fields{"round": t.Round, "status": t.Status, "outcome": outcome, "handled_by": handled}})
}

// decide adds what a person decided.
func (t *tale) decide(after time.Duration, by countersign.Actor, verb string, more fields) {
	row := fields{"round": t.Round, "status": countersign.InReview, "verb": verb}
	for name, value := range more {
		row[name] = value
	}
	t.later = append(t.later, deed{after, audit.Decision, by, row})
}

// post posts the planned fix.
func (t *tale) post(after time.Duration, by countersign.Actor) {
	t.Fix.State = countersign.FixPosted
	t.later = append(t.later, deed{after, audit.Fix, by, fields{"round": t.Round, "fix": t.Fix.Fix}})
}
