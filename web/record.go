package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// recordPanel is what a case's page says of its record: it was walked while the page was drawn.
type recordPanel struct {
	Rows   string
	Head   string
	Intact bool
	Breaks []string
	Href   string
}

func (v *visit) record(f *file) recordPanel {
	p := recordPanel{Rows: many(len(f.rows), "row", "rows"), Head: f.head.Hash.String()[:12], Intact: f.report.OK, Href: "/cases/" + string(f.ID) + "/record"}
	for _, b := range f.report.Breaks {
		p.Breaks = append(p.Breaks, fmt.Sprintf("row %d: %s", b.Seq, b.Why))
	}
	return p
}

// caseRecordScreen is a case's record, row by row, as it was sealed.
type caseRecordScreen struct {
	ID, Title string
	Record    recordPanel
	Head      string
	Verified  moment
	Rows      []recordRow
}

type recordRow struct {
	traceLine
	Actor, Hash, Prev, Commitment string
	Payload                       string
	Erased, Broken                bool
}

// caseRecord verifies a case's record now and shows it.
func caseRecord(v *visit) error {
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	p := caseRecordScreen{ID: string(f.ID), Title: complaint(f.Reason), Record: v.record(f), Head: f.head.Hash.String(), Verified: v.moment(v.now)}
	for _, row := range f.rows {
		p.Rows = append(p.Rows, v.recordRow(f, row))
	}
	return v.show(http.StatusOK, "case_record", screen{Title: "Record of " + p.ID, Section: "Record", Page: p})
}

func (v *visit) recordRow(f *file, row store.RecordRow) recordRow {
	r := recordRow{traceLine: v.traceLine(f, row), Actor: f.actor(row.Actor), Hash: row.Hash.String(), Prev: row.Prev.String(),
		Commitment: row.Commitment.String(), Erased: row.Payload == nil}
	for _, b := range f.report.Breaks {
		r.Broken = r.Broken || b.Seq == row.Seq
	}
	if row.Payload != nil {
		r.Payload = indented(row.Payload.Bytes)
	}
	return r
}

// mostShown is how much of a payload a page shows; the export has all of it.
const mostShown = 20_000

// indented is a payload for reading. What is sealed is the bytes of the export, not these.
func indented(payload []byte) string {
	var v any
	text := string(payload)
	if json.Unmarshal(payload, &v) == nil {
		if b, err := json.MarshalIndent(v, "", "  "); err == nil {
			text = string(b)
		}
	}
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "\n… the rest is in the export"
	}
	return legible(text)
}

// recordScreen is the page about every record.
type recordScreen struct {
	Cases, Rows string
	Task        string // a verification of this person's that is running or ended
}

// recordPage offers to verify and to take away every record.
func recordPage(v *visit) error {
	size, err := v.Store.RecordSize(v.r.Context())
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "record", screen{Title: "Record", Section: "Record",
		Page: recordScreen{Cases: many(int(size.Cases), "case", "cases"), Rows: many(int(size.Rows), "row", "rows")}})
}

// postVerify begins to walk every chain. Somebody who presses again is led to the walk that is under way.
func postVerify(v *visit) error {
	if t := v.running("verification"); t != nil {
		return v.back("/record/verify/"+t.ID, "")
	}
	size, err := v.Store.RecordSize(v.r.Context())
	if err != nil {
		return err
	}
	t := v.begin("verification", v.who.Actor.ID, func(ctx context.Context, t *task) (any, error) {
		t.tell("checking rows", 0, size.Rows)
		report, err := v.Store.VerifyRecord(ctx, func(rows int64) { t.tell("checking rows", rows, size.Rows) })
		if err != nil {
			return report, err
		}
		if err := v.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.KeepVerified(ctx, report) }); err != nil {
			v.Log.WarnContext(ctx, "that the record was verified could not be kept", "error", err) // what was found counts all the same
		}
		return report, nil
	})
	return v.back("/record/verify/"+t.ID, "")
}

// verifyScreen is a verification on its way or at its end.
type verifyScreen struct {
	Task        string
	Running     bool
	Did, Of     int64
	DidText     string
	Took        string
	Intact      bool
	Cases, Rows string
	Unchecked   string
	Breaks      []brokenCase
	BreaksMore  int
	Failed      string
}

type brokenCase struct{ ID, Href, Why string }

const mostBreaks = 100

// verifyPage shows how far a verification is, and what it found.
func verifyPage(v *visit) error {
	t, err := v.task(v.r.PathValue("task"))
	if err != nil {
		return err
	}
	p := t.progress(v.now)
	page := verifyScreen{Task: t.ID, Running: !p.Ended, Did: p.Did, Of: p.Of, DidText: count(p.Did) + " of about " + count(p.Of), Took: took(p.Took)}
	s := screen{Title: "Verifying the record", Section: "Record"}
	switch report, ok := p.Result.(audit.Report); {
	case !p.Ended:
		s.Refresh = 1
	case p.Err != nil:
		v.Log.ErrorContext(v.r.Context(), "a verification could not be finished", "error", p.Err)
		page.Failed = "The record could not be read to its end, so nothing is said about it."
	case ok:
		page.found(report)
	}
	s.Page = page
	return v.show(http.StatusOK, "verify", s)
}

func (p *verifyScreen) found(r audit.Report) {
	p.Intact, p.Cases, p.Rows = r.OK, many(int(r.Cases), "case", "cases"), many(int(r.Rows), "row", "rows")
	for i, b := range r.Breaks {
		if i == mostBreaks {
			p.BreaksMore = len(r.Breaks) - mostBreaks
			break
		}
		p.Breaks = append(p.Breaks, brokenCase{string(b.Case), "/cases/" + string(b.Case) + "/record", fmt.Sprintf("row %d: %s", b.Seq, b.Why)})
	}
}

// recordExport and caseExport send the record as JSON Lines, the exact bytes that a stranger verifies without this program.
func recordExport(v *visit) error { return v.export("", "record.jsonl") }

func caseExport(v *visit) error {
	id := v.r.PathValue("id")
	if _, err := v.Store.Case(v.r.Context(), countersign.CaseID(id)); err != nil {
		return noSuchCase(id)
	}
	return v.export(countersign.CaseID(id), "record-"+id+".jsonl")
}

func (v *visit) export(id countersign.CaseID, name string) error {
	v.w.Header().Set("Content-Type", "application/jsonl")
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	out := bufio.NewWriterSize(v.w, 1<<16)
	w := audit.NewWriter(out, audit.Header{At: v.now.UnixMicro(), Redacted: v.r.URL.Query().Get("redact") != ""})
	err := v.Store.Export(v.r.Context(), id, w)
	if err == nil {
		err = errors.Join(w.Close(), out.Flush()) // its last line says that it is whole
	}
	if err != nil {
		v.Log.ErrorContext(v.r.Context(), "an export was broken off", "error", err)
		panic(http.ErrAbortHandler) // half an export must not look like a whole one
	}
	return nil
}
