// Package chain asks one model after another until one answers.
//
// The order is the operator's. A model whose server cannot be reached, refuses, is too slow or answers with something unreadable is
// followed by the next one, which is sent the same conversation; each turn begins at the top again, so that nothing depends on which
// process asked before. A caller that gave up is never answered by anybody else. What a model says is not judged here: a bad answer
// is an answer.
//
// A chain promises to tell all of it: who was asked, who was passed over and why, and what each may have cost. What no server said
// and somebody may have to pay is counted as if it had been used.
package chain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"countersign"
	"countersign/llm"
	"countersign/pipeline/budget"
)

// Link is one model of a chain.
type Link struct {
	Connection string    // what the settings call it
	Model      llm.Model // nil when it cannot be asked
	Identity   llm.Identity
	Lost       string    // why it cannot be asked: its key cannot be opened
	Price      llm.Price // zero while nobody has said
	Offline    bool      // the offline reviewer: in no budget, and never down
}

// Room says which budget has no room for a call, in a sentence, and is empty when there is room.
type Room func(ctx context.Context, call budget.Used) (spent string, err error)

// Chain is the models of a conversation, in their order. It is safe for concurrent use.
type Chain struct {
	links []Link
	downs *Downs
	log   *slog.Logger
	room  Room
}

// New is a chain of at least one link. What it learns of servers that are down it shares with every chain of the same Downs.
func New(downs *Downs, log *slog.Logger, links ...Link) *Chain {
	return &Chain{links: links, downs: downs, log: log}
}

// Within is the same chain for one case, whose budgets are asked before each call. Without, nothing is limited.
func (c *Chain) Within(room Room) *Chain {
	held := *c
	held.room = room
	return &held
}

// Identity is the model that is asked first.
func (c *Chain) Identity() llm.Identity { return c.links[0].Identity }

// Connections are the names of the links, in their order.
func (c *Chain) Connections() []string {
	names := make([]string, len(c.links))
	for i, l := range c.links {
		names[i] = l.Connection
	}
	return names
}

// Complete asks one after another. A link that was down a moment ago is passed over while somebody else can be asked, and asked after
// all when nobody else answered. The reply says who gave it, and the error, an *llm.Error, why nobody did.
func (c *Chain) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	a := asking{Chain: c, req: req}
	var resting []Link
	for _, l := range c.links {
		if !l.Offline && l.Lost == "" && c.downs.rests(l.Connection) {
			resting = append(resting, l)
			a.pass(l, llm.PassedOver, "its server did not answer a moment ago, and is left alone for a while")
			continue
		}
		if reply, done, err := a.ask(ctx, l); done {
			return reply, err
		}
	}
	for _, l := range resting {
		if reply, done, err := a.ask(ctx, l); done {
			return reply, err
		}
	}
	return llm.Reply{}, a.nobody()
}

// asking is one call under way.
type asking struct {
	*Chain
	req      llm.Request
	asked    []llm.Asked
	attempts []llm.Attempt
	last     *llm.Error // of the last that was really asked
}

// ask asks one link. It is done when that gave an answer, or when nobody may be asked any more.
func (a *asking) ask(ctx context.Context, l Link) (reply llm.Reply, done bool, err error) {
	if l.Lost != "" {
		a.pass(l, llm.PassedOver, l.Lost)
		return llm.Reply{}, false, nil
	}
	if spent, err := a.spent(ctx, l); err != nil || spent != "" {
		if err != nil {
			return llm.Reply{}, true, a.stopped(ctx, l, err)
		}
		a.pass(l, llm.NoBudget, spent)
		return llm.Reply{}, false, nil
	}
	reply, err = complete(ctx, l.Model, a.req)
	if err == nil {
		return a.answered(ctx, l, reply), true, nil
	}
	failure := a.failed(ctx, l, err)
	if failure.Kind == llm.Canceled || ctx.Err() != nil {
		return llm.Reply{}, true, a.gaveUp(failure)
	}
	return llm.Reply{}, false, nil
}

// complete makes the call. A provider that panics is a provider that gave no usable answer.
func complete(ctx context.Context, model llm.Model, req llm.Request) (reply llm.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &llm.Error{Kind: llm.Unreadable, Message: fmt.Sprintf("the provider panicked: %v", p)}
		}
	}()
	return model.Complete(ctx, req)
}

// spent says which budget has no room for asking a link.
func (a *asking) spent(ctx context.Context, l Link) (string, error) {
	if a.room == nil || l.Offline {
		return "", nil
	}
	return a.room(ctx, used(l, atLeast(a.req)))
}

// atLeast is what a call will use at least: what is sent, and a token of an answer.
func atLeast(req llm.Request) llm.Usage { return llm.Usage{Input: llm.Estimate(req) + 1, Output: 1} }

func used(l Link, u llm.Usage) budget.Used {
	return budget.Used{Tokens: countersign.AddCounts(u.Input, u.Output), Costs: l.cost(u)}
}

func (l Link) cost(u llm.Usage) countersign.Costs {
	if !l.Price.Set() {
		return nil
	}
	return countersign.Costs{}.Add(l.Price.Of(u))
}

// pass notes a link that was not asked.
func (a *asking) pass(l Link, kind llm.ErrorKind, why string) {
	a.asked = append(a.asked, llm.Asked{Connection: l.Connection, Identity: l.Identity, Kind: kind, Why: why})
}

// answered notes the link that gave the answer. One that did not say what it used is taken to have used what was sent and written.
func (a *asking) answered(ctx context.Context, l Link, reply llm.Reply) llm.Reply {
	who := llm.Asked{Connection: l.Connection, Identity: l.Identity, Attempts: len(reply.Attempts), Usage: reply.Usage}
	assumed := a.unsaid(reply.Attempts)
	if reply.Usage == nil && !l.Offline {
		assumed = plus(assumed, llm.Usage{Input: llm.Estimate(a.req), Output: llm.EstimateReply(reply)})
	}
	a.asked = append(a.asked, l.counted(who, assumed))
	reply.Attempts = append(a.attempts, of(l, reply.Attempts)...)
	reply.Asked = a.asked
	if a.downs.up(l.Connection) {
		a.log.InfoContext(ctx, "a model's server answers again", "connection", l.Connection)
	}
	return reply
}

// failed notes a link that gave no answer, and remembers a server that was down.
func (a *asking) failed(ctx context.Context, l Link, err error) *llm.Error {
	failure := typed(err)
	who := llm.Asked{Connection: l.Connection, Identity: l.Identity, Kind: failure.Kind, Why: failure.Message, Attempts: len(failure.Attempts),
		Request: failure.Request, Response: failure.Response}
	a.asked = append(a.asked, l.counted(who, a.unsaid(failure.Attempts)))
	a.attempts, a.last = append(a.attempts, of(l, failure.Attempts)...), failure
	down := failure.Kind == llm.Unreachable || failure.Kind == llm.TimedOut
	if down && ctx.Err() == nil && a.downs.down(l.Connection) {
		a.log.WarnContext(ctx, "a model's server does not answer, and is left alone for a while", "connection", l.Connection, "error", failure.Error(), "for", a.downs.rest.String())
	}
	return failure
}

// typed is the error as every provider should return it.
func typed(err error) *llm.Error {
	var failure *llm.Error
	if errors.As(err, &failure) {
		return failure
	}
	return &llm.Error{Kind: llm.Unreadable, Message: err.Error()}
}

// counted is a link that was asked, with what that used up.
func (l Link) counted(who llm.Asked, assumed llm.Usage) llm.Asked {
	if who.Usage != nil {
		who.Costs = l.cost(*who.Usage)
	}
	if assumed != (llm.Usage{}) {
		who.Assumed = &assumed
		who.Costs = who.Costs.Plus(l.cost(assumed))
	}
	return who
}

// unsaid is what attempts without an answer may have used: each read what was sent.
func (a *asking) unsaid(attempts []llm.Attempt) (sum llm.Usage) {
	for _, attempt := range attempts {
		if attempt.MaybePaid {
			sum = plus(sum, llm.Usage{Input: llm.Estimate(a.req)})
		}
	}
	return sum
}

func plus(u, more llm.Usage) llm.Usage {
	return llm.Usage{Input: countersign.AddCounts(u.Input, more.Input), Output: countersign.AddCounts(u.Output, more.Output)}
}

// of says whose the attempts were.
func of(l Link, attempts []llm.Attempt) []llm.Attempt {
	named := slices.Clone(attempts)
	for i := range named {
		named[i].Connection = l.Connection
	}
	return named
}

// gaveUp is a call whose caller went away: whoever is next in order is none of its business any more.
func (a *asking) gaveUp(failure *llm.Error) *llm.Error {
	ended := *failure
	ended.Attempts, ended.Asked = a.attempts, a.asked
	return &ended
}

// stopped is a call before which nobody could say whether there is room for it.
func (a *asking) stopped(ctx context.Context, l Link, err error) *llm.Error {
	const why = "what models have used could not be read"
	kind := llm.Canceled
	if ctx.Err() == nil {
		kind = llm.NoBudget
		a.pass(l, kind, why)
	}
	return &llm.Error{Kind: kind, Message: why + ": " + err.Error(), Attempts: a.attempts, Asked: a.asked, Err: ctx.Err()}
}

// nobody is a call that no link answered. A budget is its reason only where no server failed: that more money would have helped is
// not known of the others.
func (a *asking) nobody() *llm.Error {
	e := &llm.Error{Kind: llm.Unreachable, Attempts: a.attempts, Asked: a.asked}
	var why []string
	for _, who := range a.asked {
		if who.Kind == llm.NoBudget && a.last == nil {
			e.Kind = llm.NoBudget
		}
		why = append(why, who.Connection+": "+who.Why)
	}
	if a.last != nil {
		e.Kind, e.Request, e.Response = a.last.Kind, a.last.Request, a.last.Response
	}
	e.Message = strings.Join(why, "; ")
	return e
}
