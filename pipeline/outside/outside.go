// Package outside has others carry out what was decided, once, and finds out what they did.
//
// An act outside our database cannot commit with it, so it has three steps. The intent is written in the transaction that decides, with
// the bytes that will be sent and the key they are sent under. A worker claims it, commits that claim, and only then asks. What came
// back is kept with the books and the case, in one transaction. Between any two of these the process may die: whoever takes it up next
// sees that somebody may have asked, so it asks what became of it before it asks for anything.
//
// No answer is ever taken for a no. What cannot be found out is a state of its own, and a person's: until they know, nothing else of the
// same fix is sent. The package decides nothing and reaches nobody itself: it is handed the two questions that it asks.
package outside

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/pipeline/execute"
	"countersign/store"
)

// Recipient is somebody outside who was asked to carry something out.
type Recipient struct {
	Post     func(context.Context) Answer // sends the instruction; under its key it is carried out once, however often it arrives
	State    func(context.Context) Answer // asks what became of it, and changes nothing
	Patience Patience
}

// Patience is how long they are asked before a person must find out.
type Patience struct {
	Call    time.Duration // one question and its answer
	First   time.Duration // before the second question; each wait is twice the one before, up to five minutes
	Tries   int           // questions in a row without an answer that can be used
	Within  time.Duration // the time that those may take
	Pending time.Duration // that they may say that they are at it
}

// Kind is what an answer means.
type Kind int

const (
	Unclear   Kind = iota // it says nothing: none came, or none that can be understood
	Confirmed             // they carried it out
	Rejected              // they did not, and will not
	Pending               // they have it, and have not ended
	NeverSeen             // they never had it
)

// Answer is what came back.
type Answer struct {
	Kind      Kind
	Reference string // theirs: other people's text
	Said      string // of a rejection: other people's text
	Exchange  store.Exchange
}

// Sender carries instructions to their recipients. It is safe for concurrent use.
type Sender struct {
	Store *store.Store
	// To is who an instruction goes to. A *countersign.Error, such as that a secret cannot be opened, is an answer that says nothing; any
	// other error is of our own database, and nobody was asked.
	To     func(context.Context, store.Instruction) (Recipient, error)
	Worker string // names this process in the record
	Log    *slog.Logger
	Closed func(countersign.Case) // told of each case that was closed; nil when nobody measures
}

// Carry takes an instruction a step further. One that another worker holds, that is to wait, or that has ended is left alone. An error
// means that the database could not be reached: what was found out is asked again.
func (s Sender) Carry(ctx context.Context, id string) error {
	i, err := s.Store.Instruction(ctx, id)
	if err != nil {
		return err
	}
	to, err := s.To(ctx, i)
	var told *countersign.Error
	switch {
	case errors.As(err, &told):
		s.Log.ErrorContext(ctx, "the recipient of an instruction cannot be asked", "instruction", id, "error", err)
		problem := Answer{Exchange: store.Exchange{Problem: told.Error()}}
		nobody := func(context.Context) Answer { return problem }
		to = Recipient{Post: nobody, State: nobody}
	case err != nil:
		return err
	}
	to.Patience = to.Patience.filled()
	i, ok, err := s.take(ctx, id, to.Patience)
	if err != nil || !ok {
		return err
	}
	// The answer is kept although the program stops: it is what was waited for.
	err = s.keep(context.WithoutCancel(ctx), i, to.Patience, s.ask(ctx, i, to))
	if errors.Is(err, store.ErrLeaseLost) {
		return nil // somebody else has found out
	}
	return err
}

func (p Patience) filled() Patience {
	if p.Call <= 0 {
		p.Call = 30 * time.Second
	}
	if p.First <= 0 {
		p.First = 2 * time.Second
	}
	if p.Tries <= 0 {
		p.Tries = 10
	}
	if p.Within <= 0 {
		p.Within = 15 * time.Minute
	}
	if p.Pending <= 0 {
		p.Pending = 24 * time.Hour
	}
	return p
}

// take claims the instruction for as long as two questions can take.
func (s Sender) take(ctx context.Context, id string, p Patience) (i store.Instruction, ok bool, err error) {
	err = s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		i, ok, err = tx.TakeInstruction(ctx, id, 2*p.Call+15*time.Second)
		return err
	})
	return i, ok && err == nil, err
}

// ask sends the instruction if nobody can have sent it before, and else asks what became of it. What they never had is sent again, under
// the same key.
func (s Sender) ask(ctx context.Context, i store.Instruction, to Recipient) (answers []Answer) {
	put := func(asked string, question func(context.Context) Answer) Answer {
		ctx, cancel := context.WithTimeout(ctx, to.Patience.Call)
		defer cancel()
		at := s.Store.Now()
		a := question(ctx)
		a.Exchange.Asked, a.Exchange.Attempt, a.Exchange.At = asked, i.Attempts, at
		answers = append(answers, a)
		return a
	}
	if i.Altered {
		to.Post = func(context.Context) Answer {
			return Answer{Exchange: store.Exchange{Problem: "nothing was sent: the instruction was changed where it is kept"}}
		}
	}
	if i.Attempts > 1 {
		if put("state", to.State).Kind != NeverSeen || i.Acknowledged {
			return answers
		}
	}
	put("post", to.Post)
	return answers
}

// keep writes what was found out.
func (s Sender) keep(ctx context.Context, i store.Instruction, p Patience, answers []Answer) error {
	last := answers[len(answers)-1]
	told := Told{Reference: last.Reference, Said: last.Said}
	for _, a := range answers {
		told.Exchanges = append(told.Exchanges, a.Exchange)
	}
	switch last.Kind {
	case Confirmed:
		err := s.on(ctx, i, told, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
			return Close(ctx, tx, c, i, told)
		})
		var refused *execute.Refused
		if errors.As(err, &refused) {
			told.Why = "it was confirmed, and the books here refuse the entries: " + refused.Why
			return s.unsettled(ctx, i, told)
		}
		return err
	case Rejected:
		return s.on(ctx, i, told, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
			return Decline(ctx, tx, c, i, told)
		})
	case Pending:
		return s.pending(ctx, i, p, told)
	}
	return s.unclear(ctx, i, p, told, last)
}

// on runs f on the locked case that waits for the instruction, saves it and records what f says, in one transaction.
func (s Sender) on(ctx context.Context, i store.Instruction, told Told, f func(context.Context, *store.Tx, *countersign.Case) ([]store.Note, error)) error {
	actor := countersign.Actor{Kind: countersign.Worker, ID: s.Worker}
	return s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		c, err := tx.LockCase(ctx, i.Case)
		if err != nil {
			return err
		}
		if c.Status != countersign.AwaitingConfirmation || c.Fix.Instruction == nil || c.Fix.Instruction.ID != i.ID {
			return fmt.Errorf("case %s does not wait for instruction %s: %w", c.ID, i.ID, store.ErrLeaseLost)
		}
		c.Fix.Instruction = told.onto(*c.Fix.Instruction, i, tx.Now)
		notes, err := f(ctx, tx, &c)
		if err != nil {
			return err
		}
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		if c.Status == countersign.Closed && s.Closed != nil {
			tx.AfterCommit(func() { s.Closed(c) })
		}
		return tx.Record(ctx, c.ID, actor, notes...)
	})
}

// pending waits for those who are at it, and not for ever.
func (s Sender) pending(ctx context.Context, i store.Instruction, p Patience, told Told) error {
	i.Acknowledged, i.Failures, i.FailingSince = true, 0, time.Time{}
	if s.Store.Now().Sub(i.RequestedAt) > p.Pending {
		told.Why = "they have it, and have not said for " + p.Pending.String() + " what became of it"
		return s.unsettled(ctx, i, told)
	}
	return s.later(ctx, i, p.wait(i.Attempts), told)
}

// unclear asks again a little later each time. What they had acknowledged and now never had is nothing that more questions would
// clear up.
func (s Sender) unclear(ctx context.Context, i store.Instruction, p Patience, told Told, last Answer) error {
	i.Failures++
	if i.FailingSince.IsZero() {
		i.FailingSince = s.Store.Now()
	}
	switch {
	case last.Kind == NeverSeen && i.Acknowledged:
		told.Why = "they had acknowledged it, and now say that they never had it"
	case i.Failures >= p.Tries, s.Store.Now().Sub(i.FailingSince) > p.Within:
		told.Why = fmt.Sprintf("they were asked %d times since and gave no answer that can be used; at last: %s", i.Failures, last.Exchange.Problem)
	default:
		return s.later(ctx, i, p.wait(i.Failures), told)
	}
	return s.unsettled(ctx, i, told)
}

func (s Sender) unsettled(ctx context.Context, i store.Instruction, told Told) error {
	return s.on(ctx, i, told, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		return unsettle(ctx, tx, c, i, told)
	})
}

// later lets go of the instruction until it is time to ask again.
func (s Sender) later(ctx context.Context, i store.Instruction, wait time.Duration, told Told) error {
	return s.on(ctx, i, told, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		i.Wait = wait
		return []store.Note{{Kind: audit.Note, Payload: asked{c.Round, i.ID, told.Exchanges}}}, tx.KeepInstruction(ctx, i)
	})
}

// asked is the payload of a row of kind note: a question to those outside that settled nothing.
type asked struct {
	Round       int              `json:"round"`
	Instruction string           `json:"instruction"`
	Exchanges   []store.Exchange `json:"exchanges"`
}

// wait is how long to wait after so many questions.
func (p Patience) wait(questions int) time.Duration {
	const most = 5 * time.Minute
	wait := p.First
	for n := 1; n < questions && wait < most; n++ {
		wait *= 2
	}
	return min(wait, most)
}
