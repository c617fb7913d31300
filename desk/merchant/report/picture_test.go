package report

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"runtime"
	"strings"
	"testing"

	"countersign"
)

// zeros is the picture of a PNG of that size whose every pixel is nothing, packed; bits are of one pixel.
func zeros(t *testing.T, width, height, bits int) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	row := make([]byte, 1+(width*bits+7)/8)
	for range height {
		_, _ = z.Write(row)
	}
	_ = z.Close()
	return packed.Bytes()
}

// frame is a JPEG of that size whose every sample is nothing: so many channels, in so many scans, progressive or not.
func frame(width, height, channels, scans int, progressive bool) []byte {
	b := []byte("\xff\xd8")
	segment := func(marker byte, data ...byte) {
		b = append(binary.BigEndian.AppendUint16(append(b, 0xff, marker), uint16(len(data)+2)), data...)
	}
	if channels == 4 {
		segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	head := []byte{8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), byte(channels)}
	scan := []byte{byte(channels)}
	for i := range byte(channels) {
		head, scan = append(head, i+1, 0x11, 0), append(scan, i+1, 0)
	}
	start, end, bits := byte(0xc0), byte(63), 2 // "no difference", and "nothing more in this block"
	if progressive {
		start, end, bits = 0xc2, 0, 1
	}
	segment(start, head...)
	oneCode := append([]byte{0, 1}, make([]byte, 16)...)
	segment(0xc4, oneCode...)
	oneCode[0] = 0x10
	segment(0xc4, oneCode...)
	blocks := ((width + 7) / 8) * ((height + 7) / 8) * channels
	for range scans {
		segment(0xda, append(scan, 0, end, 0)...)
		b = append(b, make([]byte, (blocks*bits+7)/8)...)
	}
	return append(b, 0xff, 0xd9)
}

// taken is how many bytes f asked for, all in all.
func taken(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestALargePictureInASmallFileIsRefusedByItsHeader(t *testing.T) {
	for name, x := range map[string]struct {
		file []byte
		says string
	}{
		"deep.png":        {header(20_000, 20_000, 16, 6, 0, nil), "deep.png has 20000 by 20000 pixels; at most 30 million are taken"},
		"whole.png":       {packedPNG(5_000, 5_000, 16, 6, 0, zeros(t, 5_000, 5_000, 64)), "whole.png has 5000 by 5000 pixels of a kind that takes 300.00 MB of memory; at most 256.00 MB is taken"},
		"grey.png":        {header(5_000, 5_000, 16, 0, 0, nil), "grey.png has 5000 by 5000 pixels of a kind"}, // a chunk that comes later may give it an alpha channel
		"interlaced.png":  {header(4_000, 4_000, 16, 6, 1, nil), "takes 320.00 MB of memory"},
		"interlaced8.png": {header(5_000, 5_000, 8, 6, 1, nil), "takes 300.00 MB of memory"},
		"wide.jpg":        {frame(20_000, 20_000, 1, 1, false), "wide.jpg has 20000 by 20000 pixels; at most 30 million are taken"},
		"progressive.jpg": {frame(4_000, 4_000, 3, 1, true), "progressive.jpg has 4000 by 4000 pixels of a kind that takes 304.00 MB of memory"},
		"cmyk.jpg":        {frame(4_000, 4_000, 4, 1, true), "takes 384.00 MB of memory"},
		"scans.jpg":       {frame(800, 80, 1, 501, true), "scans.jpg has 800 by 80 pixels and goes over them 501 times; at most 500 are taken"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := taken(func() { _, err = Inspect(t.Context(), name, x.file) })
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(fmt.Sprint(err), x.says) {
				t.Errorf("got %v, want …%s…", err, x.says)
			}
			if took > 1_000_000 {
				t.Errorf("to refuse it took %d bytes, and the file has %d", took, len(x.file))
			}
			kind := pngType
			if strings.HasSuffix(name, ".jpg") {
				kind = jpegType
			}
			took = taken(func() {
				_, err = sealed(t, sample()).picturePage(Attachment{ID: "E9", Name: name}, File{Name: name, Type: kind, Bytes: x.file})
			})
			if countersign.KindOf(err) != countersign.Invalid || took > 2_000_000 {
				t.Errorf("put on a page it took %d bytes and said %v", took, err)
			}
		})
	}
}

// What is reckoned from a header must be what decoding takes at most, of every kind.
func TestNoPictureTakesMoreThanIsReckoned(t *testing.T) {
	const side = 1_000
	png := func(depth, colours byte, bits int) []byte {
		return packedPNG(side, side, depth, colours, 0, zeros(t, side, side, bits))
	}
	models := map[int]color.Model{1: color.GrayModel, 3: color.YCbCrModel, 4: color.CMYKModel}
	jpeg := func(channels int, progressive bool) ([]byte, int64) {
		file := frame(side, side, channels, 1, progressive)
		return file, inJPEG(models[channels], file)
	}
	reckoned := map[string]int64{}
	files := map[string][]byte{"grey.png": png(8, 0, 8), "colour.png": png(8, 2, 24), "grey and alpha.png": png(8, 4, 16), "alpha.png": png(8, 6, 32),
		"grey of one bit.png": png(1, 0, 1), "palette.png": pngOf(t, image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})),
		"deep grey.png": png(16, 0, 16), "deep.png": png(16, 2, 48), "deep alpha.png": png(16, 6, 64), "deep grey and alpha.png": png(16, 4, 32)}
	for name, file := range files {
		reckoned[name] = inPNG(file)
	}
	for _, channels := range []int{1, 3, 4} {
		for _, progressive := range []bool{false, true} {
			name := fmt.Sprintf("%d channels, progressive %v.jpg", channels, progressive)
			files[name], reckoned[name] = jpeg(channels, progressive)
		}
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			var err error
			took := taken(func() { _, err = picture(name, file) })
			if err != nil {
				t.Fatal(err)
			}
			if most := reckoned[name]*side*side + 500_000; took > most {
				t.Errorf("it took %d bytes, and %d were reckoned", took, most)
			}
		})
	}
}

// An interlaced picture is decoded in seven parts, and then put together.
func TestNoInterlacedPictureTakesMoreThanIsReckoned(t *testing.T) {
	const side = 1_024 // every part of it has whole bytes
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for _, part := range [][2]int{{8, 8}, {8, 8}, {4, 8}, {4, 4}, {2, 4}, {2, 2}, {1, 2}} { // one pixel in so many across, and down
		for range side / part[1] {
			_, _ = z.Write(make([]byte, 1+side/part[0]*8))
		}
	}
	_ = z.Close()
	file := packedPNG(side, side, 16, 6, 1, packed.Bytes())
	var err error
	took := taken(func() { _, err = picture("a.png", file) })
	if most := inPNG(file)*side*side + 500_000; err != nil || took > most {
		t.Errorf("it took %d bytes of %d, or %v", took, most, err)
	}
}

func TestALargePhotographOfAnOrdinaryKindIsTaken(t *testing.T) {
	for name, file := range map[string][]byte{"photo.jpg": frame(6_000, 5_000, 3, 1, false), "screen.png": packedPNG(6_000, 5_000, 8, 2, 0, zeros(t, 6_000, 5_000, 24))} {
		if _, err := Inspect(t.Context(), name, file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// asking is a context that tells when somebody asks for its end, which is when they begin to wait.
type asking struct {
	context.Context
	asked chan<- struct{}
}

func (a asking) Done() <-chan struct{} {
	a.asked <- struct{}{}
	return a.Context.Done()
}

func TestFilesAreLookedIntoOneAtATime(t *testing.T) {
	files := map[string][]byte{"photo.jpg": jpegOf(t), "letter.pdf": letter(t, 1)}
	c := sample()
	c.Attachments = nil
	r := sealed(t, c)
	work := map[string]func(context.Context) error{
		"photo.jpg":  func(ctx context.Context) error { _, err := Inspect(ctx, "photo.jpg", files["photo.jpg"]); return err },
		"letter.pdf": func(ctx context.Context) error { _, err := Inspect(ctx, "letter.pdf", files["letter.pdf"]); return err },
		"a pack":     func(ctx context.Context) error { _, err := r.Merge(ctx, nil); return err },
	}
	for name, do := range work {
		t.Run(name+" waits, and no longer than whoever asks", func(t *testing.T) {
			looking <- struct{}{}
			defer func() { <-looking }()
			ctx, cancel := context.WithCancel(t.Context())
			asked, done := make(chan struct{}, 9), make(chan error, 1)
			go func() { done <- do(asking{ctx, asked}) }()
			select {
			case <-asked:
			case err := <-done:
				t.Fatalf("it did not wait, and came to %v", err)
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		t.Run(name+" has its turn when it is free again", func(t *testing.T) {
			if err := do(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
