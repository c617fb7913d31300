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
	"countersign/events"
	"countersign/hook"
	chromium "countersign/internal/browser"
	"countersign/pipeline/intake"
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

// TestASourceIsAddedAndRemoved is an administrator who lets a provider send events, gives it another secret and takes it away again.
func TestASourceIsAddedAndRemoved(t *testing.T) {
	o := newOffice(t)
	root := o.sits(auth.Admin, chromium.Options{})
	root.comesIn()
	root.opens("/settings/events")
	root.Type("#source-name", "till")
	root.ClickText("Add it")
	root.See("Secret of till")
	root.ClickText("New secret")
	root.See("The one before stays good for 24 hours.")
	root.ClickText("Take nothing of it any more")
	root.See("its secret is forgotten")
	root.ClickText("Remove till")
	root.See("Nothing of till is taken any more.")
	root.See("Nobody may send events yet.")
	for _, change := range []string{"added", "given a new secret", "removed"} {
		root.See(change)
	}
	root.goes()
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
	if c := o.latest(c.ID); c.Recommendation != "CONTEST" || strings.Contains(shown, "Contest USD 149.00") || strings.Contains(b.get(on).text, on+"/approve") {
		t.Errorf("%s is recommended, and there is a button for it:\n%s", c.Recommendation, shown)
	}
	if form := b.get(on + "/override").text; !strings.Contains(form, `value="contest" required disabled`) || strings.Contains(form, `value="accept" required disabled`) {
		t.Errorf("the form offers a contest, or refuses to accept:\n%s", form)
	}
	revision := fmt.Sprint(o.latest(c.ID).Revision)
	b.post(on+"/approve", map[string][]string{"revision": {revision}, "seen": {"99"}}).is(http.StatusConflict, "read by nobody")
	b.post(on+"/override", map[string][]string{"revision": {revision}, "seen": {"99"}, "choice": {"contest"}, "reason": {"It arrived."}}).is(http.StatusConflict, "read by nobody")
	if after := o.latest(c.ID); after.Status != countersign.InReview {
		t.Errorf("it was closed as %s", after.Outcome)
	}
	o.verified()
}

// Every event of a dispute is a line of its case, in the provider's order, with the time there and the time here, and one that was told twice
// is told once and says so.
func TestACaseShowsWhatItsProviderSaid(t *testing.T) {
	o := newOffice(t).withShop()
	p := o.provider("provider")
	p.sent = 3600 // an hour ahead of the time here
	const asks = `{"id":"dp-1","order_id":"20140","status":"needs_response","network":"visa","reason_code":"13.1","amount":{"minor":14900,"currency":"USD"}}`
	c := o.worked(p.says(asks))
	p.says(asks)
	p.says(`{"id":"dp-1","status":"lost"}`)
	p.sent = 0
	p.says(`{"id":"dp-1","status":"under_review"}`) // of before, and late
	kept, err := o.Store.EventsOf(t.Context(), "provider", "dp-1")
	o.must(err)
	known, err := intake.KnownEvents(kept)
	o.must(err)
	o.worked(c) // which has more tables below
	_, table, _ := strings.Cut(o.as(auth.Analyst).get("/cases/"+string(c.ID)).text, `id="events"`)
	table, _, _ = strings.Cut(table, "</table>")
	var lines []string
	for _, line := range strings.Split(table, "<tr")[2:] {
		line, _, _ = strings.Cut(line, "</tr>")
		lines = append(lines, line)
	}
	if len(lines) != 3 {
		t.Fatalf("there are %d lines:\n%s", len(lines), table)
	}
	for n, want := range []struct {
		known events.Known
		says  string
		seen  bool
	}{{known[3], "The answer is being looked at.", false}, {known[0], "an answer is due", true}, {known[2], "Decided against the shop.", false}} {
		for _, at := range []time.Time{want.known.CreatedAt, want.known.ReceivedAt} {
			if !strings.Contains(lines[n], `datetime="`+at.UTC().Format(time.RFC3339)+`"`) {
				t.Errorf("line %d does not say %s:\n%s", n, at, lines[n])
			}
		}
		if !strings.Contains(lines[n], want.says) || strings.Contains(lines[n], "seen 2×") != want.seen {
			t.Errorf("line %d, want %q, seen twice %t:\n%s", n, want.says, want.seen, lines[n])
		}
	}
	if c = o.latest(c.ID); c.Result == nil || c.Result.State != "lost" {
		t.Errorf("an event that came late took the end back: %+v", c.Result)
	}
	o.verified()
}
