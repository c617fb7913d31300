package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
)

// postShopFiles copies exported files of a shop whose database cannot be reached, and goes on as with any connection.
func postShopFiles(v *visit) error {
	draft, begun, err := v.Setup.Draft(v.r.Context(), v.who.PersonID)
	if err != nil || !begun {
		return v.orGo("/settings/shop", err)
	}
	w := v.wizard(setup.Connect, draft)
	if err := w.takeFiles(); err != nil {
		return w.open(0, err)
	}
	return nil
}

func (w *wizard) takeFiles() error {
	u, err := w.receive()
	if err != nil {
		var e *countersign.Error
		if errors.As(err, &e) && e.Err != nil {
			w.Log.ErrorContext(w.r.Context(), "an upload could not be kept", "error", e.Err)
		}
		return err
	}
	defer os.RemoveAll(u.folder) // removeLeftovers tries again
	dsn, read, err := setup.CopyExports(w.r.Context(), w.copies(), exportsOf(u))
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return countersign.Errorf(countersign.Unavailable, "The files did not arrive whole, so none was kept.").Try("Choose them again")
		}
		return err
	}
	if w.draft.Mapping.Driver != connector.SQLite {
		w.draft.Mapping.Entities, w.draft.Platform = nil, ""
	}
	w.draft.Mapping.Driver, w.draft.Mapping.DSN, w.draft.Lost, w.draft.Files = connector.SQLite, dsn, nil, nil
	for _, x := range read {
		w.draft.Files = append(w.draft.Files, fileInWords(x)...)
	}
	err = w.next(many(len(read), "file was copied. The copy", "files were copied. The copy") + " is read, and is never changed.")
	if err != nil {
		w.forget(dsn)
	}
	return err
}

func exportsOf(u *upload) (files []setup.File) {
	for _, f := range u.files {
		files = append(files, setup.File{Name: f.name, Open: func() (io.ReadCloser, error) { return os.Open(f.path) }})
	}
	return files
}

// fileInWords is how a file was read, for somebody to see whether that is how it was written.
func fileInWords(x setup.Exported) []string {
	lines := []string{fmt.Sprintf("%s is the table %s: %s, %s, %s between the columns", x.File, x.Table, many(x.Rows, "row", "rows"), x.Encoding, x.Delimiter)}
	if x.Before > 0 {
		lines = append(lines, fmt.Sprintf("%s: %s in a file of the same table before it too, and is counted once", x.File, many(x.Before, "row that stands", "rows, each of which stands")))
	}
	for _, note := range x.Notes {
		lines = append(lines, x.File+": "+note)
	}
	return lines
}
