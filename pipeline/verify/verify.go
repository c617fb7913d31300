// Package verify checks that every citation of a proposal points at something real: a step of this investigation that
// succeeded, had finished before the decision was written, and holds exactly the cited value at the cited place.
//
// It promises no more than that. A verified citation shows that a value is in the records the model was shown; whether the
// claim beside it follows from the value is for code that reads the records itself, or for a person. It never repairs a
// citation, guesses what was meant, or compares numbers as numbers.
//
// It is pure: the same proposal and steps give the same evidence.
package verify

import (
	"fmt"
	"slices"
	"strings"

	"countersign"
)

// Citations returns the proposal's claims with the status of every citation, the distinct steps that a verified citation
// points at, in the order they were made, and one sentence for each claim without a citation and each citation that names
// nothing real (the same one twice is one). A proposal without claims has no evidence, and nothing invalid either.
//
// strip removes from a cited value what the model was shown around it and the stored result does not have (the fence); nil
// removes nothing. The proposal is left as it is.
func Citations(p countersign.Proposal, steps []countersign.Step, strip func(string) string) countersign.Evidence {
	c := checker{turn: p.Turn, steps: byRef(steps), strip: strip, said: map[string]bool{}}
	e := countersign.Evidence{Claims: make([]countersign.Claim, 0, len(p.Claims)), Steps: []countersign.StepRef{}, Invalid: []string{}}
	proven := map[countersign.StepRef]bool{}
	for _, claim := range p.Claims {
		claim.Citations = slices.Clone(claim.Citations)
		if len(claim.Citations) == 0 {
			claim.Citations = []countersign.Citation{}
			c.object(fmt.Sprintf("The claim %s cites nothing.", quoted(claim.Text)))
		}
		for i := range claim.Citations {
			cited := &claim.Citations[i]
			cited.Status = c.check(*cited)
			proven[cited.Ref] = proven[cited.Ref] || cited.Status == countersign.CitationVerified
		}
		e.Claims = append(e.Claims, claim)
	}
	for _, step := range steps {
		if proven[step.Ref] && !slices.Contains(e.Steps, step.Ref) {
			e.Steps = append(e.Steps, step.Ref)
		}
	}
	e.Invalid = append(e.Invalid, c.objections...)
	return e
}

// checker checks the citations of one proposal and collects what is wrong with them.
type checker struct {
	turn       int
	steps      map[countersign.StepRef]*source
	strip      func(string) string
	said       map[string]bool
	objections []string
}

// byRef indexes the steps. A name that two steps share names neither: we could not say which one was meant.
func byRef(steps []countersign.Step) map[countersign.StepRef]*source {
	index := make(map[countersign.StepRef]*source, len(steps))
	for _, step := range steps {
		if _, twice := index[step.Ref]; twice {
			index[step.Ref] = nil
			continue
		}
		index[step.Ref] = &source{Step: step}
	}
	return index
}

func (c *checker) object(sentence string) {
	if !c.said[sentence] {
		c.said[sentence] = true
		c.objections = append(c.objections, sentence)
	}
}

func (c *checker) check(cited countersign.Citation) countersign.CitationStatus {
	switch step := c.steps[cited.Ref]; {
	case step == nil:
		c.object(fmt.Sprintf("%s is no step of this investigation.", named(cited.Ref)))
		return countersign.CitationUnknownStep
	case !step.OK:
		c.object(fmt.Sprintf("%s (%s) failed, so it shows nothing.", cited.Ref, step.Tool))
		return countersign.CitationFailedStep
	case step.Turn >= c.turn:
		c.object(fmt.Sprintf("%s (%s) had not finished when the decision cited it.", cited.Ref, step.Tool))
		return countersign.CitationNotYetFinished
	default:
		return c.compare(step, cited)
	}
}

func (c *checker) compare(step *source, cited countersign.Citation) countersign.CitationStatus {
	value := cited.Value
	if c.strip != nil {
		value = c.strip(value)
	}
	found, ok := step.at(cited.Field)
	switch {
	case ok && spells(value, found):
		return countersign.CitationVerified
	case !ok:
		c.object(fmt.Sprintf("%s (%s) has nothing at %s.", cited.Ref, step.Tool, quoted(cited.Field)))
	case !scalar(found):
		c.object(fmt.Sprintf("%s (%s) has a list or an object at %s, not the value %s.", cited.Ref, step.Tool, quoted(cited.Field), quoted(value)))
	default:
		c.object(fmt.Sprintf("%s (%s) says %s at %s, not %s.", cited.Ref, step.Tool, quoted(spelling(found)), quoted(cited.Field), quoted(value)))
	}
	return countersign.CitationValueMismatch
}

func named(ref countersign.StepRef) string {
	if ref == "" {
		return "A citation without a step"
	}
	return quoted(string(ref))
}

// quoted shortens what the model wrote to what fits a sentence.
func quoted(s string) string {
	const longest = 80
	if short := []rune(s[:min(len(s), 4*longest)]); len(short) > longest {
		s = string(short[:longest]) + "…"
	} else if len(s) > 4*longest {
		s = string(short) + "…"
	}
	return "“" + strings.ToValidUTF8(s, "\uFFFD") + "”"
}
