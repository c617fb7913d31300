// Package report makes the evidence report of a chargeback: what was decided, on what evidence, and by whom, in a form that a
// bank, a card network or a judge can read, and that anybody can check without us.
//
// A report is its content (Content), written in one exact form (Canonical), and the SHA-256 of those bytes is its fingerprint.
// JSON, HTML and PDF are renderings of the content: each carries the canonical content inside and prints the fingerprint, so
// Verify needs nothing but the file. The same content gives the same bytes, whoever renders it, wherever and whenever: nothing
// here reads a clock, a zone or a map's order.
//
// The package is the only place where something is written that leaves the house, so it is also where the merchant's own harmful
// facts, and clauses of its own policies that speak against it, are kept out, if a person says so: Withhold and WithholdClauses take
// the thing itself out of the content and leave who did it and why.
package report

import "countersign"

// Report is content that was found whole, and its canonical form. The zero Report is empty; make one with Seal or Open.
type Report struct {
	content     Content
	canonical   []byte
	fingerprint string
}

// Seal checks the content and fixes it: from here on it has a fingerprint. Errors name the field that is wrong.
func Seal(c Content) (Report, error) {
	if err := c.Check(); err != nil {
		return Report{}, err
	}
	canonical := Canonical(c)
	return Report{content: c, canonical: canonical, fingerprint: Fingerprint(canonical)}, nil
}

// Open reads canonical bytes that were stored. They must be exactly what Seal made.
func Open(canonical []byte) (Report, error) {
	c, err := Read(canonical)
	if err != nil {
		return Report{}, err
	}
	return Report{content: c, canonical: canonical, fingerprint: Fingerprint(canonical)}, nil
}

// Content is what the report says. Changing it does not change the report.
func (r Report) Content() Content { return r.content }

// Canonical is the exact bytes that the fingerprint is of: store these.
func (r Report) Canonical() []byte { return r.canonical }

// Fingerprint is the SHA-256 of the canonical bytes, as 64 hex digits.
func (r Report) Fingerprint() string { return r.fingerprint }

// Format is a rendering of a report.
type Format string

const (
	JSON Format = "json"
	HTML Format = "html"
	PDF  Format = "pdf"
)

// Render gives the file in that format. PDF fails, and names rune and field, when a text needs a script that its fonts cannot
// draw; HTML carries every text.
func (r Report) Render(f Format) ([]byte, error) {
	switch f {
	case JSON:
		return r.JSON(), nil
	case HTML:
		return r.HTML()
	case PDF:
		return r.PDF()
	}
	return nil, countersign.Errorf(countersign.Invalid, "%q is not json, html or pdf", f).In("format")
}
