// Package pack puts the files that people added to a case behind its evidence report, as one PDF.
//
// The report says which files there are, each with its hash, before a person decides; the pack is made of exactly those. Merging the
// same files again gives other bytes, so the first pack that somebody asks for is kept, and everybody gets that one.
package pack

import (
	"cmp"
	"context"
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

// Of is the report of a decided case with its files: made when somebody first asks for it, the same bytes from then on. Without
// files it is the report's PDF, which is the same whenever it is made.
func Of(ctx context.Context, s *store.Store, id countersign.CaseID) (report.Report, []byte, error) {
	kept, err := s.Report(ctx, id)
	if err != nil {
		return report.Report{}, nil, err
	}
	r, err := report.Open(kept.Content)
	if err != nil {
		return report.Report{}, nil, err
	}
	if len(r.Content().Attachments) == 0 {
		pdf, err := r.PDF()
		return r, pdf, err
	}
	made, ok, err := s.Pack(ctx, id, kept.Round)
	if err == nil && !ok {
		made, err = keep(ctx, s, id, kept.Round, r)
	}
	return r, made.Bytes, err
}

func keep(ctx context.Context, s *store.Store, id countersign.CaseID, round int, r report.Report) (made store.Pack, err error) {
	m, err := merge(ctx, s.View, id, r)
	if err != nil {
		return store.Pack{}, err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		made, err = tx.KeepPack(ctx, id, round, store.Pack{SHA256: m.SHA256, Pages: m.Pages, Bytes: m.Bytes})
		return err
	})
	return made, err
}

// turn is had by whoever merges: that takes the files of a case into memory, and some of them in several forms.
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
	return r.Merge(files)
}

// filesOf reads the files that a report lists, in its order. A file is known by its hash: no two of a case are the same.
func filesOf(ctx context.Context, v store.View, id countersign.CaseID, listed []report.Attachment) (files []report.File, err error) {
	all, err := v.Exhibits(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, a := range listed {
		i := slices.IndexFunc(all, func(e store.Exhibit) bool { return e.SHA256 == a.SHA256 })
		if i < 0 {
			return nil, fmt.Errorf("case %s has not the file that its report lists as %s", id, a.ID)
		}
		e := all[i]
		bytes, err := v.ExhibitBytes(ctx, id, e.ID)
		if err != nil {
			return nil, err
		}
		files = append(files, report.File{Name: e.Name, Type: e.Type, Size: e.Size, SHA256: e.SHA256, Pages: e.Pages, Bytes: bytes})
	}
	return files, nil
}
