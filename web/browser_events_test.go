package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/hook"
	chromium "countersign/internal/browser"
)

// provider sends signed events to an office.
type provider struct {
	o      *office
	secret string
	sent   int
}

func (o *office) provider(name string) *provider {
	o.t.Helper()
	secret, err := o.pagesSources().Add(o.t.Context(), name, hook.DefaultWindow, operator)
	o.must(err)
	return &provider{o: o, secret: secret}
}

func (o *office) pagesSources() hook.Sources { return hook.Sources{Store: o.Store, Key: o.Key} }

// says sends what the provider knows of a dispute, and returns the case that it is about once nobody investigates it.
func (p *provider) says(dispute string) countersign.Case {
	p.o.t.Helper()
	p.sent++
	body := fmt.Appendf(nil, `{"id":"ev-%d","type":"dispute.updated","created_at":%q,"dispute":%s}`, p.sent, p.o.now().Add(time.Duration(p.sent)*time.Second).UTC().Format(time.RFC3339Nano), dispute)
	r, err := http.NewRequestWithContext(p.o.t.Context(), "POST", p.o.server.URL+"/hooks/provider", bytes.NewReader(body))
	p.o.must(err)
	r.Header.Set(hook.SignatureHeader, hook.Sign([]byte(p.secret), body, p.o.now()))
	response, err := http.DefaultClient.Do(r)
	p.o.must(err)
	response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		p.o.t.Fatalf("the event was answered %d", response.StatusCode)
	}
	kept, err := p.o.Store.EventsOf(p.o.t.Context(), "provider", "dp-1")
	p.o.must(err)
	cases, err := p.o.Store.CasesOfEvent(p.o.t.Context(), kept[len(kept)-1])
	p.o.must(err)
	return cases[0]
}

// TestADisputeFindsItsOrderAndComesBack is a dispute as a provider tells of it: its order is not known, a person attaches it and decides,
// the network agrees, and a month later it is charged back again.
func TestADisputeFindsItsOrderAndComesBack(t *testing.T) {
	o := newOffice(t).withShop()
	p := o.provider("provider")
	c := o.worked(p.says(`{"id":"dp-1","payment_id":"ch_unknown","status":"needs_response","network":"visa","reason_code":"13.1","amount":{"minor":14900,"currency":"USD"},"due_at":"2027-01-10T17:00:00Z"}`))
	ada := o.sits(auth.Analyst, chromium.Options{})
	ada.comesIn()
	ada.ClickText(string(c.ID))
	ada.See("The dispute names no order of the shop")
	ada.See("The amount was taken back; an answer is due.")
	ada.ClickText("Attach an order")
	ada.Type("#order_id", "20140")
	ada.ClickText("Attach it and investigate")
	ada.See("The case is about order 20140 now")
	o.worked(c)
	ada.opens("/cases/" + string(c.ID))
	ada.See("delivered")
	ada.ClickText("Contest USD 149.00")
	ada.ClickText("Contest USD 149.00")
	ada.See("The case is closed as contested")

	p.says(`{"id":"dp-1","status":"won"}`)
	ada.opens("/cases/" + string(c.ID))
	ada.See("The network's result: won")
	ada.See("1 new since the case was closed")

	p.says(`{"id":"dp-1","round":2,"status":"needs_response","due_at":"2027-02-10T17:00:00Z"}`)
	again := o.worked(o.latest(c.ID))
	if again.Round != 3 || again.Outcome != "" || again.Result != nil {
		t.Fatalf("it came back as %+v", again)
	}
	ada.opens("/cases/" + string(c.ID))
	ada.See("Open again: Another round has begun.")
	ada.See("It was closed, and is open again")
	ada.See("Round 2: Contested by Analyst Obi")
	report := ada.Attr("#rounds a", "href")
	if text := o.as(auth.Analyst).get(report).is(http.StatusOK, "20140").text; !strings.Contains(text, "149.00") {
		t.Error("the report of the round before is not there")
	}
	ada.ClickText("Decide")
	ada.Click(`input[value="contest"]`)
	ada.Type("#reason", "The same delivery answers it.")
	ada.ClickText("Close the case")
	ada.See("The case is closed as contested")
	ada.goes()
}

// An inquiry is never said to have taken money, and what its stage does not have is no button.
func TestAnInquiryIsNoChargeback(t *testing.T) {
	o := newOffice(t).withShop()
	p := o.provider("provider")
	c := o.worked(p.says(`{"id":"dp-1","order_id":"20140","status":"warning_needs_response","network":"klarna","amount":{"minor":14900,"currency":"USD"}}`))
	b := o.as(auth.Analyst)
	if queue := b.get("/queue").seen(); !strings.Contains(queue, string(c.ID)) {
		t.Errorf("the queue hides it:\n%s", queue)
	}
	on := "/cases/" + string(c.ID)
	shown := b.get(on).seen()
	if !strings.Contains(shown, "No money was taken.") || !strings.Contains(shown, "An answer to a Klarna inquiry is read by nobody") {
		t.Errorf("the case says:\n%s", shown)
	}
	for _, never := range []string{"was taken back;", " funds", "withdrawn"} {
		if strings.Contains(shown, never) {
			t.Errorf("the case says %q", never)
		}
	}
	revision := fmt.Sprint(o.latest(c.ID).Revision)
	b.post(on+"/override", map[string][]string{"revision": {revision}, "seen": {"99"}, "choice": {"contest"}, "reason": {"It arrived."}}).is(http.StatusConflict, "read by nobody")
	if after := o.latest(c.ID); after.Status != countersign.InReview {
		t.Errorf("it was closed as %s", after.Outcome)
	}
	o.verified()
}
