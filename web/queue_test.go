package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/app"
	"countersign/auth"
	"countersign/demo"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
	"countersign/store/storetest"
)

// listed are the cases that a page of the queue lists, in order.
func (p page) listed() (ids []string) {
	p.t.Helper()
	for _, link := range p.is(http.StatusOK).parse().find("a") {
		if _, row := link.attrs["data-open"]; row {
			ids = append(ids, link.text)
		}
	}
	return ids
}

// demoOffice is one whose bank is the demo's, with every dispute of it worked as far as the program goes by itself.
func demoOffice(t testing.TB) *office {
	t.Helper()
	var o *office
	now := time.Now().UTC().Truncate(time.Hour)
	o = newOffice(t, func(c *app.Config) {
		c.Models = demo.Models(now, func(ctx context.Context, set records.Set) error {
			_, err := feed.Feed{Store: o.Store}.Set(ctx, set)
			return err
		})
	})
	o.mode(policy.Act)
	o.load(demo.Bank(now))
	o.must(demo.Damage(t.Context(), o.Store.DB()))
	var opened []countersign.CaseID
	for _, d := range demo.Disputes() {
		opened = append(opened, o.complain(intake.Request{SubjectID: d.TransactionID, Reason: d.Reason, Notes: d.Notes, Channel: d.Channel}).ID)
	}
	for _, id := range opened {
		_, err := o.Wait(t.Context(), id)
		o.must(err)
	}
	return o
}

func TestEveryNumberOfTheQueueIsWhatItLists(t *testing.T) {
	o := demoOffice(t)
	b := o.as(auth.Analyst)
	waiting := b.get("/queue").listed()
	o.raise(countersign.CaseID(waiting[3]))
	o.write(claimed(countersign.CaseID(waiting[5]), o.people[auth.Analyst]))
	checked := 0
	counts := func(from, count string, page page) {
		checked++
		if n := len(page.listed()); count != fmt.Sprint(n) {
			t.Errorf("%s says %s, and %d are listed", from, count, n)
		}
	}
	for _, from := range []string{"/queue", "/queue?show=raised", "/queue?show=open", "/queue?show=closed", "/queue?late=yes", "/queue?mine=yes", "/queue?show=open&complaint=failed_transfer",
		"/queue?why=fraud_suspected&wants=escalate", "/queue?q=NGN+50000&show=open"} {
		doc := b.get(from).is(http.StatusOK).parse()
		for _, tab := range doc.find("nav", "aria-label", "Which cases")[0].find("a") {
			if count := tab.find("span", "class", "count"); len(count) > 0 { // closed ones are not counted beside every choice
				counts(from+", tab "+tab.text, count[0].text, b.get(tab.attrs["href"]))
			}
		}
		filters := doc.find("form", "action", "/queue")
		for _, choice := range filters[len(filters)-1].find("select") {
			for _, option := range choice.find("option") {
				if _, count, counted := strings.Cut(option.text, " · "); counted {
					address := b.url(from)
					q := address.Query()
					q.Set(choice.attrs["name"], option.attrs["value"])
					counts(from+", "+choice.attrs["name"]+" "+option.text, count, b.get("/queue?"+q.Encode()))
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d numbers were looked at", checked)
	}
}

// Every page of every case of the demo can be read, and what leads somewhere leads somewhere.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	o := demoOffice(t)
	b := o.as(auth.Admin)
	seen := map[string]bool{}
	for next := []string{"/queue", "/queue?show=open", "/queue?show=closed"}; len(next) > 0; {
		path := next[0]
		next = next[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		p := b.get(path)
		if p.status != http.StatusOK {
			t.Errorf("%s is %d", path, p.status)
			continue
		}
		if !strings.HasPrefix(p.header.Get("Content-Type"), "text/html") {
			continue
		}
		p.sound(path)
		for _, link := range p.parse().find("a") {
			if to := link.attrs["href"]; !strings.HasPrefix(to, "#") && !strings.Contains(to, "/record") && !strings.HasPrefix(to, "/templates/") {
				next = append(next, to)
			}
		}
	}
	if len(seen) < 150 {
		t.Errorf("only %d pages were found", len(seen))
	}
	o.verified()
}

// sound fails the test if the page holds the remains of a template that went wrong, an id twice, or a link to a place that is
// not on it.
func (p page) sound(path string) {
	p.t.Helper()
	for _, remains := range []string{"ZgotmplZ", "<no value>", "&lt;no value&gt;", "%!", "&lt;nil&gt;", "0001-01-01", "0xc0"} {
		if strings.Contains(p.text, remains) {
			p.t.Errorf("%s holds %q", path, remains)
		}
	}
	ids := map[string]bool{}
	doc := p.parse()
	for _, e := range doc.all {
		if id, ok := e.attrs["id"]; ok {
			if ids[id] {
				p.t.Errorf("%s has the id %q twice", path, id)
			}
			ids[id] = true
		}
	}
	for _, e := range doc.find("a") {
		if to, ok := strings.CutPrefix(e.attrs["href"], "#"); ok {
			if id, err := url.PathUnescape(to); err != nil || !ids[id] {
				p.t.Errorf("%s leads to %q, which is not on it (%v)", path, id, err)
			}
		}
	}
}

func TestTakingTheNextCase(t *testing.T) {
	o := newOffice(t, func(c *app.Config) { c.Work = false })
	storetest.Fill(t, o.Store, storetest.Filled{Cases: 200, Open: 60})
	ada, bola := o.as(auth.Analyst), o.as(auth.Approver)
	took := &taken{by: map[string]string{}, t: t}

	o.run(t, "it is the one most at risk, and others see who has it", func(t *testing.T) {
		// The first for an analyst to decide: what was raised, or waits for a second approval, is not.
		var first string
		o.must(o.Store.DB().QueryRow("SELECT id FROM cases WHERE status = 'in_review' AND NOT raised ORDER BY risk, id LIMIT 1").Scan(&first))
		if listed := ada.get("/queue").listed(); !slices.Contains(listed, first) {
			t.Errorf("the queue lists %q, without %s", listed, first)
		}
		p := ada.post("/queue/next", ada.get("/queue").form("/queue/next"))
		if p.leads() != "/cases/"+first {
			t.Errorf("it is %s, the first that is hers to decide is %s", p.leads(), first)
		}
		took.note("ada", p)
		ada.follow(p).is(http.StatusOK, "You have this case: others see it.", "Others see that you have this case.")
		bola.get("/cases/"+first).is(http.StatusOK, "Analyst Obi has had this case before them since", "You can decide it all the same.", "Take it over")
		bola.get("/queue").is(http.StatusOK, "Analyst Obi")
		ada.get("/queue?mine=yes").is(http.StatusOK, "you")
	})
	o.run(t, "it is one of those that were listed", func(t *testing.T) {
		from := "/queue?why=fraud_suspected"
		fraud := ada.get(from).listed()
		p := ada.post("/queue/next", ada.get(from).form("/queue/next"))
		if !slices.Contains(fraud, strings.TrimPrefix(p.leads(), "/cases/")) {
			t.Errorf("it is %s, of %q", p.leads(), fraud)
		}
		took.note("ada", p)
	})
	o.run(t, "two people who ask at once never get the same", func(t *testing.T) {
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() { took.note("ada", ada.post("/queue/next", nil)) })
			all.Go(func() { took.note("bola", bola.post("/queue/next", nil)) })
		}
		all.Wait()
	})
	o.run(t, "when none is left it says so, and takes none from anybody", func(t *testing.T) {
		for p := (page{}); !strings.HasPrefix(p.leads(), "/queue"); {
			if p = ada.post("/queue/next", nil); strings.HasPrefix(p.leads(), "/cases/") {
				took.note("ada", p)
			}
		}
		before := o.everything()
		ada.follow(ada.post("/queue/next", url.Values{"back": {"/queue?show=open"}})).is(http.StatusOK, "every case that waits for a person is before somebody")
		if o.everything() != before {
			t.Error("something was changed")
		}
	})
	o.run(t, "one may be taken over, and let go", func(t *testing.T) {
		id := ada.get("/queue?mine=yes").listed()[0]
		bola.follow(bola.post("/cases/"+id+"/claim", nil)).is(http.StatusOK, "You have this case now. Analyst Obi had it.")
		ada.get("/cases/"+id).is(http.StatusOK, "Approver Obi has had this case")
		before := o.everything()
		if ada.post("/cases/"+id+"/release", nil); o.everything() != before {
			t.Error("somebody let go what another has")
		}
		bola.follow(bola.post("/cases/"+id+"/release", nil)).is(http.StatusOK, "You let "+id+" go.")
	})
	o.run(t, "a closed one is nobody's", func(*testing.T) {
		closed := ada.get("/queue?show=closed").listed()[0]
		ada.post("/cases/"+closed+"/claim", nil).is(http.StatusConflict, "does not wait for a person")
		ada.post("/cases/D-NONE/claim", nil).is(http.StatusNotFound)
	})
	o.run(t, "whoever looks at theirs keeps it, and loses it when they are away", func(t *testing.T) {
		p := ada.post("/queue/next", nil)
		id := strings.TrimPrefix(p.leads(), "/cases/")
		for range 3 {
			o.later(9 * time.Minute)
			ada.get("/cases/"+id).is(http.StatusOK, "Others see that you have this case.")
		}
		o.later(11 * time.Minute)
		if p := bola.get("/cases/" + id); strings.Contains(p.seen(), "has had this case") {
			t.Error("it is still theirs")
		}
	})
	o.run(t, "where it came from is a page of ours, or the queue", func(t *testing.T) {
		for range 70 { // until none is free
			ada.post("/queue/next", nil)
		}
		for back, want := range map[string]string{"/queue?show=raised": "/queue?show=raised", "//evil.example": "/queue", "https://evil.example": "/queue", "": "/queue", "/queue?show=all": ""} {
			if p := ada.post("/queue/next", url.Values{"back": {back}}); p.leads() != want {
				t.Errorf("from %q it leads to %q, want %q", back, p.leads(), want)
			}
		}
	})
}

// taken is who took which case.
type taken struct {
	mu sync.Mutex
	by map[string]string
	t  testing.TB
}

// note fails the test unless the page gave somebody a case that nobody had.
func (k *taken) note(who string, p page) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, ok := strings.CutPrefix(p.leads(), "/cases/")
	if other := k.by[id]; other != "" || !ok {
		k.t.Errorf("%s took %q (%d), which %q has", who, id, p.status, other)
	}
	k.by[id] = who
}

func TestThePagesOfTheQueue(t *testing.T) {
	o := newOffice(t, func(c *app.Config) { c.Work = false })
	storetest.Fill(t, o.Store, storetest.Filled{Cases: 400, Open: 170})
	b := o.as(auth.Auditor)
	o.run(t, "following them to the end lists every case once, most at risk first", func(t *testing.T) {
		var all []string
		pages := 0
		for path := "/queue?show=open"; path != ""; pages++ {
			p := b.get(path)
			all = append(all, p.listed()...)
			path = ""
			for _, link := range p.parse().find("a") {
				if link.text == "Next 50" {
					path = link.attrs["href"]
				}
			}
		}
		once := slices.Compact(slices.Sorted(slices.Values(all)))
		if len(all) != 170 || len(once) != 170 || pages != 4 {
			t.Errorf("%d pages list %d cases, %d of them once", pages, len(all), len(once))
		}
		for i, id := range all[1:] {
			a, b := o.latest(countersign.CaseID(all[i])), o.latest(countersign.CaseID(id))
			if a.DueAt != nil && (b.DueAt == nil || b.DueAt.Before(*a.DueAt)) {
				t.Errorf("%s comes after %s", id, all[i])
			}
		}
	})
	for _, address := range []string{"show=all", "desk=shop", "complaint=rudeness", "why=because", "wants=more", "after=x", "after=5", "after=x+D-1", "after=99999999999999999999+D-1", "q=" + strings.Repeat("x", 201), "q=%00", "q=%ff", "show=open%27--"} {
		o.run(t, "an address that no page has: "+address, func(*testing.T) { b.get("/queue?"+address).is(http.StatusBadRequest, "Go to the queue") })
	}
	o.run(t, "the script asks for what has changed, and is told in one line", func(t *testing.T) {
		news := b.get("/queue").parse()
		var address string
		for _, e := range news.all {
			if strings.HasPrefix(e.attrs["hx-get"], "/queue/news") {
				address = e.attrs["hx-get"]
			}
		}
		if p := b.get(address); p.status != http.StatusOK || strings.Contains(p.text, "<a") {
			t.Errorf("with nothing new it is %d %s", p.status, p.text)
		}
		o.raise(countersign.CaseID(b.get("/queue").listed()[0]))
		if p := b.get(address); p.status != http.StatusOK || !strings.Contains(p.text, "<a") || strings.Contains(p.text, "<html") {
			t.Errorf("with something new it is %d %s", p.status, p.text)
		}
		if p := o.browser().send("GET", address, nil, http.Header{"Hx-Request": {"true"}, "Hx-Current-Url": {o.server.URL + "/queue?show=open"}}); p.status != http.StatusUnauthorized ||
			p.header.Get("HX-Redirect") != "/sign-in?next=%2Fqueue%3Fshow%3Dopen" || p.text != "" {
			t.Errorf("to nobody it is %d %v %s", p.status, p.header, p.text)
		}
	})
}
