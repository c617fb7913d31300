package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign/auth"
)

// TestBadDisputes: each is refused with a clear error, and no case is there afterwards.
func TestBadDisputes(t *testing.T) {
	o := newOffice(t)
	for _, row := range []struct {
		sentence, body string
		status         int
		place          string
	}{
		{"no body", "", 400, "body"},
		{"a body of blanks", " \r\n ", 400, "body"},
		{"a body that is no JSON", "transaction_id=T1", 400, "body"},
		{"JSON that breaks off", `{"transaction_id":"T1","reason":`, 400, "body"},
		{"JSON with a comma too many", `{"transaction_id":"T1","reason":"other",}`, 400, "body"},
		{"something after the object", `{"transaction_id":"T1","reason":"other"} {"transaction_id":"T2","reason":"other"}`, 400, "body"},
		{"a list", `[{"transaction_id":"T1","reason":"other"}]`, 400, "body"},
		{"a text", `"T1"`, 400, "body"},
		{"null", `null`, 400, "body"},
		{"an empty object", `{}`, 400, "body.transaction_id"},
		{"ten thousand nested lists", `{"notes":` + strings.Repeat("[", 20000), 400, "body"},
		{"a thousand fields", "{" + strings.Repeat(`"a":"",`, 1000) + `"b":""}`, 400, "body"},
		{"a number for an id", `{"transaction_id":9007199254740993,"reason":"other"}`, 400, "body.transaction_id"},
		{"a list for the reason", `{"transaction_id":"T1","reason":["other"]}`, 400, "body.reason"},
		{"an object for the notes", `{"transaction_id":"T1","reason":"other","notes":{"a":"b"}}`, 400, "body.notes"},
		{"true for the channel", `{"transaction_id":"T1","reason":"other","channel":true}`, 400, "body.channel"},
		{"null for an id is a missing one", `{"transaction_id":null,"reason":"other"}`, 400, "body.transaction_id"},
		{"an unknown field", `{"transaction_id":"T1","reason":"other","amount":"100"}`, 400, "body.amount"},
		{"a field in other letters", `{"Transaction_ID":"T1","reason":"other"}`, 400, "body.Transaction_ID"},
		{"a key twice", `{"transaction_id":"T1","reason":"other","transaction_id":"T2"}`, 400, "body.transaction_id"},
		{"a key twice, once spelled with an escape", `{"transaction_id":"T1","reason":"other","re\u0061son":"not_received"}`, 400, "body.reason"},
		{"no transaction", `{"reason":"other"}`, 400, "body.transaction_id"},
		{"no reason", `{"transaction_id":"T1"}`, 400, "body.reason"},
		{"an unknown reason", `{"transaction_id":"T1","reason":"bored"}`, 400, "body.reason"},
		{"a transaction that is not on record", `{"transaction_id":"X1","reason":"other"}`, 404, "body.transaction_id"},
		{"an id that looks like a path", `{"transaction_id":"../../etc/passwd","reason":"other"}`, 404, "body.transaction_id"},
		{"an id that looks like SQL", `{"transaction_id":"' OR 1=1 --","reason":"other"}`, 404, "body.transaction_id"},
		{"another customer's transaction", `{"transaction_id":"TX-ADA","reason":"other","customer_id":"CHIDI"}`, 422, "body.customer_id"},
		{"a NUL in the id", `{"transaction_id":"T1\u0000","reason":"other"}`, 400, "body.transaction_id"},
		{"a NUL in the notes", `{"transaction_id":"T1","reason":"other","notes":"a\u0000b"}`, 400, "body.notes"},
		{"a raw NUL", "{\"transaction_id\":\"T1\x00\",\"reason\":\"other\"}", 400, "body"},
		{"a line break in the id", `{"transaction_id":"T1\n","reason":"other"}`, 400, "body.transaction_id"},
		{"bytes that are not UTF-8", "{\"transaction_id\":\"T1\",\"reason\":\"other\",\"notes\":\"\xff\xfe\"}", 400, "body"},
		{"half of a surrogate pair", `{"transaction_id":"T1","reason":"other","notes":"\ud83d"}`, 400, "body.notes"},
		{"an id of a kilobyte", `{"transaction_id":"T` + strings.Repeat("1", 1000) + `","reason":"other"}`, 400, "body.transaction_id"},
		{"notes longer than are kept", `{"transaction_id":"T1","reason":"other","notes":"` + strings.Repeat("n", 20001) + `"}`, 413, "body.notes"},
		{"ten megabytes of notes", `{"transaction_id":"T1","reason":"other","notes":"` + strings.Repeat("n", 10<<20) + `"}`, 413, "body"},
		{"ten megabytes of blanks", strings.Repeat(" ", 10<<20), 413, "body"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := o.post("/api/v1/disputes", row.body)
			problem(t, r, row.status, row.place)
			if len(r.text) > 2000 {
				t.Errorf("the error has %d bytes: it repeats what was sent", len(r.text))
			}
			if n := o.cases(); n != 0 {
				t.Fatalf("%d cases are stored", n)
			}
		})
	}
	t.Run("all that is wrong is said at once", func(t *testing.T) {
		r := o.post("/api/v1/disputes", `{"transaction_id":1,"reason":"other","amount":"x"}`)
		problem(t, r, 400, "body.transaction_id")
		problem(t, r, 400, "body.amount")
	})
	t.Run("what stood in an unknown field is not repeated", func(t *testing.T) {
		r := o.post("/api/v1/disputes", `{"transaction_id":"T1","reason":"other","card":"4111111111111111"}`)
		problem(t, r, 400, "body.card")
		if strings.Contains(r.text, "4111") {
			t.Errorf("the error repeats the card number: %s", r.text)
		}
	})
}

func TestGoodDisputes(t *testing.T) {
	o := newOffice(t)
	for _, row := range []struct{ sentence, body, notes string }{
		{"null is a field left out", `{"transaction_id":"T1","reason":"other","notes":null}`, ""},
		{"notes may hold any language and a replacement character", `{"transaction_id":"T2","reason":"other","notes":"ẹ \ufffd 😀 \ud83d\ude00"}`, "ẹ \ufffd 😀 😀"},
		{"notes may hold markup, kept as it is", `{"transaction_id":"T3","reason":"other","notes":"<script>&\n"}`, "<script>&\n"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := o.post("/api/v1/disputes", row.body)
			if r.status != http.StatusAccepted {
				t.Fatalf("got %d %s", r.status, r.text)
			}
			if notes := o.get("/api/v1/cases/" + fmt.Sprint(r.json["id"])).json["notes"]; notes != row.notes {
				t.Errorf("the notes are %q, want %q", notes, row.notes)
			}
		})
	}
}

// TestBadHeaders: a good dispute with something wrong around it.
func TestBadHeaders(t *testing.T) {
	o := newOffice(t)
	const body = `{"transaction_id":"T1","reason":"other"}`
	for _, row := range []struct {
		sentence, name, value string
		status                int
		place                 string
	}{
		{"a form", "Content-Type", "application/x-www-form-urlencoded", 415, "header.Content-Type"},
		{"plain text", "Content-Type", "text/plain", 415, "header.Content-Type"},
		{"something like JSON", "Content-Type", "application/merge-patch+json", 415, "header.Content-Type"},
		{"JSON in another encoding", "Content-Type", "application/json; charset=latin1", 415, "header.Content-Type"},
		{"a content type that cannot be read", "Content-Type", ";;;", 415, "header.Content-Type"},
		{"a compressed body", "Content-Encoding", "gzip", 415, "header.Content-Encoding"},
		{"an empty key", "Idempotency-Key", "", 400, "header.Idempotency-Key"},
		{"a key with a blank", "Idempotency-Key", "a b", 400, "header.Idempotency-Key"},
		{"a key that is not ASCII", "Idempotency-Key", "clé", 400, "header.Idempotency-Key"},
		{"a key of 201 characters", "Idempotency-Key", strings.Repeat("k", 201), 400, "header.Idempotency-Key"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := o.send(sent{method: "POST", path: "/api/v1/disputes", role: auth.Analyst, body: body, header: map[string]string{row.name: row.value}})
			problem(t, r, row.status, row.place)
			if n := o.cases(); n != 0 {
				t.Fatalf("%d cases are stored", n)
			}
		})
	}
	for _, name := range []string{"Idempotency-Key", "Authorization"} {
		t.Run("two headers called "+name, func(t *testing.T) {
			req := httptest.NewRequest("POST", "/api/v1/disputes", strings.NewReader(body))
			req.Header = http.Header{"Authorization": {"Bearer " + o.tokens[auth.Analyst]}, "Idempotency-Key": {"a"}}
			req.Header.Add(name, req.Header.Get(name))
			w := httptest.NewRecorder()
			o.api.guarded().ServeHTTP(w, req)
			if w.Code != http.StatusBadRequest && w.Code != http.StatusUnauthorized || o.cases() != 0 {
				t.Errorf("got %d %s, with %d cases", w.Code, w.Body, o.cases())
			}
		})
	}
}

func TestBadDecisions(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "reject")
	for _, row := range []struct {
		sentence, verb string
		revision       any
		body           string
		status         int
		place          string
	}{
		{"a verb that does not exist", "aprove", c.Revision, "", 400, "path.verb"},
		{"a verb in other letters", "Approve", c.Revision, "", 400, "path.verb"},
		{"an outcome that does not exist", "override", c.Revision, `{"outcome":"refunded","reason":"x","fix":"none"}`, 400, "body.outcome"},
		{"an outcome of the other desk", "override", c.Revision, `{"outcome":"contest","reason":"x"}`, 400, "body.outcome"},
		{"no outcome", "override", c.Revision, `{"reason":"x"}`, 400, "body.outcome"},
		{"no reason", "override", c.Revision, `{"outcome":"rejected"}`, 400, "body.reason"},
		{"a reason of blanks", "override", c.Revision, `{"outcome":"rejected","reason":" \n"}`, 400, "body.reason"},
		{"a fix that does not exist", "override", c.Revision, `{"outcome":"resolved","reason":"x","fix":"double"}`, 400, "body.fix"},
		{"a fix for a rejection", "override", c.Revision, `{"outcome":"rejected","reason":"x","fix":"refund"}`, 400, "body.fix"},
		{"resolved without saying which fix", "override", c.Revision, `{"outcome":"resolved","reason":"x"}`, 400, "body.fix"},
		{"an amount of one's own", "override", c.Revision, `{"outcome":"resolved","reason":"x","fix":"refund","amount":{"minor":1,"currency":"NGN"}}`, 400, "body.amount"},
		{"an escalation without a reason", "escalate", c.Revision, `{}`, 400, "body.reason"},
		{"a reference of a page", "escalate", c.Revision, `{"reason":"x","reference":"` + strings.Repeat("r", 201) + `"}`, 413, "body.reference"},
		{"a message that is too long", "message", c.Revision, `{"text":"` + strings.Repeat("m", 5001) + `"}`, 413, "body.text"},
		{"a message with a NUL", "message", c.Revision, `{"text":"\u0000"}`, 400, "body.text"},
		{"a message without a body", "message", c.Revision, ``, 400, "body"},
		{"an approval with a field", "approve", c.Revision, `{"fix":"refund"}`, 400, "body.fix"},
		{"an approval with a list", "approve", c.Revision, `[]`, 400, "body"},
		{"a retry with a field", "retry", c.Revision, `{"model":"x"}`, 400, "body.model"},
		{"a revision that is a word", "approve", "latest", "", 400, "header.If-Match"},
		{"any revision", "approve", "*", "", 400, "header.If-Match"},
		{"a weak tag", "approve", fmt.Sprintf(`W/"%d"`, c.Revision), "", 400, "header.If-Match"},
		{"two revisions", "approve", fmt.Sprintf(`"%d", "%d"`, c.Revision, c.Revision+1), "", 400, "header.If-Match"},
		{"a revision with one quote", "approve", fmt.Sprintf(`"%d`, c.Revision), "", 400, "header.If-Match"},
		{"a revision with a sign", "approve", fmt.Sprintf("+%d", c.Revision), "", 400, "header.If-Match"},
		{"a revision of nothing", "approve", `""`, "", 400, "header.If-Match"},
		{"revision zero", "approve", "0", "", 400, "header.If-Match"},
		{"a revision beyond all numbers", "approve", "99999999999999999999", "", 400, "header.If-Match"},
		{"a revision that is gone", "approve", c.Revision - 1, "", 409, "header.If-Match"},
		{"a revision that is not there yet", "approve", c.Revision + 1, "", 409, "header.If-Match"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			problem(t, o.decide(c.ID, row.verb, row.revision, row.body), row.status, row.place)
			if got := o.get("/api/v1/cases/" + string(c.ID)); got.json["revision"] != float64(c.Revision) || got.json["status"] != "in_review" {
				t.Fatalf("the case changed: %s", got.text)
			}
		})
	}
	for _, verb := range []string{"approve", "override", "escalate", "message", "retry"} {
		t.Run(verb+" without saying which revision was seen", func(t *testing.T) {
			problem(t, o.post("/api/v1/cases/"+string(c.ID)+"/"+verb, `{}`), 428, "header.If-Match")
		})
		t.Run(verb+" on a case that does not exist", func(t *testing.T) {
			body := map[string]string{"override": `{"outcome":"rejected","reason":"x"}`, "escalate": `{"reason":"x"}`, "message": `{"text":"x"}`}[verb]
			problem(t, o.decide("D-NONE", verb, 1, body), 404, "")
		})
	}
}

func TestBadReads(t *testing.T) {
	o := newOffice(t)
	for _, row := range []struct {
		sentence, path string
		status         int
		place          string
	}{
		{"a desk that does not exist", "/api/v1/cases?desk=back", 400, "query.desk"},
		{"a status that does not exist", "/api/v1/cases?status=open", 400, "query.status"},
		{"a recommendation that does not exist", "/api/v1/cases?recommendation=approve", 400, "query.recommendation"},
		{"a reason that does not exist", "/api/v1/cases?reason=mood", 400, "query.reason"},
		{"a filter that was misspelled", "/api/v1/cases?stauts=closed", 400, "query.stauts"},
		{"a filter twice", "/api/v1/cases?status=closed&status=queued", 400, "query.status"},
		{"a parameter where there is none", "/api/v1/cases/D-1?full=1", 400, "query.full"},
		{"a query that cannot be read", "/api/v1/cases?q=%zz", 400, "query"},
		{"a limit of none", "/api/v1/cases?limit=0", 400, "query.limit"},
		{"a limit above the most", "/api/v1/cases?limit=201", 400, "query.limit"},
		{"a limit that is a word", "/api/v1/cases?limit=all", 400, "query.limit"},
		{"a limit beyond all numbers", "/api/v1/cases?limit=99999999999999999999", 400, "query.limit"},
		{"a cursor somebody made up", "/api/v1/cases?cursor=abc", 400, "query.cursor"},
		{"a cursor that is no base64", "/api/v1/cases?cursor=%25%25", 400, "query.cursor"},
		{"a cursor with a NUL in it", "/api/v1/cases?cursor=MCBEAA", 400, "query.cursor"},
		{"a search with a NUL", "/api/v1/cases?q=%00", 400, "query.q"},
		{"a search that is not UTF-8", "/api/v1/cases?q=%ff", 400, "query.q"},
		{"a search as long as a page", "/api/v1/cases?q=" + strings.Repeat("q", 201), 400, "query.q"},
		{"a case that does not exist", "/api/v1/cases/D-NONE", 404, ""},
		{"steps of a case that does not exist", "/api/v1/cases/D-NONE/steps", 404, ""},
		{"the record of a case that does not exist", "/api/v1/cases/D-NONE/record", 404, ""},
		{"events of a case that does not exist", "/api/v1/cases/D-NONE/events", 404, ""},
		{"an id with a NUL", "/api/v1/cases/D%00", 404, ""},
		{"an id that is not UTF-8", "/api/v1/cases/%ff", 404, ""},
		{"an id that is a path", "/api/v1/cases/..%2f..%2fetc", 404, ""},
		{"an id as long as a page", "/api/v1/cases/" + strings.Repeat("D", 5000), 404, ""},
		{"a call that does not exist", "/api/v1/everything", 404, ""},
		{"a report, which does not exist yet", "/api/v1/cases/D-1/report", 404, ""},
		{"the root", "/", 404, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := o.get(row.path)
			problem(t, r, row.status, row.place)
			if len(r.text) > 2000 {
				t.Errorf("the error has %d bytes: it repeats what was sent", len(r.text))
			}
		})
	}
	for method, path := range map[string]string{"DELETE": "/api/v1/cases/D-1", "PUT": "/api/v1/disputes", "GET": "/api/v1/disputes", "POST": "/api/v1/cases"} {
		t.Run(method+" where another method is taken", func(t *testing.T) {
			r := o.send(sent{method: method, path: path, role: auth.Admin})
			problem(t, r, 405, "")
			if allow := r.header.Get("Allow"); allow != "GET" && allow != "POST" {
				t.Errorf("Allow is %q", allow)
			}
		})
	}
	for _, row := range []struct{ name, body, place string }{
		{"a chargeback without its order", `{"network":"visa"}`, "body.order_id"},
		{"a deadline without a zone", `{"order_id":"1","due_at":"2026-12-01 17:00"}`, "body.due_at"},
		{"a deadline on no day", `{"order_id":"1","due_at":"2026-13-40T00:00:00Z"}`, "body.due_at"},
		{"a stage nobody knows", `{"order_id":"1","stage":"won"}`, "body.stage"},
		{"nothing in dispute", `{"order_id":"1","amount":{"minor":0,"currency":"USD"}}`, "body.amount.minor"},
		{"a currency that is none", `{"order_id":"1","amount":{"minor":1,"currency":"usd"}}`, "body.amount.currency"},
	} {
		t.Run(row.name, func(t *testing.T) { problem(t, o.post("/api/v1/chargebacks", row.body), 400, row.place) })
	}
}

// bodies are what somebody who looks for a weakness sends first.
var bodies = []string{
	`{"transaction_id":"T1","reason":"failed_transfer","notes":"x","channel":"app","customer_id":"CHIDI"}`,
	`{"transaction_id":"T1","reason":"other","notes":null}`, `{}`, `[]`, `null`, ``, `{"a":1,"a":2}`, `{"notes":"\ud800"}`,
	`{"transaction_id":"\u0000","reason":""}`, "{\"notes\":\"\xff\"}", `{"reason":{"reason":[]}}`, `{"":""}`, "\xef\xbb\xbf{}", `{"transaction_id":"T1"`,
}

func FuzzDisputes(f *testing.F) {
	o := newOffice(f)
	handler := o.api.guarded()
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	if len(bodies) < 10 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := stored(t, o.store)
		req := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/disputes", bytes.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+o.tokens[auth.Analyst])
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		switch grown := stored(t, o.store) - before; {
		case w.Code >= 500:
			t.Fatalf("answered %d %s", w.Code, w.Body)
		case w.Code >= 400 && grown != 0:
			t.Fatalf("answered %d and stored a case", w.Code)
		case w.Code >= 400 && w.Header().Get("Content-Type") != problemType:
			t.Fatalf("the error is %s", w.Header().Get("Content-Type"))
		case w.Code == http.StatusAccepted && grown != 1:
			t.Fatalf("answered 202 and stored %d cases", grown)
		}
	})
}
