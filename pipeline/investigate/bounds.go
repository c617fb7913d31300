package investigate

import "time"

// Bounds are the limits of one conversation. Reaching one is recorded in the turn that reached it, and ends with a person.
type Bounds struct {
	Turns        int           // model turns before the final, forced one
	CallsPerTurn int           // tool calls answered in one turn; the rest get an error result
	CallsPerCase int           // tool calls answered in one investigation; the next one ends it
	Tokens       int64         // input plus output, as reported; a server that reports none is held by the other bounds
	Wall         time.Duration // spent on turns, time-outs included; the time between a crash and a restart is not counted
}

// DefaultBounds are used for every bound that is not set. Eight turns is what an investigation of eight tools needs with
// one call a turn; the others are wide enough that an honest model never meets them.
var DefaultBounds = Bounds{Turns: 8, CallsPerTurn: 16, CallsPerCase: 40, Tokens: 400_000, Wall: 5 * time.Minute}

// set returns b with the default in place of every bound that is missing or makes no sense.
func (b Bounds) set() Bounds {
	return Bounds{
		Turns:        positive(b.Turns, DefaultBounds.Turns),
		CallsPerTurn: positive(b.CallsPerTurn, DefaultBounds.CallsPerTurn),
		CallsPerCase: positive(b.CallsPerCase, DefaultBounds.CallsPerCase),
		Tokens:       positive(b.Tokens, DefaultBounds.Tokens),
		Wall:         positive(b.Wall, DefaultBounds.Wall),
	}
}

func positive[N int | int64 | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
