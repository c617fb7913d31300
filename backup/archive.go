package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"countersign"
)

const manifestName = "manifest.json"

// pack writes an archive. The quickest compression is enough: what is slow here is a longer backup, and what is read meanwhile
// cannot be tidied up in the database.
func pack(w io.Writer, m Manifest, content io.Reader) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err // unreachable: it is made of texts and numbers
	}
	zipped, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err // unreachable: there is such a level
	}
	entries := tar.NewWriter(zipped)
	err = entry(entries, manifestName, m.At, int64(len(text)), bytes.NewReader(text))
	if err == nil {
		err = entry(entries, m.Content.Name, m.At, m.Content.Size, content)
	}
	if err != nil {
		return err
	}
	return errors.Join(entries.Close(), zipped.Close())
}

func entry(w *tar.Writer, name string, at time.Time, size int64, content io.Reader) error {
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at.Truncate(time.Second), Format: tar.FormatPAX}
	if err := w.WriteHeader(&header); err != nil {
		return err
	}
	_, err := io.Copy(w, content)
	return err
}

// unpack reads a whole archive and hands its database to the writer. An error says that the archive is not whole, or that nothing can
// be done with it; what the writer got until then is worth nothing.
func unpack(r io.Reader, content io.Writer) (m Manifest, err error) {
	zipped, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<20))
	if err != nil {
		return m, damaged(err)
	}
	entries := tar.NewReader(zipped)
	header, err := entries.Next()
	if err != nil || header.Name != manifestName {
		return m, damaged(cause(err, "it does not begin with a manifest"))
	}
	text, err := io.ReadAll(io.LimitReader(entries, 1<<20))
	if err != nil {
		return m, damaged(err)
	}
	if m, err = readManifest(text); err != nil {
		return m, err
	}
	if header, err = entries.Next(); err != nil || header.Name != m.Content.Name {
		return m, damaged(cause(err, "the manifest is followed by nothing that it names"))
	}
	sum := sha256.New()
	to := &writer{Writer: content}
	size, err := io.Copy(io.MultiWriter(sum, to), entries)
	switch {
	case to.err != nil:
		return m, to.err
	case err != nil:
		return m, damaged(err)
	case size != m.Content.Size || hex.EncodeToString(sum.Sum(nil)) != m.Content.SHA256:
		return m, damaged(errors.New("the database in it is not the one that its manifest describes"))
	}
	if _, err := entries.Next(); err != io.EOF {
		return m, damaged(cause(err, "there is something behind the database"))
	}
	if _, err := io.Copy(io.Discard, zipped); err != nil { // to the end, where the last sum stands
		return m, damaged(err)
	}
	return m, nil
}

// writer remembers that writing failed, so that a full disk is not taken for a bad archive.
type writer struct {
	io.Writer
	err error
}

func (w *writer) Write(b []byte) (n int, err error) {
	n, err = w.Writer.Write(b)
	w.err = err
	return n, err
}

func cause(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errors.New(otherwise)
}

// damaged is the error of a file that is no backup, or none that is whole.
func damaged(cause error) error {
	e := countersign.Errorf(countersign.Unprocessed, "this is not a whole backup: it is cut short, damaged, or something else").
		Try("take another one; nothing was changed")
	e.Err = cause
	return e
}

// until reads as long as somebody waits for it.
type until struct {
	context.Context
	io.Reader
}

func (u until) Read(b []byte) (int, error) {
	if err := u.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(b)
}

// describe is size and hash of a file.
func describe(ctx context.Context, path, name string) (c Content, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, until{ctx, f})
	return Content{Name: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}
