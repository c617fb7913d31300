package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/desk/bank/records"
)

// Ids are opaque text from somebody's file.
func TestIdsOfAnyTextSurviveTheirWay(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Analyst)
	for _, id := range []string{"A:1", "100%", "100%25", "a#b", "a?b=c&d", "a b", "a/b/../c", `"q'u"o`, "<b>", "{{.}}", "a+b", "ünï—😀", "javascript:alert(1)", "//evil.example", "A, B", "..", "&amp;", strings.Repeat("x", 180)} {
		o.run(t, id, func(t *testing.T) {
			o.load(failedTransfer(id, o.now()))
			p := b.get("/open?q=" + url.QueryEscape(id)).is(http.StatusOK)
			var dispute string
			for _, link := range p.parse().find("a") {
				if link.text == "Dispute this" {
					dispute = link.attrs["href"]
				}
			}
			form := b.get(dispute).is(http.StatusOK, "What does the customer say").form("/open")
			if form.Get("transaction_id") != id {
				t.Errorf("the form is about %q", form.Get("transaction_id"))
			}
			p = b.post("/open", with(form, "reason", "failed_transfer", "notes", "x")).is(http.StatusSeeOther)
			c := o.worked(o.latest(countersign.CaseID(strings.TrimPrefix(p.leads(), "/cases/"))))
			p = b.get(p.leads()).is(http.StatusOK, strings.Join(strings.Fields(id), " "))
			p.sound(id)
			rows := p.parse().find("section", "class", "rows")[0].find("tr")
			cited := 0
			for _, link := range p.parse().find("a") {
				to, _ := url.PathUnescape(strings.TrimPrefix(link.attrs["href"], "#"))
				for _, row := range rows {
					if row.attrs["id"] == to && strings.Contains(row.text, id) {
						cited++
					}
				}
			}
			if cited < 3 && len(id) < 100 && !strings.Contains(id, ", ") { // facts shorten such ids, and list them between commas
				t.Errorf("only %d facts lead to the rows that they were read from", cited)
			}
			if got := b.get("/queue?q=" + url.QueryEscape(id)).listed(); len(got) != 1 || got[0] != string(c.ID) {
				t.Errorf("the queue finds %q by it", got)
			}
			b.follow(b.decides(c, "approve")).is(http.StatusOK, "The reversal of NGN 24,500.00 was posted")
			b.get("/cases/" + string(c.ID)).sound(id)
		})
	}
	o.verified()
}

// What strangers write is shown as text, whatever it would be to a browser, a template or the eye.
func TestWhatStrangersWriteIsText(t *testing.T) {
	o := newOffice(t)
	hostile := `<script>alert(1)</script> "><img src=x onerror=alert(2)> {{.Secret}} ' onmouseover='x &lt;b&gt; ` + "\u202Egnp.exe\u2066 \u200B</q></li><li id=\"t99\"> javascript:alert(3)"
	c := o.dispute("T-1", func(set *records.Set) {
		set.Customers[0].Name, set.Devices[0].Label, set.Settlements[0].FailureReason, set.Settlements[0].Reference = hostile, hostile, hostile, hostile
		tx := &set.Transactions[0]
		tx.CounterpartyName, tx.Memo, tx.Reference = hostile, hostile, hostile
	})
	c = o.worked(c)
	b := o.as(auth.Admin)
	on := "/cases/" + string(c.ID)
	b.decides(c, "escalate", "reason", hostile).is(http.StatusSeeOther)
	c = o.latest(c.ID)
	b.decides(c, "message", "text", hostile).is(http.StatusSeeOther)
	b.post("/settings/me", url.Values{"name": {"<script>alert(1)</script>"}, "zone": {"UTC"}}).is(http.StatusSeeOther)
	b.post("/settings/tokens", url.Values{"name": {`"><img src=x onerror=alert(2)>`}, "role": {"auditor"}}).is(http.StatusOK)
	for _, path := range []string{on, on + "/record", on + "/override", on + "/escalate", on + "/message", "/queue?show=raised", "/queue?q=" + url.QueryEscape("<script>alert(1)</script>"), "/open?q=T-1", "/open?transaction=T-1&q=" + url.QueryEscape(hostile), "/settings"} {
		o.run(t, path, func(t *testing.T) {
			p := b.get(path)
			p.sound(path)
			for _, e := range p.parse().all {
				if e.name == "script" && e.attrs["src"] == "" || e.name == "img" || e.attrs["onerror"] != "" || e.attrs["onmouseover"] != "" {
					t.Errorf("there is a %s %v", e.name, e.attrs)
				}
				if strings.HasPrefix(strings.ToLower(e.attrs["href"]), "javascript:") {
					t.Errorf("there is a link to %s", e.attrs["href"])
				}
			}
			for _, r := range []string{"\u202E", "\u2066", "\u200B"} {
				if strings.Contains(p.text, r) && !strings.Contains(path, "/message") && !strings.Contains(path, "?") { // there somebody typed it
					t.Errorf("the page turns around or hides text with %U", []rune(r))
				}
			}
		})
	}
	p := b.get(on)
	p.is(http.StatusOK, `<script>alert(1)</script> "><img src=x onerror=alert(2)> {{.Secret}}`, "⟨U+202E⟩gnp.exe⟨U+2066⟩")
	for _, e := range p.parse().find("q", "class", "theirs") {
		if strings.Contains(e.text, "<script>") && e.attrs["title"] == "" {
			t.Error("nobody is said to have written it")
		}
	}
	o.verified()
}
