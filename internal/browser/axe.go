package browser

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Violation is a rule of accessibility that a page breaks.
type Violation struct {
	Rule, Impact, Help string
	Where              []string // a selector for each element
}

func (v Violation) String() string {
	return fmt.Sprintf("%s (%s): %s: %s", v.Rule, v.Impact, v.Help, strings.Join(v.Where, ", "))
}

// thorough is how long axe may take: it looks at every element many times over.
const thorough = time.Minute

// examine asks for no style sheets, which axe would load a second time and past the page's policy.
const examine = `axe.run(document, { resultTypes: ['violations'], preload: false }).then(found => found.violations.map(v => ({
	Rule: v.id, Impact: v.impact, Help: v.help, Where: v.nodes.map(n => n.target.join(' ')),
})))`

// Axe lists the rules of axe-core that the page breaks as it is now, empty if there are none. Axe runs in a world of its own
// that shares nothing with the page but the elements, so the page's content security policy is not in its way, nor it in the
// page's.
func (p *Page) Axe() (found []Violation) {
	p.t.Helper()
	source, err := os.ReadFile(p.axe)
	if err == nil {
		found, err = p.examined(string(source))
	}
	if err != nil {
		p.fail("run axe", err.Error())
	}
	return found
}

func (p *Page) examined(axe string) ([]Violation, error) {
	ctx, cancel := context.WithTimeout(p.ctx, thorough)
	defer cancel()
	if p.noScript {
		// Axe waits by timers, which stand still where scripts may not run. The page's own were passed over when it was read.
		_ = chromedp.Do(ctx, scripting(true))
		defer func() { _ = chromedp.Do(ctx, scripting(false)) }()
	}
	world, err := bring(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: p.frame, WorldName: "axe"})
	if err != nil {
		return nil, err
	}
	inside := func(e *runtime.EvaluateParams) { e.ContextID = world.ExecutionContextID }
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](axe+";0", inside)); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[[]Violation](examine, inside, chromedp.EvalAwaitPromise))
}
