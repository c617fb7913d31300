package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign"
)

// File is a file that a person wants to add to a case, and what was found in it. Its bytes and its hash are as they came.
type File struct {
	Name   string
	Type   string // application/pdf, image/png, image/jpeg: what the bytes are, whatever the name says
	Size   int64
	SHA256 string
	Pages  int
	Bytes  []byte
}

// What one file may be at most. Providers take less: ProfileFor says how much.
const (
	MostFileBytes = 20 << 20
	mostFilePages = 300
	mostPixels    = 30_000_000 // Mastercard's limit
	mostNameBytes = 120
)

// Inspect looks into a file before it is kept. What is refused says why, and what to do: a file that no bank will open is found out
// now and not after the deadline. It waits until nobody else looks into one, or until the context ends.
func Inspect(ctx context.Context, name string, content []byte) (File, error) {
	name, err := plainFileName(name)
	if err != nil {
		return File{}, err
	}
	sum := sha256.Sum256(content)
	f := File{Name: name, Type: sniffed(content), Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), Pages: 1, Bytes: content}
	switch {
	case len(content) == 0:
		return File{}, refusedFile("%s is empty", name)
	case len(content) > MostFileBytes:
		return File{}, refusedFile("%s has more than %d MB", name, MostFileBytes>>20).Try("make it smaller: providers take a few MB for everything together")
	case f.Type == "":
		return File{}, refusedFile("%s is %s, expected PDF, PNG or JPEG", name, whatElse(content)).Try("save it as PDF, PNG or JPEG")
	case !promises(name, f.Type):
		return File{}, refusedFile("%s is called as what it is not: it is %s", name, typeName(f.Type)).Try("give it the name of what it is")
	}
	err = oneAtATime(ctx, func() error {
		if f.Type == pdfType {
			f.Pages, err = pagesOf(name, content)
			return err
		}
		_, err := picture(name, content)
		return err
	})
	if err != nil {
		return File{}, err
	}
	return f, nil
}

func refusedFile(format string, args ...any) *countersign.Error {
	return countersign.Errorf(countersign.Invalid, format, args...).In("file")
}

// plainFileName is the last part of a name, however the sender's system divides them.
func plainFileName(name string) (string, error) {
	name = strings.TrimSpace(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if strings.Trim(name, "./ ") == "" {
		return "", refusedFile("the file has no name")
	}
	if !utf8.ValidString(name) || len(name) > mostNameBytes || strings.IndexFunc(name, unicode.IsControl) >= 0 || visible(name) != name {
		return "", refusedFile("the file's name is no name: expected at most %d bytes of plain text", mostNameBytes).Try("rename it")
	}
	return name, nil
}

func sniffed(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("%PDF-")):
		return pdfType
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		return pngType
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		return jpegType
	}
	return ""
}

// whatElse says what a file is that is none of ours.
func whatElse(content []byte) string {
	switch {
	case len(content) > 12 && bytes.Contains(content[4:12], []byte("ftyphei")):
		return "HEIC"
	case bytes.HasPrefix(content, []byte("II*\x00")) || bytes.HasPrefix(content, []byte("MM\x00*")):
		return "TIFF"
	}
	kind, _, _ := strings.Cut(http.DetectContentType(content), ";")
	if kind == "application/octet-stream" {
		return "of no kind that is known"
	}
	return typeName(kind)
}

var endings = map[string][]string{pdfType: {".pdf"}, pngType: {".png"}, jpegType: {".jpg", ".jpeg", ".jpe"}}

// promises reports whether a name promises what the file is, or nothing.
func promises(name, fileType string) bool {
	ending := strings.ToLower(path.Ext(name))
	for t, known := range endings {
		if slices.Contains(known, ending) {
			return t == fileType
		}
	}
	return true
}

func damaged(name string, cause error) error {
	e := refusedFile("%s is damaged: it cannot be read to its end", name).Try("save it again from the program that wrote it")
	e.Err = cause
	return e
}
