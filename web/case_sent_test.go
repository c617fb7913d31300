package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/desk/bank/posting"
	"countersign/desk/bank/records"
	"countersign/internal/testcore"
)

// postsElsewhere has a core post the fixes of an office. It is asked once, and then a person must find out.
func (o *office) postsElsewhere(core *testcore.Core) {
	o.t.Helper()
	_, err := o.Posting().Apply(o.t.Context(), posting.Settings{To: posting.Core, URL: core.Address(), KeyID: core.KeyID, Secret: core.Secret, Tries: 1}, operator)
	o.must(err)
}

// told waits until a case does not wait for the core any more.
func (o *office) told(id countersign.CaseID) countersign.Case {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	grew, end := o.Store.Watch(id)
	defer end()
	for {
		c := o.latest(id)
		if c.Status != countersign.AwaitingConfirmation {
			return c
		}
		select {
		case <-grew:
		case <-ctx.Done():
			o.t.Fatalf("case %s still waits for the core", id)
		}
	}
}

// calls makes a call of the API as somebody with that role.
func (o *office) calls(method, path string, role auth.Role, revision int64, body string) (status int, answer map[string]any) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, o.server.URL+path, strings.NewReader(body))
	o.must(err)
	r.Header.Set("Authorization", "Bearer "+o.tokens[role])
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if revision > 0 {
		r.Header.Set("If-Match", strconv.FormatInt(revision, 10))
	}
	reply, err := http.DefaultClient.Do(r)
	o.must(err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	o.must(err)
	o.must(json.Unmarshal(text, &answer))
	return reply.StatusCode, answer
}

func TestAFixThatTheCorePosts(t *testing.T) {
	o := newOffice(t)
	core := testcore.New(t)
	o.postsElsewhere(core)
	b := o.as(auth.Analyst)

	o.run(t, "the page says who posts, and the case is closed when the core has", func(t *testing.T) {
		c := o.inReview("T-core")
		b.get("/cases/"+string(c.ID)).is(http.StatusOK, "Have the core post the reversal of NGN 24,500.00")
		b.get("/cases/"+string(c.ID)+"/approve").is(http.StatusOK, "Have the core post the reversal of NGN 24,500.00 to account ****6789", "The bank's core will be asked to post these entries.")
		b.follow(b.decides(c, "approve")).is(http.StatusOK, "The bank's core is asked to post the reversal of NGN 24,500.00.")
		if c = o.told(c.ID); c.Status != countersign.Closed || core.Moved("reversal", c.Subject.ID) != 1 {
			t.Fatalf("%s, moved %d times", c.Status, core.Moved("reversal", c.Subject.ID))
		}
		b.get("/cases/"+string(c.ID)).is(http.StatusOK, "resolved by a person", "The reversal of NGN 24,500.00 was posted", c.Fix.Instruction.ID, "CORE-"+c.Fix.Instruction.ID,
			"The bank's core is to post the reversal of NGN 24,500.00", "was posted by the core, and entered here", "✓ intact")
	})

	o.run(t, "what the core says no with is shown as its words", func(t *testing.T) {
		core.Next(testcore.Reject)
		c := o.inReview("T-no")
		b.follow(b.decides(c, "approve"))
		c = o.told(c.ID)
		b.get("/cases/"+string(c.ID)).is(http.StatusOK, "The bank's core did not post the fix", "The bank's core did not post the reversal of NGN 24,500.00", "account closed", "Nothing was posted.",
			"Have the core post the reversal of NGN 24,500.00")
	})

	o.run(t, "nobody knows: a person looks, and says so", func(t *testing.T) {
		core.Next(testcore.LoseAnswer)
		c := o.inReview("T-lost")
		b.follow(b.decides(c, "approve"))
		c = o.told(c.ID)
		b.get("/cases/"+string(c.ID)).is(http.StatusOK, "Nobody knows whether the reversal of NGN 24,500.00 was posted", "Ask the core again", "Settle it by hand", "The money may have moved.")
		b.get("/cases/"+string(c.ID)+"/approve").is(http.StatusOK, "so nothing else can be decided")
		b.get("/cases/"+string(c.ID)+"/override").is(http.StatusOK, "so nothing else can be decided")
		b.get("/cases/"+string(c.ID)+"/settle").is(http.StatusOK, "Look in the core for the instruction "+c.Fix.Instruction.ID)
		b.decides(c, "settle", "choice", "posted", "reason", "Seen in the journal.").is(http.StatusBadRequest, "is missing", "Seen in the journal.")
		b.follow(b.decides(c, "settle", "choice", "posted", "reason", "Seen in the journal.", "reference", "CBS-9")).
			is(http.StatusOK, "The reversal of NGN 24,500.00 was posted, and the case is closed.", "found out what became of the fix: it was posted", "CBS-9", "✓ intact")
	})

	o.run(t, "an import has brought its entry: it stands there once", func(t *testing.T) {
		core.Next(testcore.LoseAnswer)
		c := o.inReview("T-booked")
		b.follow(b.decides(c, "approve"))
		c = o.told(c.ID)
		b.decides(c, "settle", "choice", "booked", "reason", "Seen in the journal.", "reference", "CBS-8").is(http.StatusConflict, "the books hold no credit")
		o.load(records.Set{LedgerEntries: []records.LedgerEntry{{ID: "CBS-8", TransactionID: c.Subject.ID, AccountID: c.Fix.Fix.AccountID, Direction: countersign.Credit,
			AmountMinor: c.Fix.Fix.Amount.Minor, Currency: "NGN", Kind: records.RefundEntry}}})
		b.follow(b.decides(c, "settle", "choice", "booked", "reason", "Seen in the journal.", "reference", "CBS-8"))
		if text := b.get("/cases/"+string(c.ID)).is(http.StatusOK, "its entries were here already").seen(); strings.Contains(text, "stays taken from the customer") || strings.Contains(text, "by this case") {
			t.Error("the page shows the entry of the import, and the same again as entered by this case")
		}
	})

	o.run(t, "asked again, the core says what it did", func(t *testing.T) {
		core.Next(testcore.LoseAnswer)
		c := o.inReview("T-again")
		b.follow(b.decides(c, "approve"))
		c = o.told(c.ID)
		b.follow(b.decides(c, "ask")).is(http.StatusOK, "The bank's core is asked again.")
		if c = o.told(c.ID); c.Status != countersign.Closed || core.Moved("reversal", c.Subject.ID) != 1 {
			t.Errorf("%s, moved %d times", c.Status, core.Moved("reversal", c.Subject.ID))
		}
	})

	o.run(t, "the API says the same", func(t *testing.T) {
		core.Next(testcore.HangUp)
		c := o.inReview("T-api")
		path := "/api/v1/cases/" + string(c.ID)
		if status, answer := o.calls("POST", path+"/approve", auth.Analyst, c.Revision, ""); status != http.StatusOK || answer["status"] != "awaiting_confirmation" && answer["status"] != "in_review" {
			t.Fatalf("approved: %d %v", status, answer)
		}
		c = o.told(c.ID)
		_, answer := o.calls("GET", path, auth.Auditor, 0, "")
		fix, _ := answer["fix"].(map[string]any)
		instruction, _ := fix["instruction"].(map[string]any)
		if fix["state"] != "unknown" || instruction["id"] != c.Fix.Instruction.ID || instruction["state"] != "unknown" || instruction["attempts"] != 1.0 || instruction["asked_at"] == nil {
			t.Errorf("the case is shown with the fix %v", fix)
		}
		if status, answer := o.calls("POST", path+"/retry", auth.Analyst, c.Revision, ""); status != http.StatusConflict {
			t.Errorf("retried: %d %v", status, answer)
		}
		if status, answer := o.calls("POST", path+"/settle", auth.Analyst, c.Revision, `{"found":"posted","reason":"x"}`); status != http.StatusBadRequest {
			t.Errorf("settled without a reference: %d %v", status, answer)
		}
		if status, answer := o.calls("POST", path+"/settle", auth.Analyst, c.Revision, `{"reason":"x"}`); status != http.StatusBadRequest {
			t.Errorf("settled without a finding: %d %v", status, answer)
		}
		status, answer := o.calls("POST", path+"/settle", auth.Analyst, c.Revision, `{"found":"not_posted","reason":"Not in the journal."}`)
		if fix, _ = answer["fix"].(map[string]any); status != http.StatusOK || answer["status"] != "in_review" || fix["state"] != "rejected" {
			t.Errorf("settled: %d %v", status, answer)
		}
		if seen := b.get("/cases/"+string(c.ID)).is(http.StatusOK, "The bank's core did not post the fix").seen(); strings.Contains(seen, "rejected") {
			t.Error("the page says that the core rejected what it never had")
		}
	})

	o.run(t, "the settings say who posts", func(t *testing.T) {
		b.get("/settings").is(http.StatusOK, "The bank's own core,", core.Address(), "k-1")
	})
}
