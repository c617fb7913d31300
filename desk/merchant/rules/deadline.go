package rules

import (
	"time"

	"countersign"
)

// deadline is a fact even when it is not known: nobody may invent one. What is late is said, and only a person can still act on it.
func deadline(in Input) []finding {
	const name = "in_time"
	if in.DueAt == nil {
		return []finding{unknown(name, "", "the chargeback")}
	}
	due := in.DueAt.UTC().Format(time.RFC3339)
	if !in.Now.Before(*in.DueAt) {
		return []finding{absent(name, due, "the chargeback").because(countersign.DeadlinePassed, "The deadline has passed (%s): an answer may not be taken any more.", due)}
	}
	return []finding{present(name, due, "the chargeback")}
}
