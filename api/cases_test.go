package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/auth"
)

// form is a JSON value with every plain value replaced by the name of its type.
func form(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, value := range v {
			m[k] = form(value)
		}
		return m
	case []any:
		l := []any{}
		for _, value := range v {
			l = append(l, form(value))
		}
		return l
	case nil:
		return nil
	}
	return fmt.Sprintf("%T", v)
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const opened = `{"id":"s","desk":"s","subject":{"transaction_id":"s"},"customer_id":"s","channel":"s","reason":"s","notes":"s",
	"amount":{"minor":1,"currency":"s","text":"s"},"contested":null,"network":null,"reason_code":null,"provider_ref":null,"status":"s","stage":null,"recommendation":null,"outcome":null,"handled_by":null,"result":null,"reopened":null,
	"raised":true,"opened_at":"s","updated_at":"s","due_at":"s","due_source":"s","proposal":null,"facts":[],"verdict":null,
	"fix":{"state":"s","kind":null,"transaction_id":null,"amount":null,"entries":[],"instruction":null,"why":null},"message":"s",
	"model":{"provider":"s","name":"s","attempts":1,"input_tokens":1,"output_tokens":1,"cost":"s"},
	"record":{"length":1,"head":"s","intact":true},"round":1,"revision":1}`

func TestCaseShape(t *testing.T) {
	o := newOffice(t)
	id := o.dispute("T1")
	t.Run("a case that was just opened has nulls and empty lists, never a missing field", func(t *testing.T) {
		if diff := cmp.Diff(form(decoded(t, opened)), form(o.get("/api/v1/cases/"+string(id)).json)); diff != "" {
			t.Errorf("the case differs (-want +got):\n%s", diff)
		}
	})
	c := o.toReview(id, "resolve")
	got := o.get("/api/v1/cases/" + string(id))
	for place, want := range map[string]string{
		"subject":        `{"transaction_id":"T1"}`,
		"amount":         `{"currency":"NGN","minor":2450000,"text":"NGN 24,500.00"}`,
		"due_at":         `"2026-12-03T10:00:00Z"`,
		"notes":          `"it never arrived"`,
		"status":         `"in_review"`,
		"proposal":       `{"category":"failed_transfer","claims":[{"citations":[{"field":"status","ref":"S1","status":"verified","value":"failed"}],"text":"The rail says failed."}],"confidence":0.97,"customer_message":"","failure":null,"fraud_suspected":false,"partial":null,"quotes":[],"recommendation":"resolve","summary":"It failed."}`,
		"facts":          `[{"name":"debit_posted","source":"ledger_entries LE-1","state":"present","value":"NGN 24,500.00"}]`,
		"verdict":        `{"caveats":[],"kind":"review","policy_version":"p1","reasons":[{"code":"facts_unknown","text":"The settlement is not final."}]}`,
		"fix":            `{"amount":{"currency":"NGN","minor":2450000,"text":"NGN 24,500.00"},"entries":[{"account_id":"A-1","amount":{"currency":"NGN","minor":2450000,"text":"NGN 24,500.00"},"direction":"credit","kind":"reversal"},{"account_id":"suspense:NGN","amount":{"currency":"NGN","minor":2450000,"text":"NGN 24,500.00"},"direction":"debit","kind":"reversal"}],"instruction":null,"kind":"reversal","state":"planned","transaction_id":"T1","why":null}`,
		"revision":       fmt.Sprint(c.Revision),
		"recommendation": `"resolve"`,
	} {
		t.Run("a case in review shows its "+place, func(t *testing.T) {
			if diff := cmp.Diff(decoded(t, want), got.json[place]); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", place, diff)
			}
		})
	}
	t.Run("the entity tag is the revision", func(t *testing.T) {
		if tag := got.header.Get("ETag"); tag != fmt.Sprintf("%q", fmt.Sprint(c.Revision)) {
			t.Errorf("ETag is %s, want the revision %d in quotes", tag, c.Revision)
		}
	})
	t.Run("times end in Z", func(t *testing.T) {
		for _, name := range []string{"opened_at", "updated_at", "due_at"} {
			if at := got.json[name].(string); !strings.HasSuffix(at, "Z") {
				t.Errorf("%s is %s", name, at)
			}
		}
	})
	t.Run("answers are for nobody's cache and no browser's guess", func(t *testing.T) {
		if got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
			got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("the headers are %v", got.header)
		}
	})
}

func TestRecord(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "resolve")
	path := "/api/v1/cases/" + string(c.ID)
	head, err := o.store.Head(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("an untouched record is intact, with its length and head", func(t *testing.T) {
		want := map[string]any{"length": float64(head.Seq), "head": head.Hash.String(), "intact": true}
		if diff := cmp.Diff(want, o.get(path).json["record"]); diff != "" {
			t.Errorf("record differs (-want +got):\n%s", diff)
		}
	})
	t.Run("every row is shown, with what a stranger needs to check it", func(t *testing.T) {
		var whole WholeRecord
		if err := json.Unmarshal([]byte(o.get(path+"/record").text), &whole); err != nil {
			t.Fatal(err)
		}
		if len(whole.Rows) != int(head.Seq) || !whole.Intact || len(whole.Breaks) != 0 {
			t.Fatalf("got %d rows, intact %v, breaks %v", len(whole.Rows), whole.Intact, whole.Breaks)
		}
		verifier := audit.NewVerifier()
		verifier.Case(head, audit.Projection{Status: c.Status})
		for _, r := range whole.Rows {
			verifier.Row(rebuilt(t, c.ID, r), &audit.Payload{Salt: unhex(t, *r.Salt), Bytes: r.Payload})
		}
		if report := verifier.Report(); !report.OK {
			t.Errorf("the rows as they were shown do not verify: %v", report)
		}
	})
	t.Run("a case that says something else than its record is not intact", func(t *testing.T) {
		if _, err := o.store.DB().Exec("UPDATE cases SET outcome = 'resolved', status = 'closed' WHERE id = $1", string(c.ID)); err != nil {
			t.Fatal(err)
		}
		if got := o.get(path).json["record"].(map[string]any)["intact"]; got != false {
			t.Errorf("intact is %v, want false", got)
		}
		whole := o.get(path + "/record")
		if breaks := whole.json["breaks"].([]any); whole.status != http.StatusOK || len(breaks) != 1 || whole.json["intact"] != false {
			t.Errorf("the record shows the breaks %v", breaks)
		}
	})
}

func TestDamagedPayload(t *testing.T) {
	o := newOffice(t)
	id := o.dispute("T1")
	o.step(id, 1, 1)
	o.tamper("DROP TRIGGER record_payloads_update", "UPDATE record_payloads SET payload = CAST('{\"status\":' AS BLOB) WHERE seq = 1")
	t.Run("a payload that is no JSON any more is shown as it is, in a record that is not intact", func(t *testing.T) {
		r := o.get("/api/v1/cases/" + string(id) + "/record")
		if r.status != http.StatusOK || r.json["intact"] != false || r.json["rows"].([]any)[0].(map[string]any)["payload"] != `{"status":` {
			t.Fatalf("got %d %s", r.status, r.text)
		}
		if first := r.json["breaks"].([]any)[0].(map[string]any); first["seq"] != 1.0 || first["why"] == "" {
			t.Errorf("the break is %v", first)
		}
	})
	t.Run("the case can still be read", func(t *testing.T) {
		if r := o.get("/api/v1/cases/" + string(id)); r.status != http.StatusOK || r.json["record"].(map[string]any)["intact"] != false {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
}

func rebuilt(t *testing.T, id countersign.CaseID, r RecordRow) audit.Row {
	t.Helper()
	return audit.Row{Version: r.Version, Case: id, Seq: r.Seq, Kind: r.Kind, Actor: r.Actor, At: r.At.UnixMicro(),
		Commitment: audit.Hash(unhex(t, r.Commitment)), Prev: audit.Hash(unhex(t, r.PrevHash)), Hash: audit.Hash(unhex(t, r.Hash))}
}

func unhex(t *testing.T, s string) (b []byte) {
	t.Helper()
	if _, err := fmt.Sscanf(s, "%x", &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSteps(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "resolve")
	path := "/api/v1/cases/" + string(c.ID) + "/steps"
	t.Run("a step is shown without the text that was for the model alone", func(t *testing.T) {
		want := decoded(t, `{"steps":[{"ref":"S1","round":1,"turn":1,"tool":"get_settlement_status","args":{},"ok":true,
			"result":{"status":"failed"},"at":"2026-12-03T10:00:00Z","took_ms":1500}]}`)
		if diff := cmp.Diff(want, any(o.get(path).json)); diff != "" {
			t.Errorf("steps differ (-want +got):\n%s", diff)
		}
	})
	t.Run("a new round begins with no step", func(t *testing.T) {
		if r := o.decide(c.ID, "retry", c.Revision, ""); r.status != http.StatusOK {
			t.Fatalf("retry: %d %s", r.status, r.text)
		}
		if got := o.get(path).text; strings.TrimSpace(got) != `{"steps":[]}` {
			t.Errorf("steps are %s", got)
		}
	})
}

func TestList(t *testing.T) {
	o := newOffice(t)
	a, b := o.reviewed("T1", "resolve"), o.reviewed("T2", "reject")
	queued := o.dispute("T3")
	for _, row := range []struct {
		sentence, query string
		want            []countersign.CaseID
	}{
		{"without a filter every case", "", []countersign.CaseID{a.ID, b.ID, queued}},
		{"empty filters do not narrow", "?desk=&status=&recommendation=&q=&cursor=&limit=", []countersign.CaseID{a.ID, b.ID, queued}},
		{"by desk", "?desk=merchant", nil},
		{"by status", "?status=queued", []countersign.CaseID{queued}},
		{"by recommendation", "?recommendation=reject", []countersign.CaseID{b.ID}},
		{"by a reason of the verdict", "?reason=facts_unknown", []countersign.CaseID{a.ID, b.ID}},
		{"by the transaction's id", "?q=T3", []countersign.CaseID{queued}},
		{"by the case's id", "?q=" + string(a.ID), []countersign.CaseID{a.ID}},
		{"by two filters at once", "?status=in_review&recommendation=resolve", []countersign.CaseID{a.ID}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			if diff := cmp.Diff(sorted(row.want), sorted(ids(t, o.get("/api/v1/cases"+row.query)))); diff != "" {
				t.Errorf("cases differ (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an empty list is a list", func(t *testing.T) {
		if got := o.get("/api/v1/cases?desk=merchant").text; strings.TrimSpace(got) != `{"cases":[],"next_cursor":null}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("pages end where the next begins", func(t *testing.T) {
		var all []countersign.CaseID
		for page := o.get("/api/v1/cases?limit=1"); ; page = o.get("/api/v1/cases?limit=1&cursor=" + page.json["next_cursor"].(string)) {
			all = append(all, ids(t, page)...)
			if page.json["next_cursor"] == nil {
				break
			}
		}
		if diff := cmp.Diff(sorted([]countersign.CaseID{a.ID, b.ID, queued}), sorted(all)); diff != "" || len(all) != 3 {
			t.Errorf("the pages differ from the whole (-want +got):\n%s", diff)
		}
	})
	t.Run("a list does not claim that records are intact", func(t *testing.T) {
		if _, there := o.get("/api/v1/cases").json["cases"].([]any)[0].(map[string]any)["record"]; there {
			t.Error("a listed case has a record")
		}
	})
	t.Run("a case without a deadline comes first", func(t *testing.T) {
		if _, err := o.store.DB().Exec("UPDATE cases SET due_at = NULL, risk = 0 WHERE id = $1", string(queued)); err != nil {
			t.Fatal(err)
		}
		page := o.get("/api/v1/cases?limit=1")
		first := page.json["cases"].([]any)[0].(map[string]any)
		if first["id"] != string(queued) || first["due_at"] != nil {
			t.Errorf("the first case is %v, due %v", first["id"], first["due_at"])
		}
	})
}

func ids(t *testing.T, r reply) (all []countersign.CaseID) {
	t.Helper()
	if r.status != http.StatusOK {
		t.Fatalf("list: %d %s", r.status, r.text)
	}
	for _, c := range r.json["cases"].([]any) {
		all = append(all, countersign.CaseID(c.(map[string]any)["id"].(string)))
	}
	return all
}

func sorted(list []countersign.CaseID) map[countersign.CaseID]bool {
	set := map[countersign.CaseID]bool{}
	for _, id := range list {
		set[id] = true
	}
	return set
}

func TestDisputes(t *testing.T) {
	o := newOffice(t)
	const body = `{"transaction_id":"T1","reason":"failed_transfer"}`
	with := func(key, body string, role auth.Role) reply {
		return o.send(sent{method: "POST", path: "/api/v1/disputes", role: role, body: body, header: map[string]string{"Idempotency-Key": key}})
	}
	first := with("k-1", body, auth.Analyst)
	t.Run("a new dispute is accepted, with its place", func(t *testing.T) {
		if first.status != http.StatusAccepted || first.json["status"] != "queued" || first.header.Get("Location") != "/api/v1/cases/"+fmt.Sprint(first.json["id"]) {
			t.Errorf("got %d %s at %s", first.status, first.text, first.header.Get("Location"))
		}
	})
	t.Run("the token is recorded as who did it", func(t *testing.T) {
		for row, err := range o.store.RecordRows(t.Context(), countersign.CaseID(first.json["id"].(string)), 0) {
			if err != nil || !strings.HasPrefix(row.Actor, "token:tok_") {
				t.Errorf("row %d was made by %q (%v)", row.Seq, row.Actor, err)
			}
		}
	})
	for _, row := range []struct {
		sentence, key, body string
		status              int
	}{
		{"the same key and body give the first case", "k-1", body, http.StatusOK},
		{"the same dispute with another key gives the first case", "k-2", body, http.StatusOK},
		{"the same key with another body is a conflict", "k-1", `{"transaction_id":"T2","reason":"failed_transfer"}`, http.StatusConflict},
		{"a blank more is another body", "k-1", body + " ", http.StatusConflict},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := with(row.key, row.body, auth.Analyst)
			if row.status == http.StatusConflict {
				problem(t, r, row.status, "header.Idempotency-Key")
			} else if r.status != row.status || r.json["id"] != first.json["id"] {
				t.Errorf("got %d %s", r.status, r.text)
			}
		})
	}
	t.Run("without a key the same dispute gives the first case", func(t *testing.T) {
		if r := o.post("/api/v1/disputes", body); r.status != http.StatusOK || r.json["id"] != first.json["id"] {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("a key counts per token", func(t *testing.T) {
		if r := with("k-1", `{"transaction_id":"T9","reason":"failed_transfer"}`, auth.Admin); r.status != http.StatusAccepted {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	if n := o.cases(); n != 2 {
		t.Errorf("%d cases are stored, want 2", n)
	}
}

func TestDecisions(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "reject")
	t.Run("the draft is replaced, and the revision grows", func(t *testing.T) {
		r := o.decide(c.ID, "message", c.Revision, `{"text":"We need more time."}`)
		if r.status != http.StatusOK || r.json["message"] != "We need more time." || r.json["revision"] != float64(c.Revision+1) {
			t.Fatalf("got %d %s", r.status, r.text)
		}
		if tag := r.header.Get("ETag"); tag != fmt.Sprintf(`"%d"`, c.Revision+1) {
			t.Errorf("ETag is %s", tag)
		}
	})
	t.Run("a stale revision is a conflict and changes nothing", func(t *testing.T) {
		problem(t, o.decide(c.ID, "approve", c.Revision, ""), http.StatusConflict, "header.If-Match")
		if got := o.get("/api/v1/cases/" + string(c.ID)).json["status"]; got != "in_review" {
			t.Errorf("the case is %v", got)
		}
	})
	t.Run("approving a rejection closes the case, by a person, on a quoted revision", func(t *testing.T) {
		r := o.decide(c.ID, "approve", fmt.Sprintf("%q", fmt.Sprint(c.Revision+1)), "{}")
		if r.status != http.StatusOK || r.json["status"] != "closed" || r.json["outcome"] != "rejected" || r.json["handled_by"] != "person" {
			t.Fatalf("got %d %s", r.status, r.text)
		}
		if r.json["record"].(map[string]any)["intact"] != true {
			t.Errorf("its record is not intact: %s", r.text)
		}
	})
	t.Run("a closed case takes no decision", func(t *testing.T) {
		problem(t, o.decide(c.ID, "message", c.Revision+2, `{"text":"x"}`), http.StatusConflict, "")
	})
	t.Run("a fix that the records do not support is a conflict", func(t *testing.T) {
		c := o.reviewed("T2", "resolve")
		r := o.decide(c.ID, "approve", c.Revision, "")
		problem(t, r, http.StatusConflict, "")
		if !strings.Contains(r.json["detail"].(string), "override") {
			t.Errorf("it does not say what to do: %s", r.text)
		}
	})
	t.Run("what nobody may waive is a conflict", func(t *testing.T) {
		c := o.reviewed("T3", "resolve")
		problem(t, o.decide(c.ID, "override", c.Revision, `{"outcome":"resolved","reason":"I saw it","fix":"reversal"}`), http.StatusConflict, "")
	})
	t.Run("an override without a fix closes the case", func(t *testing.T) {
		c := o.reviewed("T4", "reject")
		r := o.decide(c.ID, "override", c.Revision, `{"outcome":"resolved","reason":"Settled on the phone.","fix":"none"}`)
		if r.status != http.StatusOK || r.json["outcome"] != "resolved" || r.json["fix"].(map[string]any)["state"] != "none" {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("escalating raises the case and keeps it in review", func(t *testing.T) {
		c := o.reviewed("T5", "resolve")
		r := o.decide(c.ID, "escalate", c.Revision, `{"reason":"Too large for me."}`)
		if r.status != http.StatusOK || r.json["status"] != "in_review" || r.json["raised"] != true {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("an outside reference closes it as escalated", func(t *testing.T) {
		c := o.reviewed("T6", "resolve")
		r := o.decide(c.ID, "escalate", c.Revision, `{"reason":"Theirs.","reference":"NIBSS-77"}`)
		if r.status != http.StatusOK || r.json["outcome"] != "escalated" {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("retry starts another round", func(t *testing.T) {
		c := o.reviewed("T7", "resolve")
		r := o.decide(c.ID, "retry", c.Revision, "")
		if r.status != http.StatusOK || r.json["status"] != "queued" || r.json["round"] != 2.0 || r.json["proposal"] != nil {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("a case under investigation takes no decision", func(t *testing.T) {
		problem(t, o.decide(o.dispute("T8"), "approve", 1, ""), http.StatusConflict, "")
	})
	t.Run("of two who decide at once one is too late", func(t *testing.T) {
		c := o.reviewed("T9", "reject")
		replies := make(chan reply)
		for range 2 {
			go func() { replies <- o.decide(c.ID, "approve", c.Revision, "") }()
		}
		a, b := <-replies, <-replies
		if a.status+b.status != http.StatusOK+http.StatusConflict {
			t.Errorf("got %d and %d, want 200 and 409", a.status, b.status)
		}
	})
}

func TestErasedPayload(t *testing.T) {
	o := newOffice(t)
	id := o.dispute("T1")
	o.step(id, 1, 1)
	o.tamper("DROP TRIGGER record_payloads_delete", "DELETE FROM record_payloads WHERE seq = 3")
	t.Run("a step whose payload is gone is left out", func(t *testing.T) {
		if r := o.get("/api/v1/cases/" + string(id) + "/steps"); r.status != http.StatusOK || len(r.json["steps"].([]any)) != 0 {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("the record shows the row with neither payload nor salt", func(t *testing.T) {
		row := o.get("/api/v1/cases/" + string(id) + "/record").json["rows"].([]any)[2].(map[string]any)
		if row["payload"] != nil || row["salt"] != nil || row["hash"] == "" {
			t.Errorf("got %v", row)
		}
	})
}

func TestADecisionWhoseWarningsCannotBeReadIsNoFailure(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "resolve")
	if r := o.decide(c.ID, "escalate", c.Revision, `{"reason":"Two of us, please."}`); r.status != http.StatusOK {
		t.Fatalf("got %d %s", r.status, r.text)
	}
	o.tamper("DROP TRIGGER record_payloads_update", "UPDATE record_payloads SET payload = CAST('{\"warnings\":' AS BLOB) WHERE seq = (SELECT max(seq) FROM record_rows WHERE kind = 'decision')")
	r := o.decide(c.ID, "message", c.Revision+1, `{"text":"We need more time."}`)
	if r.status != http.StatusOK || r.json["message"] != "We need more time." || r.json["warnings"] != nil {
		t.Errorf("got %d %s, want the case as it was decided", r.status, r.text)
	}
	if !strings.Contains(o.log.String(), "what a decision warned of cannot be read") {
		t.Error("nobody who runs the program would know")
	}
}
