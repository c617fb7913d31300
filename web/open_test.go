package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
)

func TestOpeningADispute(t *testing.T) {
	o := newOffice(t)
	o.load(failedTransfer("TX-7", o.now()))
	b := o.as(auth.Analyst)
	for _, q := range []string{"TX-7", "E2E-TX-7", "Adaeze Okafor", "okafor", "C-TX-7", "0123456789", "6789", "****6789", "24500", "NGN 24,500.00", "  TX-7  "} {
		o.run(t, "the transaction is found by "+q, func(t *testing.T) {
			p := b.get("/open?q="+url.QueryEscape(q)).is(http.StatusOK, "1 transaction, latest first", "Adaeze Okafor ****6789", "Alhaji Raheem Sanusi")
			var dispute string
			for _, link := range p.parse().find("a") {
				if link.text == "Dispute this" {
					dispute = link.attrs["href"]
				}
			}
			b.get(dispute).is(http.StatusOK, "What does the customer say went wrong?", "Open the dispute over NGN 24,500.00")
		})
	}
	o.run(t, "what is not there is not found", func(*testing.T) {
		b.get("/open?q=nothing+like+it").is(http.StatusOK, "Nothing found", "No transaction matches “nothing like it”.")
		b.get("/open?transaction=TX-8").is(http.StatusNotFound, "There is no transaction with that id.")
		b.get("/open?q="+strings.Repeat("x", 10_000)).is(http.StatusOK, "Nothing found")
	})
	page := b.get("/open?transaction=TX-7&q=okafor")
	before := o.everything()
	for sentence, tt := range map[string]struct {
		entered []string
		status  int
		says    string
	}{
		"without a complaint":         {[]string{"notes", "\nIt never\narrived", "channel", "branch"}, 400, "Reason"},
		"with another complaint":      {[]string{"reason", "rudeness", "notes", "x"}, 400, `"rudeness"`},
		"about another transaction":   {[]string{"reason", "failed_transfer", "transaction_id", "TX-8"}, 404, "There is no transaction with that id."},
		"about none":                  {[]string{"reason", "failed_transfer", "transaction_id", ""}, 404, "There is no transaction with that id."},
		"with notes of many pages":    {[]string{"reason", "failed_transfer", "notes", strings.Repeat("x", 20_001)}, 413, "Notes has 20001 bytes"},
		"with notes that are no text": {[]string{"reason", "failed_transfer", "notes", "x\x00y"}, 400, "Notes"},
	} {
		o.run(t, sentence+" nothing is opened, and nothing typed is lost", func(t *testing.T) {
			form := with(page.form("/open"), tt.entered...)
			p := b.post("/open", form).is(tt.status, tt.says)
			if o.everything() != before {
				t.Error("something was changed")
			}
			if tt.status == http.StatusNotFound {
				return // there is no form to a transaction that is not there
			}
			for _, name := range []string{"notes", "channel", "transaction_id", "q"} {
				if got := p.form("/open").Get(name); got != strings.ReplaceAll(form.Get(name), "\x00", "\uFFFD") {
					t.Errorf("%s came back as %.40q", name, got)
				}
			}
		})
	}
	o.run(t, "it is opened, and its investigation begins", func(t *testing.T) {
		form := with(page.form("/open"), "reason", "failed_transfer", "notes", "It never arrived.\r\nPlease help.", "channel", "whatsapp")
		p := b.post("/open", form)
		b.follow(p).is(http.StatusOK, "The dispute is open, and its investigation begins.", "Opened by Analyst Obi", "written by the customer It never arrived. Please help.", "whatsapp")
		id := countersign.CaseID(strings.TrimPrefix(p.leads(), "/cases/"))
		c := o.worked(o.latest(id))
		if c.Notes != "It never arrived.\nPlease help." || c.Channel != "whatsapp" {
			t.Errorf("the notes are %q by %q", c.Notes, c.Channel)
		}
		again := b.post("/open", form)
		if again.leads() != p.leads() {
			t.Errorf("opened again it leads to %s", again.leads())
		}
		b.follow(again).is(http.StatusOK, "This dispute was open already.")
		b.get("/open?q=TX-7").is(http.StatusOK, "already disputed: "+string(id))
	})
	o.verified()
}
