package investigate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"countersign"
)

// Sizes of a decision, in bytes of text and in items. They are far above what an analyst would read, and keep one reply from
// filling a page or a report.
const (
	maxSummary   = 4000
	maxMessage   = 4000
	maxClaim     = 2000
	maxWord      = 300 // a ref, a field, a document's name
	maxValue     = 2000
	maxQuote     = 4000
	maxClaims    = 40
	maxCitations = 20 // of one claim
	maxQuotes    = 40
	maxProblems  = 500 // bytes of what is wrong: package fence cuts an error at 600 characters
)

// form is what a decision of one desk holds.
type form struct {
	recommendations []string
	categories      []string
	fields          map[string]bool
}

// canary is the canary of a decision. A wrong one, or none, says something about what the model saw and nothing about the
// decision's form, so whatever stands there is read.
type canary struct {
	given bool
	value string
}

// Every desk's decision has the first five fields; a schema adds any of the others. The canary is optional so that a
// decision without it is a reason, and not a second try at guessing it.
var (
	always   = []string{"recommendation", "confidence", "summary", "claims", "canary"}
	optional = []string{"category", "fraud_suspected", "customer_message", "quotes"}
)

func formOf(b Brief) form {
	f := form{b.Recommendations, b.Categories, map[string]bool{}}
	offered := properties(b.Decision.Schema)
	for _, name := range optional {
		f.fields[name] = offered[name] || len(offered) == 0
	}
	f.fields["category"] = f.fields["category"] && len(b.Categories) > 0
	for _, name := range always {
		f.fields[name] = true
	}
	maps.DeleteFunc(f.fields, func(_ string, known bool) bool { return !known })
	return f
}

// read reads a decision strictly: unknown and repeated fields, wrong types, words that are not on the list, numbers out of
// range and text without end are errors. The error names every problem it found, with the field, what stood there and what
// was expected, because it goes back to the model only once. A missing customer_message is an empty one; a missing
// fraud_suspected is not a no.
func (f form) read(args string) (countersign.Proposal, canary, error) {
	object, err := readObject(args)
	if err != nil {
		return countersign.Proposal{}, canary{}, err
	}
	var found problems
	m := members{object, "", &found}
	p := countersign.Proposal{
		Recommendation: m.oneOf("recommendation", f.recommendations),
		Confidence:     m.fraction("confidence"),
		Summary:        m.text("summary", maxSummary),
	}
	if f.fields["category"] {
		p.Category = countersign.DisputeReason(m.oneOf("category", f.categories))
	}
	if f.fields["fraud_suspected"] {
		p.FraudSuspected = m.flag("fraud_suspected")
	}
	if m.has("customer_message") {
		p.CustomerMessage = m.maybeEmpty("customer_message", maxMessage)
	}
	m.only(f.fields)
	p.Claims = readClaims(m)
	if f.fields["quotes"] {
		p.Quotes = readQuotes(m)
	}
	value, _ := object["canary"].(string)
	return p, canary{m.has("canary"), value}, found.err()
}

// readClaims reads the claims. An empty list is well-formed, and so is a claim without a citation: whether there is enough
// evidence is not for this reader to say.
func readClaims(m members) []countersign.Claim {
	claims := []countersign.Claim{}
	for _, claim := range m.list("claims", maxClaims) {
		read := countersign.Claim{Text: claim.text("text", maxClaim), Citations: []countersign.Citation{}}
		for _, citation := range claim.list("citations", maxCitations) {
			read.Citations = append(read.Citations, countersign.Citation{
				Ref:   countersign.StepRef(citation.text("ref", maxWord)),
				Field: citation.text("field", maxWord),
				Value: citation.maybeEmpty("value", maxValue),
			})
			citation.only(citationFields)
		}
		claim.only(claimFields)
		claims = append(claims, read)
	}
	return claims
}

func readQuotes(m members) []countersign.Quote {
	quotes := []countersign.Quote{}
	for _, quote := range m.list("quotes", maxQuotes) {
		quotes = append(quotes, countersign.Quote{
			Document: quote.text("document", maxWord),
			Quote:    quote.text("quote", maxQuote),
		})
		quote.only(quoteFields)
	}
	return quotes
}

var (
	claimFields    = map[string]bool{"text": true, "citations": true}
	citationFields = map[string]bool{"ref": true, "field": true, "value": true}
	quoteFields    = map[string]bool{"document": true, "quote": true}
)

// problems collects what is wrong with a decision.
type problems []string

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, clip(field, 80)+": "+fmt.Sprintf(format, args...))
}

// err is everything that is wrong, as far as a failed result has room for it; the rest is counted.
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	text := p[0]
	for i, problem := range p[1:] {
		if len(text)+len(problem) > maxProblems {
			text += fmt.Sprintf("; and %d more", len(p)-1-i)
			break
		}
		text += "; " + problem
	}
	return malformed("%s", text)
}

// members is one object of a decision. Its methods return the zero value where they found a problem.
type members struct {
	object map[string]any
	path   string
	found  *problems
}

func (m members) has(name string) bool { _, ok := m.object[name]; return ok }

func (m members) only(known map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(m.object)) {
		if !known[name] {
			m.found.add(join(m.path, name), "unknown field, expected none but the schema's")
		}
	}
}

// wrong notes that a member is not what was expected.
func (m members) wrong(name, expected string) {
	got := "nothing"
	if m.has(name) {
		got = spell(m.object[name])
	}
	m.found.add(join(m.path, name), "got %s, expected %s", got, expected)
}

func (m members) text(name string, limit int) string {
	s := m.maybeEmpty(name, limit)
	if _, is := m.object[name].(string); is && strings.TrimSpace(s) == "" && len(s) <= limit {
		m.wrong(name, "some text")
	}
	return s
}

func (m members) maybeEmpty(name string, limit int) string {
	s, ok := m.object[name].(string)
	switch {
	case !ok:
		m.wrong(name, "text in quotes")
	case len(s) > limit:
		m.found.add(join(m.path, name), "got %d bytes of text, expected at most %d", len(s), limit)
		return s[:0]
	}
	return s
}

func (m members) oneOf(name string, words []string) string {
	s, ok := m.object[name].(string)
	if !ok || !slices.Contains(words, s) {
		m.wrong(name, "one of "+strings.Join(words, ", "))
		return ""
	}
	return s
}

func (m members) flag(name string) bool {
	b, ok := m.object[name].(bool)
	if !ok {
		m.wrong(name, "true or false")
	}
	return b
}

func (m members) fraction(name string) float64 {
	number, ok := m.object[name].(json.Number)
	x, err := strconv.ParseFloat(number.String(), 64)
	if !ok || err != nil || x < 0 || x > 1 {
		m.wrong(name, "a number from 0 to 1, without quotes")
		return 0
	}
	return x + 0 // minus zero is zero
}

// list reads a list of objects.
func (m members) list(name string, limit int) []members {
	items, ok := m.object[name].([]any)
	switch {
	case !ok:
		m.wrong(name, "a list")
		return nil
	case len(items) > limit:
		m.found.add(join(m.path, name), "got %d items, expected at most %d", len(items), limit)
		return nil
	}
	var objects []members
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", join(m.path, name), i)
		object, ok := item.(map[string]any)
		if !ok {
			m.found.add(path, "got %s, expected an object", spell(item))
			continue
		}
		objects = append(objects, members{object, path, m.found})
	}
	return objects
}
