package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"countersign"
)

// State is what verifying a file came to.
type State string

const (
	Intact     State = "intact"      // the content gives the fingerprint, and drawn again it is this file, byte for byte
	Edited     State = "edited"      // something in the file is not what this program wrote
	CannotTell State = "cannot tell" // no report, or one that this program cannot draw again
)

// Verdict is what a file shows by itself. An intact file says that nothing in it was changed after it was made; that it is the
// report of that case is shown by comparing its fingerprint with the case's record.
type Verdict struct {
	State       State
	Format      Format   // empty when the file is no report
	Fingerprint string   // of the content inside; empty when none could be read
	Printed     string   // the fingerprint that the file prints
	Content     *Content // nil when none could be read
	Why         string   // a sentence
	Where       []string // of an edited file: what differs, as far as that can be told
}

// carried is what a file says of itself, before any of it is believed.
type carried struct {
	format   Format
	content  []byte // JSON
	printed  string
	renderer string
}

// Verify judges a file by nothing but itself. The error is ours alone: the report could not be drawn again for another reason
// than what it holds.
func Verify(file []byte) (Verdict, error) {
	in, err := carriedBy(file)
	if err != nil {
		return Verdict{State: CannotTell, Format: in.format, Printed: in.printed, Why: sentence(err)}, nil
	}
	v := Verdict{Format: in.format, Printed: in.printed}
	c, err := decode(in.content)
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return v.unread(err), nil
	}
	canonical := Canonical(c)
	v.Content, v.Fingerprint = &c, Fingerprint(canonical)
	return v.compared(file, in, Report{c, canonical, v.Fingerprint})
}

// unread is a file whose content is damaged, or of another format.
func (v Verdict) unread(err error) Verdict {
	v.State, v.Why = Edited, "the content inside cannot be read: "+sentence(err)
	if countersign.KindOf(err) == countersign.Unprocessed {
		v.State, v.Why = CannotTell, sentence(err)
	}
	return v
}

// compared draws the report again and compares.
func (v Verdict) compared(file []byte, in carried, r Report) (Verdict, error) {
	again, err := r.Render(in.format)
	if err != nil && countersign.KindOf(err) == countersign.Internal {
		return v, fmt.Errorf("draw the report again: %w", err)
	}
	switch {
	case v.Printed != "" && v.Printed != v.Fingerprint:
		v.State, v.Why = Edited, "the content inside does not give the fingerprint that the file prints"
	case err != nil:
		v.State, v.Why = Edited, "no such file could have been made of this content: "+sentence(err)
		return v, nil
	case bytes.Equal(file, again):
		v.State, v.Why = Intact, "the content gives the fingerprint that the file prints, and drawn again it is this file, byte for byte"
		return v, nil
	case in.renderer != "" && in.renderer != Renderer:
		v.State = CannotTell
		v.Why = fmt.Sprintf("the content gives the fingerprint that the file prints, but the file was drawn by %q and this program draws as %q, so what it shows could not be compared", in.renderer, Renderer)
		return v, nil
	case in.format == PDF && in.renderer == "":
		v.State, v.Why = CannotTell, "there is a report's content inside, but the file is not one that this program drew: it was merged with others, or saved anew"
		return v, nil
	default:
		v.State, v.Why = Edited, "drawn again from the content inside, the report is another file"
	}
	v.Where = v.differences(file, in, r)
	return v, nil
}

// differences leaves the fingerprint out of what is compared: it stands on every page, and would hide what it is about.
func (v Verdict) differences(file []byte, in carried, r Report) []string {
	if v.Printed != "" {
		r.fingerprint = v.Printed
	}
	again, err := r.Render(in.format)
	if err != nil {
		return nil
	}
	return differences(in.format, file, again)
}

// sentence is an error for people, without what is for programs.
func sentence(err error) string { return strings.TrimSuffix(err.Error(), ".") }

func carriedBy(file []byte) (carried, error) {
	switch start := bytes.TrimSpace(file[:min(len(file), 512)]); {
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return inPDF(file)
	case bytes.HasPrefix(start, []byte("{")):
		return inJSON(file)
	case bytes.Contains(file, []byte(contentBegins)):
		return inHTML(file)
	}
	return carried{}, countersign.Errorf(countersign.Invalid, "this is no evidence report: neither a PDF, nor a page or JSON that carries one's content")
}

func inJSON(file []byte) (carried, error) {
	in := carried{format: JSON}
	var envelope struct {
		Content     json.RawMessage `json:"content"`
		Fingerprint string          `json:"fingerprint"`
	}
	if err := json.Unmarshal(file, &envelope); err != nil {
		return in, countersign.Errorf(countersign.Invalid, "this is not JSON, or no longer: %v", err)
	}
	in.content, in.printed = envelope.Content, envelope.Fingerprint
	if in.content == nil || in.printed == "" {
		return in, countersign.Errorf(countersign.Invalid, "this JSON is no evidence report: it has no content with a fingerprint")
	}
	return in, nil
}

var (
	printedInHTML  = regexp.MustCompile(`<meta name="countersign-fingerprint" content="([^"]*)">`)
	rendererInHTML = regexp.MustCompile(`<meta name="generator" content="([^"]*)">`)
	printedInPDF   = regexp.MustCompile(`/Subject \(SHA-256 ([^)]*)\)`)
	rendererInPDF  = regexp.MustCompile(`/Producer \((countersign report [^)]*)\)`)
)

func inHTML(file []byte) (carried, error) {
	_, rest, _ := bytes.Cut(file, []byte(contentBegins))
	content, _, ends := bytes.Cut(rest, []byte(contentEnds))
	if !ends {
		return carried{format: HTML}, countersign.Errorf(countersign.Invalid, "the page was cut off in the middle of the report's content")
	}
	return carried{format: HTML, content: content, printed: found(printedInHTML, file), renderer: found(rendererInHTML, file)}, nil
}

func inPDF(file []byte) (carried, error) {
	in := carried{format: PDF, printed: found(printedInPDF, file), renderer: found(rendererInPDF, file)}
	for _, embedded := range embeddedFiles(file) {
		var version struct {
			Format *int `json:"format"`
		}
		if json.Unmarshal(embedded, &version) == nil && version.Format != nil || in.content == nil && in.printed != "" {
			in.content = embedded
		}
	}
	if in.content == nil && in.printed != "" {
		return in, countersign.Errorf(countersign.Invalid, "this PDF says that it is an evidence report, but there is no content inside that could be read")
	}
	if in.content == nil {
		return in, countersign.Errorf(countersign.Invalid, "this PDF is no evidence report: there is no report's content inside")
	}
	return in, nil
}

func found(pattern *regexp.Regexp, file []byte) string {
	if m := pattern.FindSubmatch(file); m != nil {
		return string(m[1])
	}
	return ""
}

// String is the verdict for people: the state first, then why, then what to compare.
func (v Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.State, v.Why)
	for _, where := range v.Where {
		b.WriteString("\n  " + where)
	}
	if v.Content != nil {
		fmt.Fprintf(&b, "\nreport of case %s, order %s, round %d: %s decided by %s on %s", visible(v.Content.Case.ID), visible(v.Content.Case.Order), v.Content.Case.Round,
			v.Content.Decision.Outcome, visible(v.Content.Decision.By), moment(v.Content.Decision.At))
	}
	if v.Fingerprint != "" {
		b.WriteString("\nfingerprint of the content  " + Short(v.Fingerprint))
	}
	if v.Printed != "" && v.Printed != v.Fingerprint {
		b.WriteString("\nfingerprint that it prints  " + visible(Short(v.Printed)))
	}
	if v.State == Intact {
		b.WriteString("\nCompare the fingerprint with the one in the case's record: a report that was made anew has another.")
	}
	return b.String()
}
