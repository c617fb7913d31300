package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/auth"
	"countersign/store"
)

// presses sets from when on the queue is long and full, and has the next request look.
func (o *office) presses(long, full int64) {
	o.t.Helper()
	w := store.DefaultWorkload()
	w.LongQueue, w.RefuseAt = long, full
	if err := o.store.Write(o.t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.ApplyWorkload(ctx, w, operator) }); err != nil {
		o.t.Fatal(err)
	}
	o.looksAgain()
}

func (o *office) looksAgain() {
	o.api.pressure.mu.Lock()
	defer o.api.pressure.mu.Unlock()
	o.api.pressure.until = time.Time{}
}

func TestALongQueue(t *testing.T) {
	o := newOffice(t)
	keyed := func(id, key string) reply {
		return o.send(sent{"POST", "/api/v1/disputes", auth.Admin, map[string]string{"Idempotency-Key": key}, `{"transaction_id":"` + id + `","reason":"other"}`})
	}
	queue := func(want string) {
		t.Helper()
		o.looksAgain()
		if r := o.get("/readyz"); r.status != http.StatusOK || r.json["status"] != "ok" || r.json["queue"] != want {
			t.Errorf("/readyz is %d %s, want 200 and a %s queue", r.status, r.text, want)
		}
	}
	if r := keyed("T1", "one"); r.status != http.StatusAccepted {
		t.Fatal(r.status)
	}
	queue("short")
	o.presses(1, 0)
	t.Run("is said, and everything is taken in", func(t *testing.T) {
		queue("long")
		if r := keyed("T2", "two"); r.status != http.StatusAccepted {
			t.Errorf("answered %d %s", r.status, r.text)
		}
	})
	o.presses(1, 2)
	t.Run("is full where somebody has said from when on, and then nothing new is taken in", func(t *testing.T) {
		queue("full")
		for _, r := range []reply{keyed("T3", "three"), o.post("/api/v1/disputes", `{"transaction_id":"T3","reason":"other"}`),
			o.post("/api/v1/chargebacks", `{"order_id":"1001"}`)} {
			problem(t, r, http.StatusServiceUnavailable, "")
			if r.header.Get("Retry-After") == "" || !strings.Contains(r.text, "nothing was stored") {
				t.Errorf("it does not say when to come back: %s", r.text)
			}
		}
		if o.cases() != 2 {
			t.Errorf("there are %d cases", o.cases())
		}
	})
	t.Run("what was answered before is answered again", func(t *testing.T) {
		if r := keyed("T1", "one"); r.status != http.StatusOK {
			t.Errorf("answered %d %s", r.status, r.text)
		}
	})
	t.Run("an operator sees it", func(t *testing.T) {
		w := store.DefaultWorkload()
		w.MaxCases["desk:bank"] = 7
		if err := o.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.ApplyWorkload(ctx, w, operator) }); err != nil {
			t.Fatal(err)
		}
		text := o.get("/metrics").text
		for _, want := range []string{"countersign_queue_long 10000", "countersign_queue_refuse 0", `countersign_pool_limit{pool="desk:bank"} 7`,
			`countersign_pool_held{pool="desk:bank"} 0`, `countersign_pool_waiting{pool="desk:bank"} 0`} {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %s", want)
			}
		}
	})
}
