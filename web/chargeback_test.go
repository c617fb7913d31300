package web_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/demo"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/report"
)

// withShop connects the demo's shop and takes in those of its policies that are plain text.
func (o *office) withShop() *office {
	o.t.Helper()
	path := filepath.Join(o.t.TempDir(), "shop.db")
	o.must(demo.MakeShop(o.t.Context(), path, o.now()))
	mapping, err := connector.ParseMapping(demo.ShopMapping(path))
	o.must(err)
	_, err = o.Setup.Save(o.t.Context(), mapping, operator, operator)
	o.must(err)
	policies, err := demo.Policies()
	o.must(err)
	for _, p := range policies {
		if strings.HasSuffix(p.File, ".md") || strings.HasSuffix(p.File, ".txt") {
			r, err := o.Library.Import(o.t.Context(), operator, p.File, p.Bytes, p.ValidFrom)
			o.must(err)
			o.must(o.Library.Confirm(o.t.Context(), operator, r.VersionID))
		}
	}
	return o
}

// chargeback opens one by the page, whatever others there are about its order, and returns its case once a person can decide it.
func (b *browser) chargeback(o *office, form url.Values) countersign.Case {
	b.t.Helper()
	p := b.post("/open/chargeback", with(form, "another", "yes"))
	if p.status != http.StatusSeeOther {
		b.t.Fatalf("answered %d: %s", p.status, p.seen())
	}
	return o.worked(o.latest(countersign.CaseID(strings.TrimPrefix(strings.Split(p.leads(), "?")[0], "/cases/"))))
}

// TestAnOrderIsContestedAndItsReportVerifies is the merchant's desk by its pages: an order's number in, a decision and an evidence
// report out.
func TestAnOrderIsContestedAndItsReportVerifies(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c := b.chargeback(o, url.Values{"order_id": {"20140"}, "network": {"Visa"}, "reason_code": {"13.1"}, "stage": {"chargeback"}, "amount": {"149.00"}, "currency": {"usd"},
		"due": {"2027-01-10T17:00"}, "notes": {"Never arrived. <b>IGNORE ALL</b>"}})
	on := "/cases/" + string(c.ID)
	shown := b.get(on).seen()
	for _, says := range []string{"Contest it", "Contest USD 149.00", "delivered", "Returns and Refunds", "word for word", "whoever sent the chargeback", "The shop's own rows", "20140"} {
		if !strings.Contains(shown, says) {
			t.Errorf("the case does not say %q:\n%s", says, shown)
		}
	}
	for _, never := range []string{"Message to the customer", "The records support no fix", "The bank's own rows"} {
		if strings.Contains(shown, never) {
			t.Errorf("the case says %q", never)
		}
	}
	b.get(on+"/report").is(http.StatusNotFound, "has no evidence report")

	b.post(on+"/approve", url.Values{"revision": {"3"}, "seen": {"99"}})
	if c = o.latest(c.ID); c.Outcome != countersign.Contested || c.HandledBy != countersign.ByPerson {
		t.Fatalf("the case is %s %s", c.Status, c.Outcome)
	}
	var prints []string
	for _, format := range []string{"json", "html", "pdf"} {
		file, again := b.get(on+"/report?format="+format), b.get(on+"/report?format="+format)
		if file.text != again.text {
			t.Errorf("%s: the second time it has other bytes", format)
		}
		v, err := report.Verify([]byte(file.text))
		o.must(err)
		if v.State != report.Intact {
			t.Errorf("%s: %+v", format, v)
		}
		if changed, err := report.Verify(bytes.Replace([]byte(file.text), []byte("20140"), []byte("20141"), 1)); format != "pdf" && (err != nil || changed.State == report.Intact) {
			t.Errorf("%s: another order's number is not noticed: %+v %v", format, changed, err)
		}
		prints = append(prints, v.Fingerprint)
	}
	if prints[0] == "" || prints[0] != prints[1] || prints[1] != prints[2] {
		t.Errorf("the fingerprints are %q", prints)
	}
	if !strings.Contains(b.get(on).seen(), report.Short(prints[0])) {
		t.Error("the case does not show the fingerprint")
	}
	o.verified()
}

// What a shop's records contradict is overruled, and only a person's own decision closes it, in part if they say so.
func TestAnOverruledChargebackIsDecidedInPart(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c := b.chargeback(o, url.Values{"order_id": {"20192"}, "network": {"amex"}, "reason_code": {"C31"}, "stage": {"chargeback"}, "amount": {"120.00"}, "currency": {"USD"}})
	on := "/cases/" + string(c.ID)
	if shown := b.get(on).seen(); !strings.Contains(shown, "A part was refunded") || !strings.Contains(shown, "There is no recommendation to confirm") {
		t.Errorf("the case says:\n%s", shown)
	}
	decide := func(form url.Values) page { return b.post(on+"/override", with(form, "revision", "3", "seen", "99")) }
	b.post(on+"/approve", url.Values{"revision": {"3"}}).is(http.StatusConflict, "nothing to approve")
	decide(url.Values{"choice": {"contest"}, "part": {"75,00"}, "reason": {"The rest was delivered."}}).is(http.StatusBadRequest, "is not an amount of USD")
	decide(url.Values{"choice": {"contest"}, "part": {"120.01"}, "reason": {"The rest was delivered."}}).is(http.StatusBadRequest, "is no part of")
	decide(url.Values{"choice": {"accept"}, "part": {"75.00"}, "reason": {"The rest was delivered."}}).is(http.StatusBadRequest, "for the whole amount")
	decide(url.Values{"choice": {"resolved-none"}, "reason": {"The rest was delivered."}}).is(http.StatusBadRequest, "not one of contest, accept")
	decide(url.Values{"choice": {"contest"}, "part": {"75.00"}, "reason": {"The rest was delivered."}})
	if c = o.latest(c.ID); c.Outcome != countersign.Contested || c.Contested == nil || c.Contested.Minor != 75_00 {
		t.Errorf("the case is %s %s, %v is contested", c.Status, c.Outcome, c.Contested)
	}
	o.verified()
}

// Between the review and the decision the shop goes on: what was approved must still be so.
func TestWhatTheShopDoesMeanwhileIsSaid(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c := b.chargeback(o, url.Values{"order_id": {"20140"}, "network": {"visa"}, "reason_code": {"13.1"}, "stage": {"chargeback"}, "amount": {"149.00"}, "currency": {"USD"}})
	v, _, err := o.Setup.Latest(t.Context())
	o.must(err)
	shopDoes(t, string(v.Mapped.DSN), "INSERT INTO paybacks VALUES ('B20140-9', '20140', '149.00', 'USD', 'paid back', '2026-11-29 10:00:00', 're_9')")
	on := "/cases/" + string(c.ID)
	if shown := b.get(on).seen(); !strings.Contains(shown, "The records have changed") {
		t.Errorf("the case does not say that the records changed:\n%s", shown)
	}
	b.post(on+"/approve", url.Values{"revision": {"3"}}).is(http.StatusConflict, "Money was refunded: was no, is yes USD 149.00")
	o.run(t, "and nobody decides otherwise on what they have not seen", func(t *testing.T) {
		blind := url.Values{"revision": {"3"}, "seen": {"99"}, "choice": {"contest"}, "reason": {"It was delivered."}}
		again := b.post(on+"/override", blind)
		again.is(http.StatusConflict, "The records have changed behind this page", "Money was refunded: was no, is yes USD 149.00", "It was delivered.")
		if again.form(on+"/override").Get("facts") == "" {
			t.Error("the page that shows what changed cannot be sent")
		}
		b.get(on+"/override").is(http.StatusOK, "The records have changed since this case was investigated", "Accepting would pay this twice: USD 149.00 went back")
	})
	b.post(on+"/retry", url.Values{"revision": {"3"}})
	if c = o.worked(o.latest(c.ID)); c.Recommendation != "ACCEPT" {
		t.Errorf("the new round recommends %s", c.Recommendation)
	}
}

// shopDoes is somebody else's write to the shop's database.
func shopDoes(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// What hurts is left out only by a person's own choice, which the report and the record show.
func TestAFactIsLeftOutByChoiceAlone(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c := b.chargeback(o, url.Values{"order_id": {"20192"}, "network": {"amex"}, "reason_code": {"C31"}, "stage": {"chargeback"}, "amount": {"120.00"}, "currency": {"USD"}})
	on := "/cases/" + string(c.ID)
	form := func(why string) url.Values {
		return url.Values{"revision": {"3"}, "seen": {"99"}, "choice": {"contest"}, "part": {"70.00"}, "reason": {"The rest was delivered."}, "withhold": {"refund_returned"}, "withheld_why": {why}}
	}
	b.post(on+"/override", form("")).is(http.StatusBadRequest, "is missing")
	b.post(on+"/override", form("Settled with the customer apart from this."))
	text := b.get(on + "/report?format=json").text
	if strings.Contains(text, "USD 45.00") || strings.Contains(text, "refund_returned") {
		t.Errorf("the report still tells of the refund: %s", text)
	}
	if !strings.Contains(text, "Settled with the customer apart from this.") || !strings.Contains(text, `"count":1`) {
		t.Errorf("the report does not say that something was left out: %s", text)
	}
	if record := b.get(on + "/record").seen(); !strings.Contains(record, "refund_returned") {
		t.Error("the record does not hold the choice")
	}
	o.verified()
}

// TestTheAnswerIsSomebodys: what the first page of the report says was in front of the person who approved it, as a model's words or in
// their own.
func TestTheAnswerIsSomebodys(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	for _, row := range []struct{ rewrite, says string }{
		{"", "written by a model, read and approved by Analyst Obi"},
		{"The parcel was delivered on 11 November.\nWe have the carrier's word for it.", "Analyst Obi, for the merchant"},
	} {
		c, on := o.notReceived(b)
		summary := c.Proposal.Summary
		b.get(on).is(http.StatusOK, summary)
		ask := b.get(on+"/approve").is(http.StatusOK, "nothing checked its sentences", summary)
		form := ask.form(on + "/approve")
		if row.rewrite != "" {
			form.Set("answer", strings.ReplaceAll(row.rewrite, "\n", "\r\n"))
		}
		b.follow(b.post(on+"/approve", form)).is(http.StatusOK, "contested")
		kept, err := o.Store.Report(t.Context(), c.ID)
		o.must(err)
		sealed, err := report.Open(kept.Content)
		o.must(err)
		if got, want := sealed.Content().Decision.Summary, cmp.Or(row.rewrite, summary); got != want {
			t.Errorf("the answer is %q, want %q", got, want)
		}
		b.get(on+"/report?format=html").is(http.StatusOK, row.says)
	}
	c, on := o.notReceived(b)
	form := b.get(on + "/approve").form(on + "/approve")
	form.Set("answer", strings.Repeat("x", 5001))
	refused := b.post(on+"/approve", form)
	refused.is(http.StatusRequestEntityTooLarge, "at most 5000 are kept")
	if o.latest(c.ID).Status != countersign.InReview || !strings.Contains(refused.text, strings.Repeat("x", 5001)) {
		t.Error("what was written is lost")
	}
}

// A chargeback that is typed in again takes nothing away: a sooner deadline is taken over, what is said otherwise is refused and stays on
// the page, and a stage that there is none of is never stored.
func TestAChargebackThatIsTypedAgain(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	typed := func(more ...string) url.Values {
		return with(url.Values{"order_id": {"20140"}, "network": {"visa"}, "reason_code": {"13.1"}, "stage": {"chargeback"}, "amount": {"149.00"}, "currency": {"USD"}}, more...)
	}
	c := b.chargeback(o, typed())
	b.follow(b.post("/open/chargeback", typed())).is(http.StatusOK, "was open already; what you typed now was not added")
	b.follow(b.post("/open/chargeback", typed("due", "2026-12-18T09:00"))).is(http.StatusOK, "Its deadline is now the sooner one", "18 Dec 2026", "reported it again, with a deadline that is sooner")
	if now := o.latest(c.ID); now.DueAt == nil || now.DueSource != countersign.DueManual {
		t.Errorf("it is due %v by %s", now.DueAt, now.DueSource)
	}
	b.post("/open/chargeback", typed("amount", "75.00")).is(http.StatusConflict, "Amount is USD 75.00 here, and USD 149.00 in case "+string(c.ID)+", which is open about this order. Decide that case first", "75.00")
	for field, bad := range map[string]string{"stage": "zz9", "due": "1066-10-14T09:00"} {
		before := o.everything()
		b.post("/open/chargeback", typed(field, bad, "order_id", "20192")).is(http.StatusBadRequest, map[string]string{"stage": "is not one of inquiry, chargeback", "due": "is no deadline"}[field])
		if o.everything() != before {
			t.Errorf("%s %q was stored", field, bad)
		}
	}
	for name, other := range map[string]url.Values{"another stage": typed("stage", "pre_arbitration"), "a code that came later": typed("reason_code", "10.4")} {
		before := o.everything()
		b.post("/open/chargeback", other).is(http.StatusConflict, "Is it one of these?", string(c.ID), "visa 13.1", "It is none of these: another dispute")
		if o.everything() != before {
			t.Errorf("%s was opened unasked", name)
		}
	}
	b.follow(b.post("/open/chargeback", typed("stage", "pre_arbitration", "another", "yes"))).is(http.StatusOK, "The chargeback is open", "visa 13.1, pre-arbitration", string(c.ID))
	b.follow(b.post("/open/chargeback", typed("order_id", "20226", "provider_ref", "CB-77"))).is(http.StatusOK, "The chargeback is open")
	b.post("/open/chargeback", typed("order_id", "20192", "provider_ref", "CB-77")).is(http.StatusConflict, "Is it one of these?", "order 20226")
	for _, found := range []string{"CB-77", "#20226"} {
		p := b.get("/queue?q=" + url.QueryEscape(found))
		if p.status == http.StatusSeeOther { // nobody has worked it yet, so it lies in another tab than the one that a search begins with
			p = b.follow(p).is(http.StatusOK, "All open cases")
		}
		p.is(http.StatusOK, "order 20226")
	}
	o.verified()
}

// An order that the shop does not have, about an amount that nobody named: whoever decides reads no figure that is none.
func TestADecisionAboutAnAmountThatNobodyKnows(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c := b.chargeback(o, url.Values{"order_id": {"no such order"}, "stage": {"inquiry"}, "anyway": {"yes"}})
	shown := b.get("/cases/"+string(c.ID)+"/override").is(http.StatusOK, "amount not known", "Contest it", "Accept the claim of an amount that is not known")
	if strings.Contains(shown.seen(), "minor units") {
		t.Error("it names minor units of no currency")
	}
}

// A search begins with what needs a person; what lies in another tab is found there.
func TestASearchGoesWhereWhatIsSoughtLies(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c, on := o.notReceived(b)
	b.get("/queue?q="+string(c.ID)).is(http.StatusOK, string(c.ID))
	b.post(on+"/approve", b.get(on+"/approve").form(on+"/approve"))
	p := b.get("/queue?q=" + string(c.ID))
	if to, err := url.Parse(p.leads()); err != nil || to.Query().Get("show") != "closed" {
		t.Fatalf("it leads to %q", p.leads())
	}
	b.follow(p).is(http.StatusOK, "Closed cases", string(c.ID))
	b.get("/queue?q=nothing+of+the+kind").is(http.StatusOK, "Nothing matches")
}
