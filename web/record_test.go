package web_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/audit"
	"countersign/auth"
)

// verifies starts a verification of everything and waits for its end.
func (b *browser) verifies() page {
	b.t.Helper()
	return b.verified(b.post("/record/verify", nil).is(http.StatusSeeOther).leads())
}

// verified waits for the end of a verification.
func (b *browser) verified(path string) page {
	b.t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; {
		if p := b.get(path).is(http.StatusOK); len(p.parse().find("progress")) == 0 {
			return p
		}
	}
	b.t.Fatal("the verification goes on")
	return page{}
}

// tamper changes the books behind the program's back, as somebody could who has the file.
func (o *office) tamper(statements ...string) {
	o.t.Helper()
	for _, statement := range statements {
		_, err := o.Store.DB().ExecContext(o.t.Context(), statement)
		o.must(err)
	}
}

func TestVerifyingTheRecord(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Auditor)
	c, other := o.inReview("T-1"), o.inReview("T-2")
	on := "/cases/" + string(c.ID)

	o.run(t, "a whole one is intact, on every page that says so", func(*testing.T) {
		b.get("/record").is(http.StatusOK, "2 cases, 32 rows")
		b.verifies().is(http.StatusOK, "✓ Intact", "2 cases, 32 rows: every hash was recomputed and matches")
		b.get(on).is(http.StatusOK, "✓ intact 16 rows")
		b.get(on+"/record").is(http.StatusOK, "✓ Intact", "16 rows were recomputed", "Every hash matches")
	})
	o.run(t, "a verification is shown to whoever started it", func(t *testing.T) {
		path := b.post("/record/verify", nil).leads()
		o.as(auth.Admin).get(path).is(http.StatusNotFound, "This work is not known here any more")
		b.get(strings.ToUpper(path)).is(http.StatusNotFound)
		b.verifies()
	})
	o.run(t, "every row of a case can be read as it was sealed", func(t *testing.T) {
		p := b.get(on + "/record")
		rows := p.parse().find("ol", "class", "rowlist")[0].find("li")
		head, err := o.Store.Head(t.Context(), c.ID)
		o.must(err)
		if len(rows) != 16 || !strings.Contains(rows[15].text, head.Hash.String()) || !strings.Contains(rows[0].text, `"notes": "I sent it on Saturday and it never arrived."`) {
			t.Errorf("%d rows are shown, the last %.300s", len(rows), rows[len(rows)-1].text)
		}
	})
	o.run(t, "one row that was changed is named, and the case with it", func(t *testing.T) {
		o.tamper("DROP TRIGGER record_payloads_update", "UPDATE record_payloads SET payload = CAST(REPLACE(CAST(payload AS TEXT), 'Saturday', 'Saturnal') AS BLOB) WHERE seq = 1 AND case_id = '"+string(c.ID)+"'")
		p := b.verifies().is(http.StatusOK, "✗ Broken", "2 cases, 32 rows were checked", string(c.ID)+" row 1:")
		if strings.Contains(p.seen(), string(other.ID)) {
			t.Error("the other case is named too")
		}
		b.get(p.parse().find("ul", "class", "breaks")[0].find("a")[0].attrs["href"]).is(http.StatusOK, "✗ Broken", "row 1:", "✗ does not match")
		b.get(on).is(http.StatusOK, "✗ broken 16 rows", "row 1:")
		b.get("/cases/"+string(other.ID)).is(http.StatusOK, "✓ intact")
	})
	o.run(t, "a case that says what its record does not is broken too", func(*testing.T) {
		o.tamper("UPDATE cases SET outcome = 'resolved', status = 'closed' WHERE id = '" + string(other.ID) + "'")
		b.get("/cases/"+string(other.ID)).is(http.StatusOK, "✗ broken")
		b.verifies().is(http.StatusOK, "✗ Broken", string(other.ID))
	})
}

func TestExports(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Auditor)
	c, other := o.inReview("T-1"), o.inReview("T-2")
	for sentence, tt := range map[string]struct {
		path, name  string
		cases, rows int64
		words       bool
	}{
		"everything":                  {"/record/export", "record.jsonl", 2, 32, true},
		"the chains alone":            {"/record/export?redact=1", "record.jsonl", 2, 32, false},
		"one case":                    {"/cases/" + string(c.ID) + "/record/export", "record-" + string(c.ID) + ".jsonl", 1, 16, true},
		"the chain of one case alone": {"/cases/" + string(c.ID) + "/record/export?redact=1", "record-" + string(c.ID) + ".jsonl", 1, 16, false},
	} {
		o.run(t, sentence, func(t *testing.T) {
			p := b.get(tt.path)
			if p.status != http.StatusOK || p.header.Get("Content-Type") != "application/jsonl" || p.header.Get("Content-Disposition") != `attachment; filename="`+tt.name+`"` {
				t.Errorf("it is %d %v", p.status, p.header)
			}
			report, err := audit.VerifyExport(bytes.NewReader([]byte(p.text)))
			if err != nil || !report.OK || report.Cases != tt.cases || report.Rows != tt.rows {
				t.Errorf("a stranger says %+v (%v)", report, err)
			}
			if strings.Contains(p.text, "it never arrived") != tt.words {
				t.Errorf("what the customer wrote is in it: %v", !tt.words)
			}
			if tt.cases == 1 && strings.Contains(p.text, string(other.ID)) {
				t.Error("another case is in it")
			}
		})
	}
	o.run(t, "of a case that is not", func(*testing.T) {
		for _, id := range []string{"D-NONE", "%22%0D%0AX:%20y", "..%2F.."} {
			b.get("/cases/"+id+"/record/export").is(http.StatusNotFound, "There is no case")
		}
	})
}

// A case that is not there is said not to be, in words that give nothing of the address a voice.
func TestNoSuchCase(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Admin)
	for _, id := range []string{"D-NONE", "d-none", "%3Cscript%3E", "%E2%80%AE", "%00", strings.Repeat("x", 5000), "..%2Fqueue", "{id}", "%zz"} {
		for _, page := range []string{"", "/record", "/approve", "/live", "/record/export"} {
			path := "/cases/" + id + page
			u, err := b.url("/").Parse(path)
			if err != nil {
				continue // no address at all
			}
			p := b.get(u.RequestURI())
			if p.status != http.StatusNotFound || strings.Contains(p.text, "<script>") || strings.Contains(p.text, "\u202E") || len(p.text) > 20_000 {
				t.Errorf("%.60s is %d with %d bytes", path, p.status, len(p.text))
			}
		}
	}
}
