// Package pack puts the files that people added to a case behind its evidence report, as one PDF.
//
// The report says which files there are, each with its hash, before a person decides; the pack is made of exactly those. Merging the
// same files again gives other bytes, so the first pack that somebody asks for is kept, and everybody gets that one.
package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"countersign"
	"countersign/desk/merchant/report"
	"countersign/store"
)

// Room is how much the files of a case may be together. A provider takes less: before a person approves, they see how much.
var Room = store.ExhibitRoom{Files: 20, Bytes: 40 << 20}

// Name is what the pack of a case is called where it is downloaded.
func Name(id countersign.CaseID) string { return string(id) + "-evidence-pack.pdf" }

// Listed are files as a report lists them, after so many other exhibits. Names are those of people.
func Listed(all []store.Exhibit, after int, names map[string]string) []report.Attachment {
	listed := []report.Attachment{}
	for i, e := range all {
		by := countersign.ParseActor(e.AddedBy)
		listed = append(listed, report.Attachment{ID: fmt.Sprintf("E%d", after+i+1), Name: e.Name, Description: e.Description, Type: e.Type, Size: e.Size,
			SHA256: e.SHA256, Pages: e.Pages, AddedBy: cmp.Or(names[by.ID], by.ID), AddedAt: report.At(e.AddedAt)})
	}
	return listed
}

// Measure is what would be sent, for a profile to check.
func Measure(ctx context.Context, v store.View, id countersign.CaseID, r report.Report) (report.Pack, error) {
	m, err := merge(ctx, v, id, r)
	return report.Pack{Files: []report.PackFile{{Name: Name(id), Type: "application/pdf", Size: int64(len(m.Bytes)), Pages: m.Pages}}}, err
}

// Sealed is the report of a decided case, byte for byte as the record sealed it. Everything that hands out a report or a part of one
// begins here: one that was changed since, or that the record cannot vouch for, is an Altered error and nothing else.
func Sealed(ctx context.Context, s *store.Store, id countersign.CaseID) (report.Report, error) {
	return SealedRound(ctx, s, id, 0)
}

// SealedRound is Sealed for the report of that round; 0 is the last one that has one.
func SealedRound(ctx context.Context, s *store.Store, id countersign.CaseID, round int) (report.Report, error) {
	kept, err := s.ReportOfRound(ctx, id, round)
	if err != nil {
		return report.Report{}, err
	}
	return report.Open(kept.Content)
}

// Of is the report of a decided case with its files: made when somebody first asks for it, the same bytes from then on, because the
// record then has their hash, in the name of who asked; where an earlier version kept one unsealed, it is made each time.
// Without files it is the report's PDF, which is the same whenever it is made.
func Of(ctx context.Context, s *store.Store, id countersign.CaseID, by countersign.Actor) (report.Report, []byte, error) {
	r, err := Sealed(ctx, s, id)
	if err != nil {
		return report.Report{}, nil, err
	}
	if len(r.Content().Attachments) == 0 {
		pdf, err := r.PDF()
		return r, pdf, err
	}
	made, err := packOf(ctx, s, id, r, by)
	if err != nil {
		return report.Report{}, nil, err
	}
	return r, made.Bytes, nil
}

// packOf is the pack that was kept, or makes it. The files behind a kept one are looked at too: it does not vouch for what became of
// them since.
func packOf(ctx context.Context, s *store.Store, id countersign.CaseID, r report.Report, by countersign.Actor) (store.Pack, error) {
	made, ok, err := s.Pack(ctx, id, r.Content().Case.Round)
	if err != nil {
		return store.Pack{}, err
	}
	if !ok {
		return keep(ctx, s, id, r, by)
	}
	return made, each(ctx, s.View, id, r.Content().Attachments, func(report.File) {})
}

func keep(ctx context.Context, s *store.Store, id countersign.CaseID, r report.Report, by countersign.Actor) (store.Pack, error) {
	m, err := merge(ctx, s.View, id, r)
	if err != nil {
		return store.Pack{}, err
	}
	made, first := store.Pack{SHA256: m.SHA256, Pages: m.Pages, Bytes: m.Bytes}, false
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		first, err = tx.KeepPack(ctx, id, r.Content().Case.Round, made, by)
		return err
	})
	if err != nil || first {
		return made, err
	}
	if kept, sealed, err := s.Pack(ctx, id, r.Content().Case.Round); err != nil || sealed {
		return kept, err
	}
	return made, nil // in the place of one that was kept before packs were sealed: it is made each time, and not kept
}

// turn is had by whoever merges: that takes the files of a case into memory, before any of them is looked into.
var turn = make(chan struct{}, 1)

func merge(ctx context.Context, v store.View, id countersign.CaseID, r report.Report) (report.Merged, error) {
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return report.Merged{}, ctx.Err()
	}
	files, err := filesOf(ctx, v, id, r.Content().Attachments)
	if err != nil {
		return report.Merged{}, err
	}
	return r.Merge(ctx, files)
}

func filesOf(ctx context.Context, v store.View, id countersign.CaseID, listed []report.Attachment) (files []report.File, err error) {
	err = each(ctx, v, id, listed, func(f report.File) { files = append(files, f) })
	return files, err
}

// each reads the files that a report lists, in its order, one at a time. A file is known by its hash: no two of a case are the same.
// One whose bytes are not those that the report lists is an Altered error.
func each(ctx context.Context, v store.View, id countersign.CaseID, listed []report.Attachment, take func(report.File)) error {
	all, err := v.Exhibits(ctx, id)
	if err != nil {
		return err
	}
	for _, a := range listed {
		i := slices.IndexFunc(all, func(e store.Exhibit) bool { return e.SHA256 == a.SHA256 })
		if i < 0 {
			return changed(id, "%q, which the report lists as %s with the SHA-256 %s, is not on the case any more", a.Name, a.ID, a.SHA256)
		}
		e := all[i]
		bytes, err := v.ExhibitBytes(ctx, id, e.ID)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(bytes); hex.EncodeToString(sum[:]) != a.SHA256 {
			return changed(id, "the stored bytes of %q have the SHA-256 %x, and the report lists it as %s with %s", a.Name, sum, a.ID, a.SHA256)
		}
		take(report.File{Name: e.Name, Type: e.Type, Size: e.Size, SHA256: e.SHA256, Pages: e.Pages, Bytes: bytes})
	}
	return nil
}

func changed(id countersign.CaseID, format string, args ...any) error {
	return countersign.Errorf(countersign.Altered, "the files of case %s are not handed out with its report: %s", id, fmt.Sprintf(format, args...)).Try(store.Restore)
}
