package investigate

import (
	"encoding/base64"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"countersign"
	"countersign/llm"
	"countersign/redact"
)

// Turn is one model turn as it is recorded: the exact bytes both ways, what was read in them, and the steps that followed.
// It survives JSON unchanged: a conversation can go on from a turn that was stored and read back.
type Turn struct {
	Number   int                 `json:"turn"` // 1, 2, …; the final forced call is Bounds.Turns+1
	Request  Exact               `json:"request"`
	Response Exact               `json:"response"`
	Text     string              `json:"text,omitempty"`
	Calls    []llm.Call          `json:"calls,omitempty"`
	Opaque   Exact               `json:"opaque,omitempty"` // text, because JSON inside JSON is respelled when it is stored
	Stop     llm.Stop            `json:"stop,omitempty"`
	Thinking bool                `json:"thinking,omitempty"` // reasoning came; it is never read as an answer
	Usage    *llm.Usage          `json:"usage,omitempty"`
	Attempts []llm.Attempt       `json:"attempts,omitempty"`
	Asked    []Asked             `json:"asked,omitempty"`   // who was asked, where there were several to ask; else it was the round's model
	Error    string              `json:"error,omitempty"`   // why no usable answer came
	Failure  countersign.Failure `json:"failure,omitempty"` // set when the conversation ended here without a decision
	Note     string              `json:"note,omitempty"`    // one sentence: what was done about a turn that was not as it should be
	At       time.Time           `json:"at"`
	Took     time.Duration       `json:"took_ns"` // the model's time and the tools'
	Steps    []countersign.Step  `json:"-"`       // recorded as rows of their own, one for each call, in the order of Calls
}

// Asked is one of several models that were asked in a turn. What went to one that gave no answer is kept beside it; of the one that gave
// it, that is the turn's own.
type Asked struct {
	llm.Asked
	Request  Exact `json:"request,omitempty"`
	Response Exact `json:"response,omitempty"`
}

func recordedOf(asked []llm.Asked) []Asked {
	var all []Asked
	for _, who := range asked {
		who.Why = masked(errors.New(who.Why))
		all = append(all, Asked{who, exact(who.Request), exact(who.Response)})
	}
	for i := range all {
		all[i].Asked.Request, all[i].Asked.Response = nil, nil // the same in memory as it is when it was read back
	}
	return all
}

// By is who answered, as far as the turn knows: a turn of a round with one model does not say.
func (turn Turn) By() (who llm.Asked, ok bool) {
	if n := len(turn.Asked); n > 0 && turn.Asked[n-1].Answered() {
		return turn.Asked[n-1].Asked, true
	}
	return llm.Asked{}, false
}

// Exact is bytes that went over a wire, kept as text: as they are when they are UTF-8, else in base64 after the marker
// "base64:". Text that happens to begin with the marker is kept in base64 too, so that nothing is read back as something
// else.
type Exact string

const inBase64 = "base64:"

func exact(b []byte) Exact {
	if utf8.Valid(b) && !strings.HasPrefix(string(b), inBase64) {
		return Exact(b)
	}
	return Exact(inBase64 + base64.StdEncoding.EncodeToString(b))
}

// Bytes returns what went over the wire. Text with a damaged marker is returned as it stands.
func (e Exact) Bytes() []byte {
	if e == "" {
		return nil
	}
	if coded, ok := strings.CutPrefix(string(e), inBase64); ok {
		if b, err := base64.StdEncoding.DecodeString(coded); err == nil {
			return b
		}
	}
	return []byte(e)
}

// hear takes down a reply. Text that is not UTF-8 is repaired here and not when it is stored, so that the turn in memory and
// the turn read back are the same; the exact bytes are in Response.
func (turn *Turn) hear(request llm.Request, reply llm.Reply) {
	turn.Request, turn.Response, turn.Opaque = exact(reply.Request), exact(reply.Response), exact(reply.Opaque)
	turn.Text = valid(reply.Text)
	turn.Calls = ours(request, reply.Calls)
	turn.Stop, turn.Thinking, turn.Usage, turn.Attempts = reply.Stop, reply.Thinking, reply.Usage, reply.Attempts
	turn.Asked = recordedOf(reply.Asked)
}

// ours copies the calls of a reply. Providers give ids of ours; should one fail to, all of them are numbered again, because
// a result is told from another by its id alone.
func ours(request llm.Request, calls []llm.Call) []llm.Call {
	var copied []llm.Call
	seen := map[string]bool{"": true}
	again := false
	for _, call := range calls {
		again = again || seen[call.ID]
		seen[call.ID] = true
		copied = append(copied, llm.Call{ID: valid(call.ID), Name: valid(call.Name), Args: valid(call.Args)})
	}
	if again {
		request.Number(copied)
	}
	return copied
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// end closes the conversation at this turn. The first reason stands: what follows from it is not another one.
func (turn *Turn) end(failure countersign.Failure, note string) {
	if turn.Failure == "" {
		turn.Failure, turn.Note = failure, redact.Mask(note).String()
	}
}

// cut reports whether the i-th call is what the server was writing when it stopped. Its arguments may look complete all the
// same: some servers close the brackets themselves.
func (turn Turn) cut(i int) bool { return turn.Stop == llm.StopLength && i == len(turn.Calls)-1 }
