// Package scripted is a model that says what it was told to say, for tests and for the demo's failing models.
//
// It keeps no position. Which answer is next follows from how many assistant messages the request holds, so one Model
// serves any number of conversations at once and goes on at the right place after a crash. A caller that does not append
// a turn to the conversation is given the same answer again.
package scripted

import (
	"context"
	"fmt"

	"countersign/llm"
)

// Model plays a script.
type Model struct {
	play func(n int, req llm.Request) (llm.Reply, error)
}

// New plays the replies in order. Past the last one the model is unreachable.
func New(replies ...llm.Reply) *Model {
	return Func(func(n int, _ llm.Request) (llm.Reply, error) {
		if n >= len(replies) {
			return llm.Reply{}, Fail(llm.Unreachable, fmt.Sprintf("the script has %d answers, and this is turn %d", len(replies), n+1))
		}
		return replies[n], nil
	})
}

// Func asks fn for each answer. n counts from 0. fn is called from many goroutines and should depend on its arguments
// alone; an error it returns is passed on as it is, so make it with Fail.
func Func(fn func(n int, req llm.Request) (llm.Reply, error)) *Model { return &Model{fn} }

// Say is an answer in words.
func Say(text string) llm.Reply { return llm.Reply{Text: text, Stop: llm.StopEnd} }

// Calls is an answer of tool calls. They are given ids when they are played.
func Calls(calls ...llm.Call) llm.Reply { return llm.Reply{Calls: calls, Stop: llm.StopTools} }

// Call is one tool call for Calls. args is what the model would write, broken or not.
func Call(tool, args string) llm.Call { return llm.Call{Name: tool, Args: args} }

// Fail is the error of a call that gave no usable answer.
func Fail(kind llm.ErrorKind, message string) *llm.Error {
	return &llm.Error{Kind: kind, Message: message}
}

// NoUsage in a reply stands for a server that reports no usage; a nil Usage is filled with an estimate.
var NoUsage = &llm.Usage{}

// Identity is the same for every script.
func (m *Model) Identity() llm.Identity { return llm.Identity{Provider: "scripted", Name: "script"} }

// Complete plays the next answer. What the answer leaves empty is filled in: ids, recorded bytes, and a usage of four
// bytes a token.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Canceled, Message: "the caller gave up", Err: err}
	}
	reply, err := m.play(req.Turn()-1, req)
	if err != nil {
		return llm.Reply{}, err
	}
	return fill(reply, req), nil
}

func fill(reply llm.Reply, req llm.Request) llm.Reply {
	reply.Calls = append([]llm.Call(nil), reply.Calls...) // the script is shared, so its calls are numbered in a copy
	req.Number(reply.Calls)
	if reply.Request == nil {
		reply.Request = req.Transcript()
	}
	if reply.Response == nil {
		reply.Response = reply.Transcript()
	}
	switch reply.Usage {
	case nil:
		reply.Usage = &llm.Usage{Input: int64(len(reply.Request) / 4), Output: int64(len(reply.Response) / 4)}
	case NoUsage:
		reply.Usage = nil
	}
	return reply
}
