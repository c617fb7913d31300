package hook_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/desk/merchant"
	"countersign/hook"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/secret"
	"countersign/store"
)

var (
	ctx  = context.Background()
	noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	ada  = countersign.Actor{Kind: countersign.Person, ID: "ada"}
	eve  = countersign.Actor{Kind: countersign.Person, ID: "eve"}
)

// gate is a server that takes in events of the source "till".
type gate struct {
	*testing.T
	*httptest.Server
	store   *store.Store
	sources hook.Sources
	hook    *hook.Hook
	secret  string
	now     *time.Time
	log     *bytes.Buffer
}

func newGate(t *testing.T, database string) *gate {
	t.Helper()
	now := noon
	g := &gate{T: t, now: &now, log: &bytes.Buffer{}}
	s, err := store.Open(ctx, database, store.Options{Now: func() time.Time { return *g.now }})
	g.must(err)
	t.Cleanup(func() { s.Close() })
	key, err := secret.Open(filepath.Join(t.TempDir(), "master.key"), true)
	g.must(err)
	q, err := queue.New(queue.Config{Store: s})
	g.must(err)
	log := slog.New(slog.NewTextHandler(&locked{w: g.log}, nil))
	in := intake.Events{Intake: intake.Intake{Store: s, Queue: q}, Desks: map[countersign.DeskName]intake.Desk{countersign.Merchant: merchant.New(merchant.Config{}).Desk}, Log: log}
	g.store, g.sources = s, hook.Sources{Store: s, Key: key}
	g.hook = hook.New(hook.Config{Store: s, Key: key, Events: in, Log: log})
	g.Server = httptest.NewServer(g.hook)
	t.Cleanup(g.Close)
	g.secret, err = g.sources.Add(ctx, "till", hook.DefaultWindow, ada)
	g.must(err)
	return g
}

// locked lets many requests write one log.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (g *gate) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// answered is what came back.
type answered struct {
	Status int
	Kind   string
	hook.Taken
	Detail string `json:"detail"`
	text   string
}

func (g *gate) send(path string, header http.Header, body []byte) (a answered) {
	g.Helper()
	r, err := http.NewRequest("POST", g.URL+path, bytes.NewReader(body))
	g.must(err)
	r.Header = header
	response, err := http.DefaultClient.Do(r)
	g.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	g.must(err)
	if err := json.Unmarshal(text, &a); err != nil {
		g.Errorf("the answer is %q: %v", text, err)
	}
	a.Status, a.Kind, a.text = response.StatusCode, response.Header.Get("Content-Type"), string(text)
	return a
}

// signed is the header of a body that the till signed just now.
func (g *gate) signed(body []byte) http.Header {
	return http.Header{hook.SignatureHeader: {hook.Sign([]byte(g.secret), body, *g.now)}}
}

func event(n int) []byte {
	return fmt.Appendf(nil, `{"id":"ev-%d","type":"dispute.created","created_at":"2026-12-01T11:59:00Z","dispute":{"id":"dp-%d","order_id":"1042","status":"needs_response",`+
		`"reason_code":"13.1","network":"Visa","amount":{"minor":4999,"currency":"USD"},"due_at":"2026-12-08T17:00:00+01:00"}}`, n, n)
}

func gzipped(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); errors.Join(err, w.Close()) != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The signature is over the bytes as they came: however a body is spelled, it is taken in and kept as it was.
func TestABodyIsTakenAsItWasSigned(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		g := newGate(t, database)
		for n, body := range map[int][]byte{
			1: event(1), 2: []byte("\n\t " + strings.ReplaceAll(string(event(2)), `":`, "\" :\r\n ")), 3: append(event(3), '\n'),
			4: []byte(strings.Replace(string(event(4)), `"1042"`, `"\u0031042"`, 1)), 5: gzipped(t, event(5)),
		} {
			header := g.signed(body)
			if n == 5 {
				header.Set("Content-Encoding", "gzip")
			}
			header.Set(hook.SignatureHeader, header.Get(hook.SignatureHeader)+",v2=\xff") // of a later version, and no text
			a := g.send("/hooks/till", header, body)
			if a.Status != 202 || a.State != store.EventApplied || a.Seen != "1x" || len(a.Cases) != 1 {
				t.Fatalf("%d: %s", a.Status, a.text)
			}
			again := g.send("/hooks/till", header, body)
			if again.Status != 200 || again.Seen != "2x" || again.Event != a.Event || again.Cases[0] != a.Cases[0] {
				t.Errorf("again: %d, %s", again.Status, again.text)
			}
			*g.now = g.now.Add(10 * time.Minute) // the signature of before is too old by now, so the sender made another
			header.Set(hook.SignatureHeader, hook.Sign([]byte(g.secret), body, *g.now))
			if late := g.send("/hooks/till", header, body); late.Status != 200 || late.Seen != "3x" || late.Event != a.Event || len(late.Cases) != 1 || late.Cases[0] != a.Cases[0] {
				t.Errorf("ten minutes later: %d, %s", late.Status, late.text)
			}
			kept, err := g.store.EventsOf(ctx, "till", fmt.Sprint("dp-", n))
			if err != nil || len(kept) != 1 || !bytes.Equal(kept[0].Body, body) {
				t.Errorf("kept %q, want %q", kept[0].Body, body)
			}
			c, err := g.store.Case(ctx, a.Cases[0])
			if err != nil || c.Subject.ID != "1042" || c.Amount.Minor != 4999 || c.Terms.Network != "visa" || !c.DueAt.Equal(time.Date(2026, 12, 8, 16, 0, 0, 0, time.UTC)) ||
				c.DueSource != countersign.DueFromProvider || c.Stage != "chargeback" {
				t.Errorf("the case is %+v, %v", c, err)
			}
		}
	})
}

// An address that can be none of a source's is answered as one that is none's, whatever bytes are in it.
func TestAnAddressOfNoSourceIsNotFound(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		g := newGate(t, database)
		for _, name := range []string{"nobody", "a%00b", "%ff", "Till", strings.Repeat("x", 3000)} {
			if a := g.send("/hooks/"+name, g.signed(event(1)), event(1)); a.Status != 404 || !strings.Contains(a.Detail, "there is no source of events") {
				t.Errorf("%.20q: %d, %s", name, a.Status, a.text)
			}
		}
	})
}

// What is not signed by its source changes nothing, and the answer says what to look for.
func TestWhatIsNotSignedIsRefused(t *testing.T) {
	t.Parallel()
	g := newGate(t, testdb.SQLite(t))
	body := event(1)
	good := hook.Sign([]byte(g.secret), body, noon)
	stamp, mac, _ := strings.Cut(good, ",")
	for name, row := range map[string]struct {
		header http.Header
		body   []byte
		status int
		says   []string
	}{
		"no signature":                 {http.Header{}, body, 401, []string{"is missing; expected t=<unix seconds>"}},
		"two signature headers":        {http.Header{hook.SignatureHeader: {good, good}}, body, 401, []string{"more than once"}},
		"another secret":               {http.Header{hook.SignatureHeader: {hook.Sign([]byte("x"), body, noon)}, "X-Proxy": {"hunter2"}}, body, 401, []string{"body changed in transit?", "headers seen: ", "X-Proxy"}},
		"a body that was written anew": {g.signed(body), []byte(strings.Replace(string(body), `"1042"`, `"\u0031042"`, 1)), 401, []string{"body changed in transit?"}},
		"a newline that was added":     {g.signed(body), append(event(1), '\n'), 401, []string{"body changed in transit?"}},
		"another time":                 {http.Header{hook.SignatureHeader: {"t=1," + mac}}, body, 401, []string{"body changed in transit?"}},
		"no time":                      {http.Header{hook.SignatureHeader: {mac}}, body, 401, []string{"cannot be read"}},
		"a time that is no number":     {http.Header{hook.SignatureHeader: {"t=soon," + mac}}, body, 401, []string{"no t in whole seconds"}},
		"two times":                    {http.Header{hook.SignatureHeader: {stamp + "," + good}}, body, 401, []string{"more than one t"}},
		"a time alone":                 {http.Header{hook.SignatureHeader: {stamp}}, body, 401, []string{"cannot be read"}},
		"a replay of an hour ago":      {http.Header{hook.SignatureHeader: {hook.Sign([]byte(g.secret), body, noon.Add(-time.Hour))}}, body, 401, []string{"is 3600 seconds off, and 300 are allowed", "signed at 2026-12-01T11:00:00Z", "it is 2026-12-01T12:00:00Z here"}},
		"a clock that is ahead":        {http.Header{hook.SignatureHeader: {hook.Sign([]byte(g.secret), body, noon.Add(6*time.Minute))}}, body, 401, []string{"is -360 seconds off"}},
		"too long a body":              {http.Header{}, bytes.Repeat([]byte(" "), 1<<20+1), 413, []string{"is longer than 1048576 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := *g
			g.T = t
			a := g.send("/hooks/till", row.header, row.body)
			if a.Status != row.status || a.Kind != "application/problem+json" {
				t.Errorf("got %d, %s", a.Status, a.text)
			}
			for _, says := range row.says {
				if !strings.Contains(a.Detail, says) {
					t.Errorf("the answer %q does not say %q", a.Detail, says)
				}
			}
			if strings.Contains(a.text, "hunter2") || strings.Contains(a.text, g.secret) {
				t.Error("it repeats what was sent")
			}
		})
	}
	if kept, err := g.store.WaitingEvents(ctx, 10); err != nil || len(kept) != 0 {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if counts, err := g.store.EventCounts(ctx, "till"); err != nil || counts.Events != 0 {
		t.Errorf("counted %+v, %v", counts, err)
	}
	refused := g.hook.Refused("till")
	if len(refused) != 13 || !refused[0].At.Equal(noon) || refused[0].Why == "" {
		t.Errorf("remembered %+v", refused)
	}
	for range 50 {
		g.send("/hooks/till", http.Header{}, body)
	}
	if n := len(g.hook.Refused("till")); n != 20 {
		t.Errorf("%d refusals are remembered", n)
	}
	if a := g.send("/hooks/nobody", g.signed(body), body); a.Status != 404 {
		t.Errorf("an unknown source: %d, %s", a.Status, a.text)
	}
	if a := g.send("/hooks/till/more", g.signed(body), body); a.Status != 404 {
		t.Errorf("another path: %d, %s", a.Status, a.text)
	}
	if logged := g.log.String(); strings.Contains(logged, g.secret) || strings.Contains(logged, "1042") || strings.Contains(logged, "hunter2") || logged == "" {
		t.Errorf("the log says %s", logged)
	}
}

// A secret is replaced without losing a delivery: both are good for a while, and a sender may sign with both.
func TestASecretIsReplaced(t *testing.T) {
	t.Parallel()
	g := newGate(t, testdb.SQLite(t))
	old := g.secret
	fresh, err := g.sources.Rotate(ctx, "till", time.Hour, ada)
	g.must(err)
	status := func(header string, n int) int {
		return g.send("/hooks/till", http.Header{hook.SignatureHeader: {header}}, event(n)).Status
	}
	if got := status(hook.Sign([]byte(old), event(1), *g.now), 1); got != 202 {
		t.Errorf("the old secret within the overlap: %d", got)
	}
	if got := status(hook.Sign([]byte(fresh), event(2), *g.now), 2); got != 202 {
		t.Errorf("the new secret: %d", got)
	}
	_, mac, _ := strings.Cut(hook.Sign([]byte(fresh), event(3), *g.now), ",")
	if got := status(hook.Sign([]byte("a third"), event(3), *g.now)+","+mac+",v2=later", 3); got != 202 {
		t.Errorf("several signatures, one of them good: %d", got)
	}
	*g.now = g.now.Add(time.Hour)
	if got := status(hook.Sign([]byte(old), event(4), *g.now), 4); got != 401 {
		t.Errorf("the old secret after the overlap: %d", got)
	}
	stored, err := g.store.EventSource(ctx, "till")
	if err != nil || strings.Contains(stored.Secret+stored.Former, old) || !secret.Sealed(stored.Secret) || !secret.Sealed(stored.Former) {
		t.Errorf("the secrets are kept as %+v, %v", stored, err)
	}
	g.must(g.sources.Remove(ctx, "till", ada))
	if got := status(hook.Sign([]byte(fresh), event(5), *g.now), 5); got != 404 {
		t.Errorf("a source that was removed: %d", got)
	}
	if kept, err := g.store.EventsOf(ctx, "till", "dp-1"); err != nil || len(kept) != 1 {
		t.Errorf("what it sent: %v, %v", kept, err)
	}
	fresh, err = g.sources.Add(ctx, "till", hook.DefaultWindow, eve)
	g.must(err)
	if changes, err := g.store.EventSourceChanges(ctx, 10); err != nil || fmt.Sprint(changes) != fmt.Sprint([]store.SourceChange{
		{Source: "till", What: store.SourceAdded, At: *g.now, Actor: "person:eve"}, {Source: "till", What: store.SourceRemoved, At: *g.now, Actor: "person:ada"},
		{Source: "till", What: store.SourceRotated, At: g.now.Add(-time.Hour), Actor: "person:ada"}, {Source: "till", What: store.SourceAdded, At: g.now.Add(-time.Hour), Actor: "person:ada"}}) {
		t.Errorf("who changed it: %v, %v", changes, err)
	}
	nobody := countersign.Actor{}
	_, added := g.sources.Add(ctx, "other", hook.DefaultWindow, nobody)
	_, rotated := g.sources.Rotate(ctx, "till", 0, nobody)
	if err := g.sources.Remove(ctx, "till", nobody); added == nil || rotated == nil || err == nil {
		t.Errorf("nobody added %v, rotated %v, removed %v", added, rotated, err)
	}
	if got := status(hook.Sign([]byte(fresh), event(6), *g.now), 6); got != 202 {
		t.Errorf("after nobody could change it: %d", got)
	}
}

// An event that nobody can make anything of is kept as it came and answered with what is wrong; it opens nothing, however often it comes.
func TestWhatCannotBeUnderstoodIsKept(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		g := newGate(t, database)
		long := strings.Repeat("x", 300)
		for body, says := range map[string]string{
			"": "not JSON", "null": "not a JSON object", "[]": "not a JSON object", "{": "not JSON", `{"id":"1"} {}`: "something after", "\xff": "UTF-8",
			string(event(1)[:60]): "not JSON",
			`{"id":"1","id":"2","type":"x","created_at":"2026-12-01T11:59:00Z"}`:                                                         "body.id: is there twice",
			`{"id":"1","type":"x","created_at":"2026-12-01T11:59:00Z"}`:                                                                  "nothing of a dispute or a refund",
			strings.Replace(string(event(1)), `"id":"ev-1"`, `"ID":"ev-1"`, 1):                                                           "ID: is not a field",
			strings.Replace(string(event(1)), `"status":"needs_response"`, `"status":"angry"`, 1):                                        `"angry" is not one of needs_response`,
			strings.Replace(string(event(1)), `"status":`, `"stage":"arbitration","status":"warning_closed","was":`, 1):                  "was",
			strings.Replace(string(event(1)), `"status":"needs_response"`, `"stage":"arbitration","status":"warning_needs_response"`, 1): "is an inquiry's",
			strings.Replace(string(event(1)), `"minor":4999`, `"minor":0`, 1):                                                            "dispute.amount.minor",
			strings.Replace(string(event(1)), `"minor":4999`, `"minor":49.99`, 1):                                                        "minor",
			strings.Replace(string(event(1)), `"minor":4999`, `"minor":4999,"MINOR":1`, 1):                                               "dispute.amount.MINOR: is not a field",
			strings.Replace(string(event(1)), `"USD"`, `"DOLLARS"`, 1):                                                                   "not a currency",
			strings.Replace(string(event(1)), "2026-12-01T11:59:00Z", "2026-13-40", 1):                                                   "is no time",
			strings.Replace(string(event(1)), `"dp-1"`, `"`+long+`"`, 1):                                                                 "has 300 bytes",
			strings.Replace(string(event(1)), `{"id":"ev-1"`, `{"version":2,"id":"ev-1"`, 1):                                             "2 is not known",
			strings.Replace(string(event(1)), `"order_id":"1042"`, `"order_id":"10\u000042"`, 1):                                         "cannot be printed",
			`{"id":"9","type":"x","created_at":"2026-12-01T11:59:00Z","refund":{"id":"R-1","order_id":"","status":"failed"}}`:            "refund.order_id: is missing",
			strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40):                                                                  "nested too deep",
		} {
			for seen := 1; seen < 3; seen++ {
				a := g.send("/hooks/till", g.signed([]byte(body)), []byte(body))
				if a.Status != 422 || a.Kind != "application/problem+json" || !strings.Contains(a.Detail, says) {
					t.Errorf("%.80q: got %d, %s; want …%s…", body, a.Status, a.text, says)
				}
			}
		}
		odd := g.signed(event(1))
		odd.Set("Content-Encoding", "gz\xffip")
		if a := g.send("/hooks/till", odd, event(1)); a.Status != 422 || !strings.Contains(a.Detail, "expected gzip or nothing") {
			t.Errorf("an encoding that is no text: %d, %s", a.Status, a.text)
		}
		if a := g.send("/hooks/till", g.signed(event(1)), event(1)); a.Status != 202 || a.State != store.EventApplied {
			t.Errorf("the same bytes, with the encoding put right: %d, %s", a.Status, a.text)
		}
		bad := gzipped(t, event(2))
		header := g.signed(bad[:20])
		header.Set("Content-Encoding", "gzip")
		if a := g.send("/hooks/till", header, bad[:20]); a.Status != 422 || !strings.Contains(a.Detail, "cannot be unpacked") {
			t.Errorf("half of a gzip: %d, %s", a.Status, a.text)
		}
		bomb := gzipped(t, bytes.Repeat([]byte(" "), 64<<20))
		header = g.signed(bomb)
		header.Set("Content-Encoding", "gzip")
		if a := g.send("/hooks/till", header, bomb); a.Status != 422 || !strings.Contains(a.Detail, "unpacks to more than 1048576 bytes") {
			t.Errorf("a bomb: %d, %s", a.Status, a.text)
		}
		kept, err := g.store.UnreadableEvents(ctx, "till", 100)
		counts, err2 := g.store.EventCounts(ctx, "till")
		if errors.Join(err, err2) != nil || len(kept) != 26 || counts.Unreadable != 26 || counts.Deliveries != 50 {
			t.Errorf("%d are kept, %+v: %v", len(kept), counts, errors.Join(err, err2))
		}
		if cases, _, err := g.store.Cases(ctx, store.Filter{}); err != nil || len(cases) != 1 {
			t.Errorf("the one that was put right alone is a case: %v, %v", cases, err)
		}
	})
}

// A payment that nobody has seen is a case all the same, with its deadline; so is a dispute that names no order at all.
func TestADisputeThatNamesNoOrderIsACase(t *testing.T) {
	t.Parallel()
	g := newGate(t, testdb.SQLite(t))
	for _, order := range []string{`"order_id":"","payment_id":"ch_unknown",`, `"payment_id":"ch_unknown",`, ``} {
		g.secret, _ = g.sources.Rotate(ctx, "till", 0, ada)
		body := []byte(strings.Replace(strings.Replace(string(event(7)), `"order_id":"1042",`, order, 1), "7", fmt.Sprint(len(order)+10), 2))
		a := g.send("/hooks/till", g.signed(body), body)
		if a.Status != 202 || len(a.Cases) != 1 {
			t.Fatalf("%d %s", a.Status, a.text)
		}
		c, err := g.store.Case(ctx, a.Cases[0])
		if err != nil || c.Subject.ID != "" || c.DueAt == nil || c.Status != countersign.Queued {
			t.Errorf("got %+v, %v", c, err)
		}
		if beside, err := g.store.EarlierCases(ctx, c, 10); err != nil || len(beside) != 0 {
			t.Errorf("it is said to have to do with %v, %v", beside, err)
		}
	}
}

// The words of docs/events.md are those of the code, and its test vector is right.
func TestTheVectorOfTheDocumentIsRight(t *testing.T) {
	text, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(info string) string {
		_, rest, ok := strings.Cut(string(text), "\n```"+info+"\n")
		body, _, closed := strings.Cut(rest, "\n```")
		if !ok || !closed {
			t.Fatalf("docs/events.md has no block ```%s", info)
		}
		return body
	}
	body, key := block("json vector"), block("text secret")
	if got := hook.SignatureHeader + ": " + hook.Sign([]byte(key), []byte(body), time.Unix(1796126400, 0)); got != block("text header") {
		t.Errorf("the header is\n%s\nand the document says\n%s", got, block("text header"))
	}
	if _, err := hook.Verify([][]byte{[]byte(key)}, []string{strings.TrimPrefix(block("text header"), hook.SignatureHeader+": ")}, []byte(body), time.Unix(1796126400, 0), time.Second); err != nil {
		t.Error(err)
	}
}

// FuzzHook feeds what anybody could send to the reader of the signature and of the body: it answers, never with a 5xx, and takes in
// nothing that was not signed.
func FuzzHook(f *testing.F) {
	g := newGate(&testing.T{}, filepath.Join(f.TempDir(), "fuzz.db"))
	seeds := 0
	for _, header := range []string{"", "t=1,v1=00", "t=1796126400,v1=" + strings.Repeat("0", 64), "t=,v1=", "v1=,t=9999999999999999999", ",,,=", "t=1,t=1", hook.Sign([]byte(g.secret), event(1), noon)} {
		for _, body := range [][]byte{nil, event(1), gzipped(f, event(1)), []byte("{\"id\":\"\\ud800\"}"), []byte(strings.Repeat("[", 5000))} {
			for _, sign := range []bool{true, false} {
				f.Add(header, "gzip", body, sign)
				f.Add(header, "", body, sign)
				seeds += 2
			}
		}
	}
	if seeds == 0 {
		f.Fatal("there are no seeds")
	}
	f.Fuzz(func(t *testing.T, header, encoding string, body []byte, sign bool) {
		if sign {
			header = hook.Sign([]byte(g.secret), body, noon)
		}
		before, err := g.store.EventCounts(ctx, "till")
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/hooks/till", bytes.NewReader(body))
		r.Header[hook.SignatureHeader], r.Header["Content-Encoding"] = []string{header}, []string{encoding}
		w := httptest.NewRecorder()
		g.hook.ServeHTTP(w, r)
		after, err := g.store.EventCounts(ctx, "till")
		if err != nil {
			t.Fatal(err)
		}
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q, %q, %q: %d, %s", header, encoding, body, w.Code, w.Body)
		}
		if w.Code == 401 && after.Deliveries != before.Deliveries || w.Code != 401 && w.Code != 413 && after.Deliveries != before.Deliveries+1 {
			t.Errorf("%q: %d, and the deliveries went from %d to %d", body, w.Code, before.Deliveries, after.Deliveries)
		}
	})
}

// A secret that was entered again, because the key that sealed the one before is lost, counts at once.
func TestAFormerSecretThatDoesNotOpenStopsNobody(t *testing.T) {
	t.Parallel()
	g := newGate(t, testdb.SQLite(t))
	_, err := hook.Sources{Store: g.store, Key: secret.New()}.Rotate(ctx, "till", hook.Overlap, ada)
	g.must(err)
	if got := g.send("/hooks/till", g.signed(event(1)), event(1)); got.Status != 503 {
		t.Errorf("a delivery whose secret does not open: %+v", got)
	}
	g.secret, err = g.sources.Rotate(ctx, "till", hook.Overlap, ada)
	g.must(err)
	if got := g.send("/hooks/till", g.signed(event(1)), event(1)); got.Status != 202 {
		t.Errorf("a delivery with the secret that was entered again: %+v", got)
	}
}
