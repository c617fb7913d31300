package posting_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/desk/bank/posting"
	"countersign/internal/testcore"
	"countersign/internal/testdb"
	"countersign/pipeline/outside"
	"countersign/secret"
	"countersign/store"
)

var (
	ctx = context.Background()
	ada = countersign.Actor{Kind: countersign.Person, ID: "usr_ada"}
)

// canary stands in the secrets here, and nowhere else.
const canary = "canary-4417-canary-4417-canary-4417"

func office(t *testing.T, database string) posting.Office {
	t.Helper()
	s, err := store.Open(ctx, database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	key, err := secret.Open(filepath.Join(t.TempDir(), "master.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	return posting.Office{Store: s, Key: key}
}

func settings(url string) posting.Settings {
	return posting.Settings{To: posting.Core, URL: url, KeyID: "k-1", Secret: canary, TotalSeconds: 1}
}

func apply(t *testing.T, o posting.Office, s posting.Settings) {
	t.Helper()
	if _, err := o.Apply(ctx, s, ada); err != nil {
		t.Fatal(err)
	}
}

// recipient is whoever is asked about an instruction that was decided under the settings in force.
func recipient(t *testing.T, o posting.Office) outside.Recipient {
	t.Helper()
	r, err := o.Store.Route(ctx)
	if err != nil {
		t.Fatal(err)
	}
	to, err := o.To(ctx, store.Instruction{ID: "ins_1", Route: r.Version, Body: []byte(`{"instruction":"ins_1","version":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestEachChangeIsAVersionAndNoSecretIsShown(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		o := office(t, database)
		if s, r, err := o.InForce(ctx); err != nil || s.To != store.Ledger || r.Version != 0 {
			t.Errorf("before anything was set: %v, version %d, %v", s, r.Version, err)
		}
		apply(t, o, settings("https://core.example.com/instructions"))
		apply(t, o, posting.Settings{To: store.Ledger})
		apply(t, o, settings("https://core2.example.com/instructions"))
		s, r, err := o.InForce(ctx)
		if err != nil || r.Version != 3 || r.AppliedBy != ada.String() || s.URL != "https://core2.example.com/instructions" || s.Secret != "" {
			t.Errorf("in force: %#v, version %d by %s, %v", s, r.Version, r.AppliedBy, err)
		}
		routes, err := o.Store.Routes(ctx)
		if err != nil || len(routes) != 3 {
			t.Fatalf("%d versions, %v", len(routes), err)
		}
		for _, r := range routes {
			if strings.Contains(fmt.Sprintf("%+v", r), "canary") {
				t.Errorf("version %d holds the secret in clear: %+v", r.Version, r)
			}
		}
		if printed := fmt.Sprintf("%v %+v %#v", settings("https://x"), settings("https://x"), settings("https://x")); strings.Contains(printed, "canary") {
			t.Errorf("settings print their secret: %s", printed)
		}
	})
}

func TestSettingsThatAreRefused(t *testing.T) {
	core := func(more string) string {
		return `{"to":"core","url":"https://core.example.com/i","key_id":"k-1","secret":"` + canary + `"` + more + `}`
	}
	for sentence, row := range map[string]struct{ file, field string }{
		"no destination":                    {`{}`, "to"},
		"a destination that does not exist": {`{"to":"bank"}`, "to"},
		"a ledger with an address":          {`{"to":"ledger","url":"https://x.example.com/i"}`, "to"},
		"a field that nobody knows":         {core(`,"sekret":"x"`), ""},
		"two objects":                       {core("") + "{}", ""},
		"no address":                        {`{"to":"core","key_id":"k","secret":"` + canary + `"}`, "url"},
		"an address with a password":        {strings.Replace(core(""), "https://", "https://u:p@", 1), "url"},
		"an address with a query":           {strings.Replace(core(""), "/i", "/i?x=1", 1), "url"},
		"an address with an empty query":    {strings.Replace(core(""), "/i\"", "/i?\"", 1), "url"},
		"an address with an empty fragment": {strings.Replace(core(""), "/i\"", "/i#\"", 1), "url"},
		"an address in clear":               {strings.Replace(core(""), "https", "http", 1), "url"},
		"no key's name":                     {strings.Replace(core(""), "k-1", "", 1), "key_id"},
		"a key's name with a comma":         {strings.Replace(core(""), "k-1", "k,1", 1), "key_id"},
		"a short secret":                    {strings.Replace(core(""), canary, "short", 1), "secret"},
		"a secret of blanks":                {strings.Replace(core(""), canary, strings.Repeat(" ", 40), 1), "secret"},
		"one secret for both":               {core(`,"answer_secret":"` + canary + `"`), "answer_secret"},
		"a question that may last an hour":  {core(`,"total_seconds":3600`), "total_seconds"},
		"a number of tries below nothing":   {core(`,"tries":-1`), "tries"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := posting.Parse([]byte(row.file))
			if countersign.KindOf(err) != countersign.Invalid || !strings.HasPrefix(err.Error(), row.field) {
				t.Errorf("got %v, want an error about %q", err, row.field)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error holds the secret: %v", err)
			}
		})
	}
	for sentence, file := range map[string]string{
		"https":                     core(""),
		"http to this machine":      strings.Replace(core(""), "https://core.example.com", "http://127.0.0.1:9000", 1),
		"http, said to be intended": strings.Replace(core(`,"plain_http":true`), "https", "http", 1),
		"the ledger":                `{"to":"ledger"}`,
	} {
		t.Run("taken: "+sentence, func(t *testing.T) {
			if _, err := posting.Parse([]byte(file)); err != nil {
				t.Error(err)
			}
		})
	}
}

// The example in docs/posting.md.
func TestTheSignatureOfTheDocument(t *testing.T) {
	body := `{"instruction":"ins_example","version":1,"kind":"reversal","transaction_id":"TX-1","account_id":"A-1","amount":{"minor":2450000,"currency":"NGN"},` +
		`"entries":[{"account_id":"A-1","direction":"credit","amount":{"minor":2450000,"currency":"NGN"},"kind":"reversal"},` +
		`{"account_id":"suspense:NGN","direction":"debit","amount":{"minor":2450000,"currency":"NGN"},"kind":"reversal"}],"case":"D-1","requested_at":"2026-12-01T12:00:00Z"}`
	const secret = "an-example-secret-of-forty-characters-00"
	got := posting.Sign(secret, "k-1", time.Unix(1_796_126_400, 0), []byte(body))
	document, err := os.ReadFile(filepath.Join(testdb.Root(t), "docs", "posting.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{body, secret, got} {
		if !strings.Contains(string(document), text) {
			t.Errorf("docs/posting.md does not hold %s", text)
		}
	}
}

// Must hold: whatever is not exactly an answer of the protocol says nothing.
func TestWhatAnAnswerMeans(t *testing.T) {
	const confirmed = `{"state":"confirmed","reference":"CBS-1","reason":""}`
	for _, row := range []struct {
		sentence string
		status   int
		body     string
		post     outside.Kind
		state    outside.Kind
	}{
		{"confirmed", 200, confirmed, outside.Confirmed, outside.Confirmed},
		{"confirmed, made", 201, `{"state":"confirmed","reference":"CBS-1"}`, outside.Confirmed, outside.Confirmed},
		{"rejected", 422, `{"state":"rejected","reason":"account closed"}`, outside.Rejected, outside.Rejected},
		{"rejected, and the status is of one that was understood", 200, `{"state":"rejected","reference":"","reason":""}`, outside.Rejected, outside.Rejected},
		{"pending", 202, `{"state":"pending"}`, outside.Pending, outside.Pending},
		{"taken, and nobody says by whom", 202, ``, outside.Unclear, outside.Unclear},
		{"a question about what it never had", 404, `{}`, outside.Unclear, outside.NeverSeen},
		{"confirmed without a reference", 200, `{"state":"confirmed"}`, outside.Unclear, outside.Unclear},
		{"confirmed, and the status says accepted", 202, confirmed, outside.Unclear, outside.Unclear},
		{"confirmed, and the status says refused", 422, confirmed, outside.Unclear, outside.Unclear},
		{"an error", 500, confirmed, outside.Unclear, outside.Unclear},
		{"no permission", 401, `{"state":"rejected"}`, outside.Unclear, outside.Unclear},
		{"a conflict", 409, `{"state":"rejected"}`, outside.Unclear, outside.Unclear},
		{"elsewhere", 307, confirmed, outside.Unclear, outside.Unclear},
		{"nothing", 200, ``, outside.Unclear, outside.Unclear},
		{"a page", 200, `<html>confirmed</html>`, outside.Unclear, outside.Unclear},
		{"a word", 200, `"confirmed"`, outside.Unclear, outside.Unclear},
		{"a list", 200, `[` + confirmed + `]`, outside.Unclear, outside.Unclear},
		{"another state", 200, `{"state":"done","reference":"CBS-1"}`, outside.Unclear, outside.Unclear},
		{"a state in capitals", 200, `{"state":"CONFIRMED","reference":"CBS-1"}`, outside.Unclear, outside.Unclear},
		{"a field in capitals", 200, `{"State":"confirmed","reference":"CBS-1"}`, outside.Unclear, outside.Unclear},
		{"two states", 200, `{"state":"rejected","state":"confirmed","reference":"CBS-1"}`, outside.Unclear, outside.Unclear},
		{"a field too many", 200, `{"state":"confirmed","reference":"CBS-1","amount":"1"}`, outside.Unclear, outside.Unclear},
		{"a number", 200, `{"state":"confirmed","reference":7}`, outside.Unclear, outside.Unclear},
		{"an object in a field", 200, `{"state":"confirmed","reference":{"a":"b"}}`, outside.Unclear, outside.Unclear},
		{"cut off", 200, `{"state":"confirmed","reference":"CBS-1"`, outside.Unclear, outside.Unclear},
		{"two answers", 200, confirmed + confirmed, outside.Unclear, outside.Unclear},
		{"a reference of many lines", 200, `{"state":"confirmed","reference":"CBS\n1"}`, outside.Unclear, outside.Unclear},
		{"a reference without end", 200, `{"state":"confirmed","reference":"` + strings.Repeat("x", 201) + `"}`, outside.Unclear, outside.Unclear},
		{"an answer without end", 200, confirmed + strings.Repeat(" ", 70_000), outside.Unclear, outside.Unclear},
		{"no text", 200, "{\"state\":\"confirmed\",\"reference\":\"\xff\"}", outside.Unclear, outside.Unclear},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(row.status)
				fmt.Fprint(w, row.body)
			}))
			defer core.Close()
			o := office(t, filepath.Join(t.TempDir(), "bank.db"))
			apply(t, o, settings(core.URL+"/instructions"))
			to := recipient(t, o)
			for name, want := range map[string]outside.Kind{"post": row.post, "state": row.state} {
				ask := map[string]func(context.Context) outside.Answer{"post": to.Post, "state": to.State}[name]
				got := ask(ctx)
				if got.Kind != want || (got.Exchange.Problem == "") != (want != outside.Unclear && want != outside.NeverSeen) {
					t.Errorf("%s: %d (%s), want %d", name, got.Kind, got.Exchange.Problem, want)
				}
				if strings.Contains(got.Exchange.Problem, "CBS") || strings.Contains(got.Exchange.Problem, "html") {
					t.Errorf("%s: the problem quotes a stranger: %s", name, got.Exchange.Problem)
				}
			}
		})
	}
}

// A server that does not answer is waited for as long as was said, and its connection is the only one.
func TestALineThatIsDead(t *testing.T) {
	for sentence, listen := range map[string]func(t *testing.T) string{
		"nobody listens": func(t *testing.T) string {
			core := httptest.NewServer(nil)
			core.Close()
			return core.URL
		},
		"nobody answers": func(t *testing.T) string {
			core := testcore.New(t)
			core.Secret = canary
			core.Always(testcore.Stall)
			return core.URL
		},
		"it breaks off in the middle of the answer": func(t *testing.T) string {
			core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				fmt.Fprint(w, `{"state":"confirmed",`)
			}))
			t.Cleanup(core.Close)
			return core.URL
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := office(t, filepath.Join(t.TempDir(), "bank.db"))
			apply(t, o, settings(listen(t)+"/instructions"))
			if a := recipient(t, o).Post(ctx); a.Kind != outside.Unclear || a.Exchange.Problem == "" {
				t.Errorf("%d: %s", a.Kind, a.Exchange.Problem)
			}
		})
	}
}

func TestAnswersThatMustBeSigned(t *testing.T) {
	core := testcore.New(t)
	core.Secret, core.AnswerSecret = canary, strings.Repeat("answers-", 5)
	o := office(t, filepath.Join(t.TempDir(), "bank.db"))
	s := settings(core.Address())
	s.AnswerSecret = core.AnswerSecret
	apply(t, o, s)
	to := recipient(t, o)
	for _, row := range []struct {
		core testcore.Behaviour
		want outside.Kind
	}{{testcore.ConfirmInVain, outside.Unclear}, {testcore.ConfirmAnother, outside.Unclear}, {testcore.Obey, outside.Confirmed}} {
		core.Next(row.core)
		if a := to.Post(ctx); a.Kind != row.want {
			t.Errorf("%s: %d (%s), want %d", row.core, a.Kind, a.Exchange.Problem, row.want)
		}
	}
}

func TestTheCoreIsTriedWithoutPostingAnything(t *testing.T) {
	core := testcore.New(t)
	core.Secret = canary
	o := office(t, filepath.Join(t.TempDir(), "bank.db"))
	if err := o.Test(ctx); countersign.KindOf(err) != countersign.Conflict {
		t.Errorf("with the ledger: %v", err)
	}
	apply(t, o, settings(core.Address()))
	if err := o.Test(ctx); err != nil {
		t.Error(err)
	}
	for _, b := range []testcore.Behaviour{testcore.Refuse, testcore.HangUp, testcore.Redirect} {
		core.Next(b)
		if err := o.Test(ctx); countersign.KindOf(err) != countersign.Unavailable {
			t.Errorf("%s: %v", b, err)
		}
	}
	for _, r := range core.Requests() {
		if !strings.HasPrefix(r, "GET ins_test_") {
			t.Errorf("it sent %s", r)
		}
	}
}

// What cannot be read of the settings is an answer of nobody's too: asked for ever without one, the case would be nobody's.
func TestSettingsThatCannotBeRead(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		o := office(t, database)
		for version, r := range []store.Route{{Destination: "core", Settings: "{"}, {Destination: "core", Settings: `{"to":"core","url":"https://core.example.com/i"}`}} {
			if err := o.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.ApplyRoute(ctx, r, func(v int64) string {
					return o.Key.Seal(fmt.Sprintf("secrets of version %d of where fixes are posted", v), []byte("no JSON "+canary))
				}, ada)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			_, err := o.To(ctx, store.Instruction{ID: "ins_1", Route: int64(version + 1)})
			if countersign.KindOf(err) != countersign.Internal || !errors.As(err, new(*countersign.Error)) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: got %v", r.Settings, err)
			}
		}
	})
}

// A secret that this master key cannot open is an answer of nobody's: a person must see it.
func TestASecretOfAnotherKey(t *testing.T) {
	o := office(t, filepath.Join(t.TempDir(), "bank.db"))
	apply(t, o, settings("https://core.example.com/instructions"))
	key, err := secret.Open(filepath.Join(t.TempDir(), "other.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	o.Key = key
	_, err = o.To(ctx, store.Instruction{ID: "ins_1", Route: 1})
	if countersign.KindOf(err) != countersign.Unavailable || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}
