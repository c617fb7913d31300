package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// Record is where a case's record ends, and whether it is intact.
type Record struct {
	Length int64  `json:"length" doc:"Rows, from the case's opening on."`
	Head   string `json:"head" doc:"The hash of the last row, in hex."`
	Intact bool   `json:"intact" doc:"Every row was recomputed just now and matches, and the case says what its record says."`
}

func summary(report audit.Report, head audit.Head) Record {
	return Record{head.Seq, head.Hash.String(), report.OK}
}

// WholeRecord is a case's record with every row.
type WholeRecord struct {
	CaseID countersign.CaseID `json:"case_id"`
	Record
	Breaks []Break     `json:"breaks" doc:"The first row that does not match, and why; empty when the record is intact."`
	Rows   []RecordRow `json:"rows"`
}

// Break is where a record stops matching.
type Break struct {
	Seq int64  `json:"seq"`
	Why string `json:"why"`
}

// RecordRow is one row as it was sealed.
type RecordRow struct {
	Seq        int64           `json:"seq"`
	Version    int             `json:"version" doc:"Of the byte format that was hashed."`
	Kind       audit.Kind      `json:"kind"`
	Actor      string          `json:"actor"`
	At         time.Time       `json:"at"`
	Commitment string          `json:"commitment" doc:"The salted hash of the payload, in hex."`
	PrevHash   string          `json:"prev_hash"`
	Hash       string          `json:"hash"`
	Salt       *string         `json:"salt" doc:"In hex; null once the payload was erased."`
	Payload    json.RawMessage `json:"payload" doc:"What happened; null once it was erased."`
}

type recordAnswer struct{ Body WholeRecord }

func (a *api) getRecord(ctx context.Context, in *CasePath) (*recordAnswer, error) {
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	whole := WholeRecord{CaseID: id, Rows: []RecordRow{}}
	err = a.Store.Snapshot(ctx, func(v store.View) error {
		c, err := v.Case(ctx, id)
		if err != nil {
			return err
		}
		report, head, err := v.Walk(ctx, c, func(row store.RecordRow) { whole.Rows = append(whole.Rows, recordRow(row)) })
		whole.Record = summary(report, head)
		whole.Breaks = each(report.Breaks, func(b audit.Break) Break { return Break{b.Seq, b.Why} })
		return err
	})
	if err != nil {
		return nil, err
	}
	return &recordAnswer{whole}, nil
}

func recordRow(r store.RecordRow) RecordRow {
	row := RecordRow{
		Seq: r.Seq, Version: r.Version, Kind: r.Kind, Actor: r.Actor, At: time.UnixMicro(r.At).UTC(), Commitment: r.Commitment.String(),
		PrevHash: r.Prev.String(), Hash: r.Hash.String(), Payload: json.RawMessage("null"),
	}
	if r.Payload != nil {
		salt := hex.EncodeToString(r.Payload.Salt)
		row.Salt, row.Payload = &salt, legible(r.Payload.Bytes)
	}
	return row
}

// legible is a payload as JSON. One that somebody has damaged is shown as the text it is now: the row's commitment says that
// it is not what was sealed.
func legible(payload []byte) json.RawMessage {
	if json.Valid(payload) {
		return payload
	}
	text, _ := json.Marshal(string(payload)) // text always marshals
	return text
}
