package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"countersign/auth"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/shop"
)

func TestTheReportOfADecidedCase(t *testing.T) {
	o := newOffice(t)
	p := o.sell(delivered)
	c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1","provider_ref":"dp_1","due_at":"2037-01-10T17:00:00Z"}`)
	path := "/api/v1/cases/" + string(c.ID) + "/report"

	t.Run("before the decision there is none", func(t *testing.T) {
		problem(t, o.get(path), http.StatusNotFound, "")
	})
	if r := o.decide(c.ID, "approve", c.Revision, ""); r.status != http.StatusOK || r.json["outcome"] != "contest" {
		t.Fatalf("approve: %d %s", r.status, r.text)
	}
	prints := map[string]bool{}
	for format, kind := range map[string]string{"json": "application/json", "html": "text/html; charset=utf-8", "pdf": "application/pdf"} {
		t.Run("as "+format+" it is the same bytes each time, and verifies", func(t *testing.T) {
			file, again := o.get(path+"?format="+format), o.get(path+"?format="+format)
			if file.status != http.StatusOK || file.header.Get("Content-Type") != kind {
				t.Fatalf("got %d %s: %.300s", file.status, file.header.Get("Content-Type"), file.text)
			}
			if want := fmt.Sprintf(`attachment; filename="%s-evidence.%s"`, c.ID, format); file.header.Get("Content-Disposition") != want {
				t.Errorf("it is offered as %s, want %s", file.header.Get("Content-Disposition"), want)
			}
			if file.header.Get("Cache-Control") != "no-store" || file.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the headers are %v", file.header)
			}
			if file.text != again.text {
				t.Error("the second time it has other bytes")
			}
			v, err := report.Verify([]byte(file.text))
			if err != nil || v.State != report.Intact || v.Fingerprint != file.header.Get("X-Fingerprint") {
				t.Errorf("it verifies as %+v (%v), and the header says %s", v, err, file.header.Get("X-Fingerprint"))
			}
			prints[v.Fingerprint] = true
		})
	}
	if len(prints) != 1 {
		t.Errorf("the formats have the fingerprints %v, want one", prints)
	}
	t.Run("without a format it is JSON", func(t *testing.T) {
		if file := o.get(path); file.text != o.get(path+"?format=json").text || file.status != http.StatusOK {
			t.Errorf("got %d %.200s", file.status, file.text)
		}
	})
	t.Run("as a pack it is the PDF, as long as nobody added a file", func(t *testing.T) {
		file := o.get(path + "?format=pack")
		if file.status != http.StatusOK || file.text != o.get(path+"?format=pdf").text || file.header.Get("Content-Disposition") != fmt.Sprintf(`attachment; filename="%s-evidence-pack.pdf"`, c.ID) {
			t.Errorf("got %d %s, %d bytes", file.status, file.header.Get("Content-Disposition"), len(file.text))
		}
	})
	for _, format := range []string{"docx", "PDF", "json%00", "..%2F..%2Fetc%2Fpasswd"} {
		t.Run("there is no format "+format, func(t *testing.T) {
			problem(t, o.get(path+"?format="+format), http.StatusBadRequest, "query.format")
		})
	}
	t.Run("nobody who is not known reads it", func(t *testing.T) {
		problem(t, o.send(sent{method: "GET", path: path}), http.StatusUnauthorized, "")
	})
	t.Run("it is read and not written", func(t *testing.T) {
		if r := o.send(sent{method: "PUT", path: path, role: auth.Admin, body: `{}`}); r.status != http.StatusMethodNotAllowed && r.status != http.StatusNotFound {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
}

func TestCasesWithoutAReport(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "reject")
	if r := o.decide(c.ID, "approve", c.Revision, ""); r.status != http.StatusOK {
		t.Fatalf("approve: %d %s", r.status, r.text)
	}
	t.Run("a transaction's case has none, decided or not", func(t *testing.T) {
		problem(t, o.get("/api/v1/cases/"+string(c.ID)+"/report"), http.StatusNotFound, "")
	})
	t.Run("a case that is not there has none", func(t *testing.T) {
		problem(t, o.get("/api/v1/cases/C-NOBODY/report"), http.StatusNotFound, "")
	})
}

// A name in a script that the PDF's fonts cannot draw is not drawn as boxes: the PDF says which sign it lacks, and the other
// formats have the name.
func TestAScriptThatThePDFCannotDraw(t *testing.T) {
	o := newOffice(t)
	const name = "ꦲꦂꦗ Suryo" // Javanese
	p := o.sell(func(id string) shop.Records {
		r := delivered(id)
		r.Order.All[0].Customer = name
		return r
	})
	c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1"}`)
	if r := o.decide(c.ID, "approve", c.Revision, ""); r.status != http.StatusOK {
		t.Fatalf("approve: %d %s", r.status, r.text)
	}
	path := "/api/v1/cases/" + string(c.ID) + "/report?format="
	for _, format := range []string{"json", "html"} {
		if r := o.get(path + format); r.status != http.StatusOK || !strings.Contains(r.text, name) {
			t.Errorf("%s: %d, with the name: %v", format, r.status, strings.Contains(r.text, name))
		}
	}
	r := o.get(path + "pdf")
	if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.text, "U+A9") {
		t.Errorf("the PDF answers %d %.300s", r.status, r.text)
	}
}

// Two people, or one on two pages, approve at the same moment: one decision stands, with one report.
func TestApprovingTwiceMakesOneReport(t *testing.T) {
	o := newOffice(t)
	p := o.sell(delivered)
	c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1"}`)
	var mu sync.Mutex
	answers := map[int]int{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r := o.decide(c.ID, "approve", c.Revision, "")
			mu.Lock()
			defer mu.Unlock()
			answers[r.status]++
		})
	}
	all.Wait()
	if answers[http.StatusOK] != 1 || answers[http.StatusConflict] != 7 {
		t.Errorf("the answers are %v, want one 200 and seven 409", answers)
	}
	path := "/api/v1/cases/" + string(c.ID)
	kept := o.get(path + "/report")
	if r := o.decide(c.ID, "approve", c.Revision+1, ""); r.status != http.StatusConflict {
		t.Errorf("approving what is closed answers %d", r.status)
	}
	if again := o.get(path + "/report"); again.text != kept.text || kept.status != http.StatusOK {
		t.Error("the report is another one now")
	}
	var reports int
	if err := o.store.DB().QueryRow("SELECT COUNT(*) FROM reports").Scan(&reports); err != nil || reports != 1 {
		t.Errorf("%d reports are kept (%v)", reports, err)
	}
	if record := o.get(path).json["record"].(map[string]any); record["intact"] != true {
		t.Errorf("the record is %v", record)
	}
}

// What was kept and is not any more what was sealed is not handed out, in no format, and the answer says what is wrong with it.
func TestAReportThatSomebodyChangedIsNotServed(t *testing.T) {
	const forged = "CAST(replace(CAST(content AS TEXT), 'Hollis', 'Morris') AS BLOB)"
	for name, x := range map[string]struct{ change, says string }{
		"its content":                     {"UPDATE reports SET content = " + forged, "the stored content of the evidence report of round 1 gives the fingerprint"},
		"its fingerprint":                 {"UPDATE reports SET fingerprint = '" + strings.Repeat("07aa", 16) + "'", "the fingerprint stored beside the evidence report of round 1 is"},
		"its content and its fingerprint": {"UPDATE reports SET content = " + forged + ", fingerprint = 'FORGED'", "but the record sealed"},
		"the record's row about it":       {"UPDATE record_payloads SET payload = CAST(replace(CAST(payload AS TEXT), 'evidence report', 'evidence  report') AS BLOB)", "its payload was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			p := o.sell(delivered)
			c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1"}`)
			if r := o.decide(c.ID, "approve", c.Revision, ""); r.status != http.StatusOK {
				t.Fatalf("approve: %d %s", r.status, r.text)
			}
			path := "/api/v1/cases/" + string(c.ID)
			before := o.get(path + "/report")
			if before.status != http.StatusOK {
				t.Fatalf("the report: %d %s", before.status, before.text)
			}
			change := strings.Replace(x.change, "FORGED", report.Fingerprint([]byte(strings.ReplaceAll(contentOf(t, before.text), "Hollis", "Morris"))), 1)
			o.tamper("DROP TRIGGER reports_stay", "DROP TRIGGER record_payloads_update", change)
			for _, format := range []string{"json", "html", "pdf", "pack"} {
				r := o.get(path + "/report?format=" + format)
				problem(t, r, http.StatusInternalServerError, "")
				if !strings.Contains(r.text, x.says) || !strings.Contains(r.text, "countersign audit verify") || strings.Contains(r.text, "orris") {
					t.Errorf("%s answers %s", format, r.text)
				}
			}
			if record := o.get(path).json["record"].(map[string]any); record["intact"] != false {
				t.Errorf("the case says of its record %v", record)
			}
		})
	}
}

// contentOf is the canonical content in a report's JSON.
func contentOf(t *testing.T, file string) string {
	t.Helper()
	v, err := report.Verify([]byte(file))
	if err != nil || v.Content == nil {
		t.Fatal(v, err)
	}
	return string(report.Canonical(*v.Content))
}
