package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/auth"
	"countersign/internal/testdb"
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
	o.api.pressure.turn <- struct{}{}
	defer func() { <-o.api.pressure.turn }()
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

// Somebody asks whether this process is ready while another request waits for a database that is stuck.
func TestNobodyWaitsLongerForTheQueuesLengthThanTheyWanted(t *testing.T) {
	s, err := store.Open(t.Context(), testdb.Postgres(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stuck, err := s.DB().BeginTx(t.Context(), nil)
	if err == nil {
		defer func() { _ = stuck.Rollback() }()
		_, err = stuck.ExecContext(t.Context(), "LOCK TABLE cases")
	}
	if err != nil {
		t.Fatal(err)
	}
	p := newPressure(s)
	ask := func(ctx context.Context) <-chan error {
		answered := make(chan error, 1)
		go func() { _, err := p.now(ctx); answered <- err }()
		return answered
	}
	first := ask(t.Context())
	for waits := false; !waits; {
		if err := s.DB().QueryRowContext(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	select {
	case err := <-ask(gone):
		if !errors.Is(err, context.Canceled) {
			t.Errorf("who has left is answered %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("who has left waits for the one before them")
	}
	if err := stuck.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}
