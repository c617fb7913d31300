package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign"
	"countersign/pipeline/policy"
)

// automatic says in a sentence what the limits let happen without a person, were they in force.
func automatic(l policy.Limits) string {
	if len(l.AllowedTypes) == 0 || len(l.Caps) == 0 {
		return "Nothing can be automatic under these limits."
	}
	var types, caps []string
	for _, t := range l.AllowedTypes {
		types = append(types, complaint(countersign.DisputeReason(t)))
	}
	for _, currency := range slices.Sorted(maps.Keys(l.Caps)) {
		caps = append(caps, countersign.Money{Minor: l.Caps[currency], Currency: currency}.String())
	}
	return fmt.Sprintf("%s under %s, when the records support the fix by themselves, the model states at least %v, and at least %d records bear it out.",
		capital(strings.Join(types, " and ")), strings.Join(caps, ", "), l.MinConfidence, l.MinEvidence)
}
