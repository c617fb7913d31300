package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"countersign"
	"countersign/audit"
)

// What is kept beside the record: whose, under which name, the hash that stands beside it, and the bytes.
const (
	keptReports = "SELECT case_id, CAST(round AS TEXT), fingerprint, content FROM reports "
	keptFiles   = "SELECT case_id, id, sha256, bytes FROM exhibits "
	keptPacks   = "SELECT case_id, CAST(round AS TEXT), sha256, bytes FROM report_packs "
)

const ofCase = "WHERE case_id = $1"

// keptBeside is everything that is kept beside the records of some cases.
func (v View) keptBeside(ctx context.Context, where string, args ...any) (map[countersign.CaseID][]audit.Kept, error) {
	beside := map[countersign.CaseID][]audit.Kept{}
	err := v.hashKept(ctx, beside, audit.ReportThing, keptReports+where, args...)
	if err == nil {
		err = v.hashKept(ctx, beside, audit.FileThing, keptFiles+where, args...)
	}
	if err == nil {
		err = v.hashKept(ctx, beside, audit.PackThing, keptPacks+where, args...)
	}
	return beside, err
}

// hashKept adds one kind of thing to what is kept beside each case. All of its bytes are read, one after the other; only the hashes
// stay in memory.
func (v View) hashKept(ctx context.Context, beside map[countersign.CaseID][]audit.Kept, thing audit.Thing, statement string, args ...any) error {
	rows, err := v.q.QueryContext(ctx, statement, args...)
	if err != nil {
		return fmt.Errorf("read each %s to verify it: %w", thing, err)
	}
	_, err = collect(rows, func(row scanner) (none struct{}, err error) {
		var id countersign.CaseID
		var content sql.RawBytes // good until the next row, and not copied: a pack has many megabytes
		k := audit.Kept{Thing: thing}
		if err = row.Scan(&id, &k.Name, &k.Says, &content); err == nil {
			k.Hash = hashOf(content)
			beside[id] = append(beside[id], k)
		}
		return none, err
	})
	return wrap(err, "read each %s to verify it", thing)
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// byThing is everything that is kept beside one case: what there is none of, is an empty list.
func byThing(all []audit.Kept) map[audit.Thing][]audit.Kept {
	kept := map[audit.Thing][]audit.Kept{audit.ReportThing: {}, audit.FileThing: {}, audit.PackThing: {}}
	for _, k := range all {
		kept[k.Thing] = append(kept[k.Thing], k)
	}
	return kept
}

// Restore is what to do about stored bytes that are not what the record sealed.
const Restore = "tell whoever runs this program: countersign audit verify names the step of each such case, and a backup from before the change has what was sealed"

// errNeverSealed is what became of a pack that an earlier version kept, before packs were sealed: nothing vouches for it, and nothing
// says that it was changed.
var errNeverSealed = errors.New("no pack of the case was ever sealed")

// asSealed holds bytes as they were just read against what the record of their case sealed, and is an Altered error unless they are
// the same and the record is whole. It must see both in one snapshot.
func (v View) asSealed(ctx context.Context, id countersign.CaseID, found audit.Kept) error {
	c, err := v.Case(ctx, id)
	if err != nil {
		return err
	}
	var sealed []audit.Kept
	never := found.Thing == audit.PackThing // no step sealed a pack, and none can have that is not readable any more
	report, _, err := v.Walk(ctx, c, func(row RecordRow) {
		if row.Payload == nil {
			never = never && row.Kind != audit.Note
			return
		}
		k, ok := audit.Sealing(row.Kind, row.Payload.Bytes)
		never = never && !(ok && k.Thing == audit.PackThing)
		if ok && k.Thing == found.Thing && k.Name == found.Name {
			sealed = append(sealed, k)
		}
	})
	switch {
	case err != nil:
		return err
	case !report.OK:
		return altered(id, "step %d of its record does not match: %s", report.Breaks[0].Seq, report.Breaks[0].Why)
	case never:
		return errNeverSealed
	case len(sealed) == 0:
		return altered(id, "%s cannot be checked against the record: no step that is still readable sealed it", found)
	}
	if why := found.Differs(sealed[0]); why != "" { // the first counts, as it does for the verifier
		return altered(id, "%s", why)
	}
	return nil
}

func altered(id countersign.CaseID, format string, args ...any) error {
	return countersign.Errorf(countersign.Altered, "nothing of what is kept beside the record of case %s is served: %s", id, fmt.Sprintf(format, args...)).Try(Restore)
}

func keptReport(r Report) audit.Kept {
	return audit.Kept{Thing: audit.ReportThing, Name: strconv.Itoa(r.Round), Hash: hashOf(r.Content), Says: r.Fingerprint}
}

func keptPack(round int, p Pack) audit.Kept {
	return audit.Kept{Thing: audit.PackThing, Name: strconv.Itoa(round), Hash: hashOf(p.Bytes), Says: p.SHA256}
}
