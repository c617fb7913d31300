package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Why a call's arguments cannot be used. A cut call was longer than the server let it be; a malformed one was written
// wrong. An analyst does different things about the two, so they are never mixed up.
var (
	ErrArgsCut       = errors.New("arguments end in the middle of their JSON")
	ErrArgsMalformed = errors.New("arguments are not a JSON object")
)

// Object returns the arguments as one JSON object. Nothing at all is the empty object, because many models write nothing
// for a tool without parameters. Anything else is an error that wraps ErrArgsCut or ErrArgsMalformed, and such a call is
// never run.
//
// Unknown fields and repeated keys are not looked for: that is the tool's business.
func (c Call) Object() (json.RawMessage, error) {
	args := strings.TrimSpace(c.Args)
	if args == "" {
		return json.RawMessage(`{}`), nil
	}
	if json.Valid([]byte(args)) {
		return object(args)
	}
	return nil, brokenArgs(args)
}

func object(args string) (json.RawMessage, error) {
	if args[0] != '{' {
		return nil, fmt.Errorf("%w: they begin with %q", ErrArgsMalformed, args[:1])
	}
	return json.RawMessage(args), nil
}

// brokenArgs reads token by token, because only a reader that wanted more input tells a cut from a mistake.
func brokenArgs(args string) error {
	d := json.NewDecoder(strings.NewReader(args))
	var first json.RawMessage
	switch err := d.Decode(&first); {
	case err == nil:
		return fmt.Errorf("%w: there is more text after them", ErrArgsMalformed)
	case errors.Is(err, io.ErrUnexpectedEOF) && args[0] == '{':
		return ErrArgsCut
	default:
		return fmt.Errorf("%w: %s", ErrArgsMalformed, err)
	}
}

// Replayable returns what is sent back as the arguments in a later turn: the object itself, or {} in place of anything
// broken. Servers answer 500 to a history with broken arguments in it, which would make one bad turn the last one.
func (c Call) Replayable() string {
	args, err := c.Object()
	if err != nil {
		return `{}`
	}
	return string(args)
}

// ReplayableName is the tool's name, or a stand-in for one that no protocol allows: a model can write any name, and a server
// that refuses it in the history refuses every later turn.
func (c Call) ReplayableName() string {
	if toolName.MatchString(c.Name) {
		return c.Name
	}
	return "no_such_tool"
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Turn is the number of the turn that an answer to r would be: 1 and counting, from the assistant messages so far. It is
// the same in whichever process asks, so whatever is derived from it survives a restart.
func (r Request) Turn() int {
	turn := 1
	for _, m := range r.Messages {
		if m.Role == Assistant {
			turn++
		}
	}
	return turn
}

// Number gives every call an id of ours that no earlier message of the conversation uses: c00020001 is the first call of
// the second turn. Nine letters and digits, because some servers take ids of no other form.
//
// Calls are numbered in place. Whatever id they had is dropped.
func (r Request) Number(calls []Call) {
	turn := r.Turn()
	for r.uses(prefix(turn)) {
		turn++
	}
	for i := range calls {
		calls[i].ID = fmt.Sprintf("%s%04d", prefix(turn), i+1)
	}
}

func prefix(turn int) string { return fmt.Sprintf("c%04d", turn) }

// uses reports whether an earlier call has such an id. It can only have one if the caller dropped a turn from the
// history, and then a second call of the same id would be worse than a gap in the numbers.
func (r Request) uses(prefix string) bool {
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			if strings.HasPrefix(c.ID, prefix) {
				return true
			}
		}
	}
	return false
}

// Offers reports whether the request offers a tool of that name.
func (r Request) Offers(name string) bool {
	for _, t := range r.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}
