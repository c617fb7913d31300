package report

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"countersign"
)

func pngOf(t *testing.T, read image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, read); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// header is a PNG of that size and kind that holds these bytes as its picture.
func header(width, height uint32, depth, colours, interlaced byte, raw []byte) []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(raw)
	_ = z.Close()
	return packedPNG(width, height, depth, colours, interlaced, packed.Bytes())
}

// packedPNG is one whose picture is packed already.
func packedPNG(width, height uint32, depth, colours, interlaced byte, packed []byte) []byte {
	b := bytes.NewBufferString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		_ = binary.Write(b, binary.BigEndian, uint32(len(data)))
		b.WriteString(kind)
		b.Write(data)
		_ = binary.Write(b, binary.BigEndian, crc32.ChecksumIEEE(append([]byte(kind), data...)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(head, depth, colours, 0, 0, interlaced))
	chunk("IDAT", packed)
	chunk("IEND", nil)
	return b.Bytes()
}

func TestInspect(t *testing.T) {
	deep := image.NewNRGBA64(image.Rect(0, 0, 20, 10))
	deep.Set(3, 4, color.NRGBA64{0xFFFF, 0x8000, 0, 0xFFFF})
	for name, test := range map[string]struct {
		file  []byte
		wants string // the type, or what is complained about
	}{
		"sign.png":                 {pngOf(t, image.NewRGBA(image.Rect(0, 0, 9, 9))), pngType},
		"deep.png":                 {pngOf(t, deep), pngType},
		"photo.JPG":                {jpegOf(t), jpegType},
		"photo":                    {jpegOf(t), jpegType},
		`C:\a\b.jpeg`:              {jpegOf(t), jpegType},
		"empty.png":                {nil, "empty.png is empty"},
		"page.pdf":                 {[]byte("<!DOCTYPE html><p>proof"), "page.pdf is HTML, expected PDF, PNG or JPEG (save it as PDF, PNG or JPEG)"},
		"photo.png":                {jpegOf(t), "photo.png is called as what it is not: it is JPEG"},
		"photo.heic":               {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), "photo.heic is HEIC"},
		"scan.tiff":                {[]byte("II*\x00\x08\x00\x00\x00"), "scan.tiff is TIFF"},
		"letter.docx":              {[]byte("PK\x03\x04"), "letter.docx is ZIP"},
		"some.thing":               {[]byte{1, 2, 3, 0xff}, "of no kind that is known"},
		"half.png":                 {pngOf(t, deep)[:60], "half.png is damaged"},
		"half.jpg":                 {jpegOf(t)[:200], "half.jpg is damaged"},
		"bomb.png":                 {header(60_000, 60_000, 8, 2, 0, nil), "bomb.png has 60000 by 60000 pixels; at most 30 million are taken"},
		"":                         {jpegOf(t), "the file has no name"},
		"../../":                   {jpegOf(t), "the file has no name"},
		"a\u202Egpj.exe":           {jpegOf(t), "name is no name"},
		"a\x00.jpg":                {jpegOf(t), "name is no name"},
		strings.Repeat("long", 40): {jpegOf(t), "name is no name"},
		"large.jpg":                {make([]byte, MostFileBytes+1), "large.jpg has more than 20 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Inspect(t.Context(), name, test.file)
			if !strings.Contains(test.wants, "/") {
				if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), test.wants) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || f.Type != test.wants || f.Pages != 1 || f.SHA256 != Fingerprint(test.file) || strings.ContainsAny(f.Name, `/\:`) {
				t.Errorf("got %+v, %v", f, err)
			}
		})
	}
}

func TestSendable(t *testing.T) {
	t.Run("a PNG of 16 bits becomes one of 8, and every pixel stays where it was", func(t *testing.T) {
		deep := image.NewNRGBA64(image.Rect(0, 0, 20, 10))
		deep.Set(3, 4, color.NRGBA64{0xFFFF, 0x8000, 0, 0xFFFF})
		pixel(t, pngOf(t, deep), 3, 4, color.RGBA{0xFF, 0x80, 0, 0xFF}, color.RGBA{0xFF, 0xFF, 0xFF, 0xFF})
	})
	t.Run("so does an interlaced one", func(t *testing.T) {
		pixel(t, header(1, 1, 8, 2, 1, []byte{0, 10, 20, 30}), 0, 0, color.RGBA{10, 20, 30, 0xFF}, color.RGBA{10, 20, 30, 0xFF})
	})
	t.Run("others are sent as they came", func(t *testing.T) {
		for name, content := range map[string][]byte{"a.png": pngOf(t, image.NewRGBA(image.Rect(0, 0, 9, 9))), "a.jpg": jpegOf(t)} {
			f, err := Inspect(t.Context(), name, content)
			if err != nil {
				t.Fatal(err)
			}
			if sent, err := f.Sendable(t.Context()); err != nil || !bytes.Equal(sent, content) {
				t.Errorf("%s was changed, or %v", name, err)
			}
		}
	})
}

func pixel(t *testing.T, content []byte, x, y int, want, elsewhere color.RGBA) {
	t.Helper()
	f, err := Inspect(t.Context(), "a.png", content)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := f.Sendable(t.Context())
	if err != nil || unusual(sent) || !unusual(content) {
		t.Fatalf("it is still unusual, or %v", err)
	}
	read, err := png.Decode(bytes.NewReader(sent))
	if err != nil || read.Bounds().Size() != image.Pt(int(binary.BigEndian.Uint32(content[16:])), int(binary.BigEndian.Uint32(content[20:]))) {
		t.Fatalf("it has another size, or %v", err)
	}
	if got := color.RGBAModel.Convert(read.At(x, y)); got != want {
		t.Errorf("the pixel is %v", got)
	}
	if got := color.RGBAModel.Convert(read.At(0, 0)); got != elsewhere {
		t.Errorf("another pixel is %v", got)
	}
}

func FuzzInspect(f *testing.F) {
	f.Add("a.png", header(2, 2, 8, 2, 0, make([]byte, 14)))
	f.Add("a.jpg", []byte("\xff\xd8\xff\xe0"))
	f.Add("a.pdf", []byte("%PDF-1.3\n1 0 obj<</Type/Page>>endobj\ntrailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		found, err := Inspect(t.Context(), name, content)
		if err == nil && (found.Pages < 1 || found.Type == "" || found.Name == "") {
			t.Errorf("%+v", found)
		}
	})
}
