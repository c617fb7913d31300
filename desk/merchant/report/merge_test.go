package report

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/go-pdf/fpdf"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"countersign"
)

// letter is somebody's PDF of so many pages.
func letter(t *testing.T, pages int) []byte {
	t.Helper()
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetFont("Helvetica", "", 20)
	for range pages {
		doc.AddPage()
		doc.Text(30, 40, "Proof of delivery")
	}
	b, err := written(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bomb is a PDF of 80 kB whose table of objects is 80 MB of zeros.
func bomb(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for range 80 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	at := b.Len()
	fmt.Fprintf(&b, "1 0 obj\n<</Type/XRef/W[1 4 2]/Size 30000000/Root 2 0 R/Filter/FlateDecode/Length %d>>\nstream\n", packed.Len())
	b.Write(packed.Bytes())
	fmt.Fprintf(&b, "\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", at)
	return b.Bytes()
}

func inspected(t *testing.T, name string, content []byte) File {
	t.Helper()
	f, err := Inspect(t.Context(), name, content)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPDFs(t *testing.T) {
	t.Run("their pages are counted", func(t *testing.T) {
		if f := inspected(t, "letter.pdf", letter(t, 7)); f.Pages != 7 || f.Type != pdfType {
			t.Errorf("got %d, %s", f.Pages, f.Type)
		}
	})
	locked := func(user string) []byte {
		var b bytes.Buffer
		if err := api.Encrypt(bytes.NewReader(letter(t, 1)), &b, model.NewAESConfiguration(user, "owner", 256)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, test := range map[string]struct {
		file  []byte
		wants string
	}{
		"locked.pdf":     {locked("secret"), "locked.pdf is encrypted"},
		"restricted.pdf": {locked(""), "restricted.pdf is encrypted"},
		"cut.pdf":        {letter(t, 3)[:900], "cut.pdf is damaged"},
		"name.pdf":       {[]byte("%PDF-1.7\nnothing of the kind"), "name.pdf is damaged"},
		"bomb.pdf":       {bomb(t), "bomb.pdf is damaged"},
		"book.pdf":       {letter(t, 301), "book.pdf has 301 pages; at most 300 are taken"},
	} {
		t.Run(test.wants, func(t *testing.T) {
			if _, err := Inspect(t.Context(), name, test.file); countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), test.wants) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	files := []File{inspected(t, "letter.pdf", letter(t, 2)), inspected(t, "sign.png", pngOf(t, image.NewNRGBA64(image.Rect(0, 0, 300, 120)))), inspected(t, "photo.jpg", jpegOf(t))}
	c := sample()
	c.Attachments = nil
	for i, f := range files {
		c.Attachments = append(c.Attachments, Attachment{ID: "E" + string(rune('8'+i)), Name: f.Name, Type: f.Type, Size: f.Size, SHA256: f.SHA256, Pages: f.Pages, AddedBy: "A. Okafor", AddedAt: "2026-12-01T08:22:10Z"})
	}
	c.Attachments[2].ID = "E10"
	r := sealed(t, c)
	m, err := r.Merge(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the pack has the pages of all, and its hash", func(t *testing.T) {
		n, err := api.PageCount(bytes.NewReader(m.Bytes), quiet())
		_, own, _ := r.onPaper()
		if err != nil || n != m.Pages || n != own+4 || m.SHA256 != Fingerprint(m.Bytes) {
			t.Errorf("it has %d pages and says %d, or %v", n, m.Pages, err)
		}
	})
	t.Run("it still carries the report's content, and verify says what it can", func(t *testing.T) {
		if v := verdict(t, m.Bytes); v.State != CannotTell || v.Fingerprint != r.Fingerprint() || !strings.Contains(v.Why, "merged") {
			t.Errorf("got %v", v)
		}
	})
	t.Run("what is measured is the pack", func(t *testing.T) {
		p, err := r.Pack(t.Context(), files)
		if err != nil || len(p.Files) != 1 || p.Files[0].Pages != m.Pages || p.Files[0].Size < 60_000 {
			t.Errorf("got %+v, %v", p, err)
		}
	})
	t.Run("without attachments it is the report itself", func(t *testing.T) {
		c := sample()
		c.Attachments = nil
		m, err := sealed(t, c).Merge(t.Context(), nil)
		if err != nil || !bytes.Equal(m.Bytes, rendered(t, c, PDF)) {
			t.Errorf("it is not, or %v", err)
		}
	})
	t.Run("another file under the same name is refused, and one too many or too few", func(t *testing.T) {
		other := append([]File{inspected(t, "letter.pdf", letter(t, 3))}, files[1:]...)
		exchanged := append([]File{{Name: "letter.pdf", Type: pdfType, SHA256: files[0].SHA256, Pages: 2, Bytes: letter(t, 1)}}, files[1:]...)
		for _, wrong := range [][]File{other, exchanged, files[:2], append(files[:3:3], files[0]), {files[1], files[0], files[2]}} {
			if _, err := r.Merge(t.Context(), wrong); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("got %v", err)
			}
		}
	})
}
