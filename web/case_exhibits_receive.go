package web

import (
	"context"
	"errors"
	"io"
	"mime/multipart"

	"countersign"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/report"
	"countersign/pipeline/review"
	"countersign/store"
)

// mostExhibitForm is how much is sent at most: what a case has room for, and the form around it.
var mostExhibitForm = pack.Room.Bytes + 1<<20

// receiveExhibits reads the form as it arrives, and looks into each file. What stands before an error is returned with it.
func (v *visit) receiveExhibits() (sent *sentExhibits, err error) {
	sent = &sentExhibits{}
	body := v.sending()
	body.left = mostExhibitForm
	v.r.Body = body
	defer func() {
		if err != nil {
			err = exhibitRefusal(body, err)
			body.drop()
		}
	}()
	if v.r.ContentLength > mostExhibitForm {
		body.over = true
		return sent, errTooMuch
	}
	parts, err := v.r.MultipartReader()
	if err != nil {
		return sent, err
	}
	revision := ""
	for range pack.Room.Files + 10 {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			sent.act, err = v.act(revision)
			return sent, err
		}
		if err != nil {
			return sent, err
		}
		switch part.FormName() {
		case "revision":
			err = typed(part, &revision)
		case "description":
			err = typed(part, &sent.description)
		case "files":
			err = sent.take(v.r.Context(), part)
		}
		if err != nil {
			return sent, err
		}
	}
	return sent, countersign.Errorf(countersign.TooLarge, "There are more than %d files, so none was added.", pack.Room.Files).Try("Merge some of them.")
}

// typed reads a field that somebody typed.
func typed(part *multipart.Part, into *string) error {
	text, err := io.ReadAll(io.LimitReader(part, 4<<10))
	*into = string(text)
	return err
}

// take looks into one file. The description is of all that are sent with it.
func (s *sentExhibits) take(ctx context.Context, part *multipart.Part) error {
	content, err := io.ReadAll(io.LimitReader(part, report.MostFileBytes+1))
	if err != nil {
		return err
	}
	if len(content) == 0 && part.FileName() == "" { // what a browser sends when nothing was chosen
		return countersign.Errorf(countersign.Invalid, "No file was chosen.").Try("Choose a PDF, PNG or JPEG.")
	}
	f, err := report.Inspect(ctx, part.FileName(), content)
	if err != nil {
		return err
	}
	s.files = append(s.files, review.File{Bytes: f.Bytes,
		Exhibit: store.Exhibit{Name: f.Name, Description: s.description, Type: f.Type, Size: f.Size, SHA256: f.SHA256, Pages: f.Pages}})
	return nil
}

// exhibitRefusal is what to tell whoever sent files that could not be received.
func exhibitRefusal(body *sending, err error) error {
	var said *countersign.Error
	switch {
	case body.over:
		return countersign.Errorf(countersign.TooLarge, "The files have more than %s together, so none was added.", size(pack.Room.Bytes)).Try("Make them smaller: providers take a few MB for everything together.")
	case errors.As(err, &said):
		return said
	}
	return countersign.Errorf(countersign.Invalid, "The files did not arrive whole, so none was added.").Try("Choose them again.")
}
