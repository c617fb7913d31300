package report

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // reads them
	"image/png"
)

const (
	// mostPictureBytes is how much memory one picture may take while it is looked into. A file of a few kilobytes may hold a picture of
	// gigabytes, so what it would take is reckoned from its header, before anything of that size is asked for. A photograph of 30
	// million pixels fits, as a PNG of 8 bits or a plain JPEG.
	mostPictureBytes = 256 * megabyte
	// mostScans is how often a JPEG may go over its picture. A progressive one goes over it some ten times; each time costs work for
	// every pixel, and a few bytes are enough for it.
	mostScans = 500
)

// looking is had by whoever looks into a file of somebody's, across the whole process: what one of them may take is bounded, and what
// many at once would take together is not, however small each file is.
var looking = make(chan struct{}, 1)

// oneAtATime runs f when nobody else looks into a file, or returns the context's error. f must not call it again.
func oneAtATime(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case looking <- struct{}{}:
		defer func() { <-looking }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// picture reads a PNG or a JPEG, all of it: half a picture is found out here. Whoever calls is in oneAtATime.
func picture(name string, content []byte) (image.Image, error) {
	if err := fits(name, content); err != nil {
		return nil, err
	}
	read, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, damaged(name, err)
	}
	return read, nil
}

// fits refuses a picture by its header alone.
func fits(name string, content []byte) error {
	size, format, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return damaged(name, err)
	}
	if size.Width < 1 || size.Height < 1 || size.Width > mostPixels/size.Height {
		return refusedFile("%s has %d by %d pixels; at most %d million are taken", name, size.Width, size.Height, mostPixels/1_000_000).Try("scale it down")
	}
	each := inPNG(content)
	if format == "jpeg" {
		each = inJPEG(size.ColorModel, content)
	}
	if needs := int64(size.Width) * int64(size.Height) * each; needs > mostPictureBytes {
		return refusedFile("%s has %d by %d pixels of a kind that takes %s of memory; at most %s is taken", name, size.Width, size.Height, Size(needs), Size(mostPictureBytes)).
			Try("scale it down, or save it with 8 bits a channel, not interlaced and not progressive")
	}
	if n := bytes.Count(content, startOfScan); format == "jpeg" && n > mostScans {
		return refusedFile("%s has %d by %d pixels and goes over them %d times; at most %d are taken", name, size.Width, size.Height, n, mostScans).Try("save it again, not progressive")
	}
	return nil
}

// inPNG is the most bytes that a pixel of a PNG takes, by its header, which is where it must be: decoded, and drawn on white. A picture
// without an alpha channel may get one from a chunk that comes later. An interlaced one is decoded in parts, which are then put together.
func inPNG(content []byte) int64 {
	const onWhite = 4
	depth, colours, interlaced := content[24], content[25], content[28]
	decoded := int64(4)
	switch {
	case depth == 16:
		decoded = 8
	case colours == 3: // a palette's index
		decoded = 1
	}
	if interlaced != 0 {
		decoded *= 2
	}
	return decoded + onWhite
}

// inJPEG is the most bytes that a pixel of a JPEG takes: each channel as if none were coarser than another, the channels as one picture
// where they are turned into RGB or CMYK, and of a progressive one a number of four bytes for each sample until the last scan. The bytes
// that begin a progressive frame stand nowhere in a picture's own data; in a thumbnail inside they may make us too careful.
func inJPEG(colours color.Model, content []byte) int64 {
	channels, together := int64(3), int64(4)
	switch colours {
	case color.GrayModel:
		channels, together = 1, 0
	case color.CMYKModel:
		channels = 4
	}
	if bytes.Contains(content, startOfProgressive) {
		return channels + together + 4*channels
	}
	return channels + together
}

var startOfProgressive, startOfScan = []byte{0xff, 0xc2}, []byte{0xff, 0xda}

// Sendable is the file as providers take it. A PNG with 16 bits a channel, or an interlaced one, is refused by some of them: it is
// written again, with every pixel where it was. All others are what they are.
func (f File) Sendable(ctx context.Context) (plain []byte, err error) {
	if f.Type != pngType || !unusual(f.Bytes) {
		return f.Bytes, nil
	}
	err = oneAtATime(ctx, func() error {
		plain, err = plainPNG(f)
		return err
	})
	return plain, err
}

// plainPNG is a PNG on white paper, as onWhite draws it. Whoever calls is in oneAtATime.
func plainPNG(f File) ([]byte, error) {
	read, err := picture(f.Name, f.Bytes)
	if err != nil {
		return nil, err
	}
	return onWhite(read)
}

// unusual reports whether a PNG is interlaced or has 16 bits a channel. Both stand in the header, which is where it must be.
func unusual(content []byte) bool {
	return len(content) > 28 && (content[24] == 16 || content[28] != 0)
}

// onWhite is a picture as a plain PNG of 8 bits, on white paper.
func onWhite(read image.Image) ([]byte, error) {
	plain := image.NewRGBA(image.Rect(0, 0, read.Bounds().Dx(), read.Bounds().Dy()))
	draw.Draw(plain, plain.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(plain, plain.Bounds(), read, read.Bounds().Min, draw.Over)
	var b bytes.Buffer
	err := png.Encode(&b, plain)
	return b.Bytes(), err
}
