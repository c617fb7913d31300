package browser

import (
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// Options say on what a page is looked at. The zero value is a desktop of 1280 by 800 in daylight.
type Options struct {
	Width, Height  int
	Dark           bool          // the system asks for a dark scheme
	ReducedMotion  bool          // the system asks for less motion
	NoScript       bool          // the page's own scripts do not run; everything here works all the same
	Print          bool          // as on paper
	AnyCertificate bool          // a server's certificate need not be one that anybody vouches for
	Patience       time.Duration // how long to wait for anything, 15 seconds if it is not said
}

func (o Options) apply() []chromedp.Action[chromedp.Void] {
	size := emulation.SetDeviceMetricsOverrideParams{Width: int64(o.Width), Height: int64(o.Height), DeviceScaleFactor: 1}
	if o.Width == 0 {
		size.Width = 1280
	}
	if o.Height == 0 {
		size.Height = 800
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: either(o.Dark, "dark", "light")},
		{Name: "prefers-reduced-motion", Value: either(o.ReducedMotion, "reduce", "no-preference")},
	}}
	if o.Print {
		media.Media = "print"
	}
	return []chromedp.Action[chromedp.Void]{
		command(emulation.SetDeviceMetricsOverride, size),
		command(emulation.SetEmulatedMedia, media),
		scripting(!o.NoScript),
		command(security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: o.AnyCertificate}),
		// Only one window of a machine has the focus; a page that believes it has it is drawn and takes keys like that one.
		command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
	}
}

func scripting(on bool) chromedp.Action[chromedp.Void] {
	return command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

func either(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
