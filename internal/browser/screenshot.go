package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/page"
)

// Screenshots is the variable that names the folder in which tests keep pictures of the pages they see.
const Screenshots = "COUNTERSIGN_SCREENSHOTS"

// Screenshot writes a picture of the page to a PNG file: of what its window shows, or in full, down to the last line.
func (p *Page) Screenshot(file string, full bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	if err := picture(ctx, file, full); err != nil {
		p.fail("take a picture", err.Error())
	}
}

// Keep writes a full picture as name.png to the folder for screenshots, and does nothing when there is none.
func (p *Page) Keep(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	if err := p.keep(ctx, name); err != nil {
		p.fail("keep a picture", err.Error())
	}
}

func (p *Page) keep(ctx context.Context, name string) error {
	folder := os.Getenv(Screenshots)
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	file := strings.NewReplacer("/", "-", " ", "-", "#", "-").Replace(name) + ".png"
	return picture(ctx, filepath.Join(folder, file), true)
}

func picture(ctx context.Context, file string, full bool) error {
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng}
	if full {
		size, err := bring(ctx, page.GetLayoutMetrics, struct{}{})
		if err != nil {
			return err
		}
		params.CaptureBeyondViewport = &full
		params.Clip = &page.Viewport{Width: size.CSSContentSize.Width, Height: size.CSSContentSize.Height, Scale: 1}
	}
	taken, err := bring(ctx, page.CaptureScreenshot, params)
	if err != nil {
		return err
	}
	return os.WriteFile(file, taken.Data, 0o644)
}
