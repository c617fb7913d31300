package roster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/llm/roster"
	"countersign/secret"
	"countersign/store"
)

var admin = countersign.Actor{Kind: countersign.Person, ID: "usr_ada"}

const (
	key  = "sk-canary-5f1c"
	text = `{"connections":[
	  {"name":"hosted","provider":"anthropic","base_url":"https://models.example.com/v1/","model":"m-1","key":"` + key + `","timeouts":{"total":"90s"},"price":{"currency":"USD","input":"3.00","cached":"0.30","output":"15"},"max_cases":8},
	  {"name":"local","provider":"openai","base_url":"http://127.0.0.1:8000/v1","model":"m-2","key":"","price":{"currency":"USD","input":"0","output":"0"},"max_cases":0}],
	 "desks":{"bank":["hosted","local"],"merchant":["local"]},"offline_reviewer":false,
	 "budgets":{"case":{"tokens":100000},"day":{"money":"USD 20.00"},"desks":{"bank":{"money":"USD 1,000.50","tokens":5}}}}`
)

func parsed(t *testing.T, text string) roster.Entered {
	t.Helper()
	e, err := roster.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestWhatIsPrintedIsReadBackUnchangedAndWithoutKeys(t *testing.T) {
	e := parsed(t, text)
	once, err := json.Marshal(e.Roster)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(parsed(t, string(once)).Roster)
	if err != nil || string(once) != string(twice) {
		t.Errorf("%v\n%s\n%s", err, once, twice)
	}
	for _, form := range []string{string(once), fmt.Sprintf("%v %+v %#v %s", e, e, e, e.Connections[0].Key)} {
		if strings.Contains(form, key) {
			t.Errorf("the key is in %s", form)
		}
	}
	for _, part := range []string{`"input":"3"`, `"cached":"0.3"`, `"total":"1m30s"`, `"max_cases":8`, `"money":"USD 1,000.50"`, `"offline_reviewer":false`, `"base_url":"https://models.example.com/v1"`} {
		if !strings.Contains(string(once), part) {
			t.Errorf("%s is not in %s", part, once)
		}
	}
}

func TestSettingsThatAreWrongAreNamed(t *testing.T) {
	for _, row := range []struct{ name, from, to, want string }{
		{"no JSON", text, "{", "broken JSON"},
		{"something behind it", "\"tokens\":5}}}}", "\"tokens\":5}}}} {}", "after its end"},
		{"a field that is no setting", `"max_cases":8`, `"most":8`, `"most" is not a setting`},
		{"a name that stands there twice", `"model":"m-1"`, `"model":"m-1","Model":"m-3"`, "twice"},
		{"a number for a text", `"input":"3.00"`, `"input":3.00`, "JSON number"},
		{"a name in capitals", `"name":"hosted"`, `"name":"Hosted"`, "connections[0].name"},
		{"the offline reviewer's name", `"name":"hosted"`, `"name":"rulebook"`, "always there"},
		{"two of one name", `"name":"local"`, `"name":"hosted"`, "connections[1].name"},
		{"a provider that nobody knows", `"anthropic"`, `"oracle"`, "connections[0].provider"},
		{"a time that is none", `"90s"`, `"90"`, "connections[0].timeouts.total"},
		{"a price that is none", `"3.00"`, `"3,00"`, "connections[0].price.input"},
		{"a price of a cache that is none", `"input":"3.00"`, `"input":"3.00","stored":"dear"`, "connections[0].price.stored"},
		{"a currency that is none", `"currency":"USD","input":"3.00"`, `"currency":"US$","input":"3.00"`, "connections[0].price.currency"},
		{"two currencies", `"currency":"USD","input":"0"`, `"currency":"EUR","input":"0"`, "one currency"},
		{"a desk that nobody knows", `"merchant":`, `"library":`, "desks"},
		{"an order with a stranger", `["local"]`, `["nobody"]`, "desks.merchant[0]"},
		{"an order with the offline reviewer", `["local"]`, `["local","rulebook"]`, "always last"},
		{"an order with one twice", `["hosted","local"]`, `["hosted","hosted"]`, "desks.bank[1]"},
		{"a budget below zero", `"tokens":100000`, `"tokens":-1`, "budgets.case.tokens"},
		{"a budget that is no amount", `"USD 20.00"`, `"20 dollars"`, "budgets.day.money"},
		{"a budget in another currency", `"USD 20.00"`, `"EUR 20.00"`, "one currency"},
		{"a budget in money, and a model whose price nobody knows", `,"price":{"currency":"USD","input":"0","output":"0"}`, ``, "connections[1].price"},
		{"too many cases", `"max_cases":8`, `"max_cases":-8`, "connections[0].max_cases"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if !strings.Contains(text, row.from) {
				t.Fatalf("%q is not in the settings", row.from)
			}
			_, err := roster.Parse([]byte(strings.Replace(text, row.from, row.to, 1)))
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(fmt.Sprint(err), row.want) || strings.Contains(fmt.Sprint(err), key) {
				t.Errorf("%v, want one that says %q", err, row.want)
			}
		})
	}
}

func keeper(t *testing.T, database string) roster.Keeper {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return roster.Keeper{Store: s, Key: newKey(t)}
}

func newKey(t *testing.T) secret.Key {
	t.Helper()
	k, err := secret.Open(filepath.Join(t.TempDir(), "master.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k kept) now(t *testing.T) roster.Version {
	t.Helper()
	v, ok, err := k.Latest(t.Context())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return v
}

type kept struct{ roster.Keeper }

func (k kept) save(t *testing.T, c roster.Change) error {
	t.Helper()
	_, err := k.Save(t.Context(), c, admin)
	return err
}

// A key opens for the connection and the address that it was entered for. Whoever changes the address enters it again, and whoever
// moves what is sealed finds that it does not open.
func TestAKeyGoesToNobodyButTheServerThatItWasEnteredFor(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		k := kept{keeper(t, database)}
		if err := k.save(t, roster.Apply(parsed(t, text))); err != nil {
			t.Fatal(err)
		}
		hosted, _ := k.now(t).Connection("hosted")
		if hosted.Key != key || hosted.Lost != nil {
			t.Fatalf("the key came back as %q, %v", string(hosted.Key), hosted.Lost)
		}
		row, _, err := k.Store.ModelSettings(t.Context())
		if err != nil || strings.Contains(row.JSON+fmt.Sprint(row.Keys), key) || row.CreatedBy != admin.String() {
			t.Errorf("it is kept as %+v, %v", row, err)
		}
		without := strings.Replace(text, `"key":"`+key+`",`, "", 1)
		if err := k.save(t, roster.Apply(parsed(t, without))); err != nil {
			t.Fatal(err)
		}
		if c, _ := k.now(t).Connection("hosted"); c.Key != key {
			t.Error("settings that name no key lost the one that is kept")
		}
		elsewhere := strings.Replace(without, "models.example.com", "thief.example.com", 1)
		if err := k.save(t, roster.Apply(parsed(t, elsewhere))); err == nil || !strings.Contains(err.Error(), "connections[0].key") || strings.Contains(err.Error(), key) {
			t.Errorf("another address, and no key: %v", err)
		}
		moved, _ := k.now(t).Connection("hosted")
		moved.BaseURL, moved.Key = "https://thief.example.com/v1", ""
		if err := k.save(t, roster.Put(moved, false)); err == nil {
			t.Error("a form with another address kept the key")
		}
		if _, err := k.Store.DB().Exec("UPDATE model_settings SET settings = ''"); err == nil {
			t.Error("a version could be changed")
		}
		if err := k.save(t, roster.Put(moved, true)); err != nil {
			t.Fatal(err)
		}
		if c, _ := k.now(t).Connection("hosted"); c.Key != "" {
			t.Error("a connection that wants no key has one")
		}
	})
}

// What nobody said of putting tokens into a cache is what it costs where most connections go: too little would pass a budget unseen.
func TestWhatACacheCostsIsAQuarterMoreUntilSomebodySays(t *testing.T) {
	for said, want := range map[string]int64{"": 3_750_000, `"stored":"6",`: 6_000_000, `"stored":"0",`: 0} {
		e := parsed(t, strings.Replace(text, `"input":"3.00",`, `"input":"3.00",`+said, 1))
		printed, err := json.Marshal(e.Roster)
		again := parsed(t, string(printed)).Connections[0].Price
		typed, typedErr := e.Connections[0].Typed().Connection()
		if e.Connections[0].Price.Stored != want || again.Stored != want || typed.Price.Stored != want || err != nil || typedErr != nil {
			t.Errorf("%q is %d, printed and read %d, typed %d, want %d; %v, %v", said, e.Connections[0].Price.Stored, again.Stored, typed.Price.Stored, want, err, typedErr)
		}
		if strings.Contains(string(printed), "stored") != (said != "") {
			t.Errorf("%q is printed as %s", said, printed)
		}
	}
}

// Whoever can write to the database can move what is sealed to another address or another name, and finds that it does not open there.
func TestASealedKeyDoesNotOpenInAnotherPlace(t *testing.T) {
	for name, moved := range map[string][2]string{
		"at another address":    {"https://models.example.com", "https://thief.example.com"},
		"under another name":    {`"hosted"`, `"theirs"`},
		"where it was, it does": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := kept{keeper(t, testdb.SQLite(t))}
			if err := k.save(t, roster.Apply(parsed(t, text))); err != nil {
				t.Fatal(err)
			}
			row, _, err := k.Store.ModelSettings(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sealed := fmt.Sprintf(`{"hosted":%q,"theirs":%q}`, row.Keys["hosted"], row.Keys["hosted"])
			_, err = k.Store.DB().Exec("INSERT INTO model_settings (version, settings, keys, created_at, actor) VALUES (2, $1, $2, 0, 'thief')",
				strings.ReplaceAll(row.JSON, moved[0], moved[1]), sealed)
			if err != nil {
				t.Fatal(err)
			}
			c := k.now(t).Connections[0]
			if opens := c.Lost == nil && c.Key == key; opens != (moved[0] == "") || c.Lost != nil && c.Key != "" {
				t.Errorf("of %s at %s: %v, and it has a key: %t", c.Name, c.BaseURL, c.Lost, c.Key != "")
			}
		})
	}
}

// What a page calls forgotten is nowhere: neither in the version in force nor in those before it, and nor is a key that was replaced.
func TestAKeyThatIsForgottenIsKeptInNoVersion(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		k := kept{keeper(t, database)}
		if err := k.save(t, roster.Apply(parsed(t, text))); err != nil {
			t.Fatal(err)
		}
		replaced := strings.Replace(text, key, "sk-another", 1)
		for name, row := range map[string]struct {
			change roster.Change
			want   int // keys that are kept then, in all versions
		}{
			"replaced": {roster.Apply(parsed(t, replaced)), 1},
			"removed":  {roster.Remove("hosted"), 0},
		} {
			t.Run(name, func(t *testing.T) {
				if err := k.save(t, roster.Apply(parsed(t, text))); err != nil {
					t.Fatal(err)
				}
				if err := k.save(t, row.change); err != nil {
					t.Fatal(err)
				}
				all, err := k.Store.AllModelSettings(t.Context())
				keys := 0
				for _, version := range all {
					keys += len(version.Keys)
				}
				if err != nil || keys != row.want || len(all) < 3 {
					t.Errorf("%d versions hold %d sealed keys, want %d; %v", len(all), keys, row.want, err)
				}
			})
		}
	})
}

func TestAnotherMasterKeyLosesTheKeyAndNothingElse(t *testing.T) {
	k := kept{keeper(t, testdb.SQLite(t))}
	if err := k.save(t, roster.Apply(parsed(t, text))); err != nil {
		t.Fatal(err)
	}
	other := kept{roster.Keeper{Store: k.Store, Key: newKey(t)}}
	hosted, _ := other.now(t).Connection("hosted")
	if hosted.Key != "" || !secret.OtherKey(hosted.Lost) || strings.Contains(fmt.Sprint(hosted.Lost), key) {
		t.Errorf("%q, %v", string(hosted.Key), hosted.Lost)
	}
	if local, _ := other.now(t).Connection("local"); local.Lost != nil {
		t.Errorf("a connection without a key is lost: %v", local.Lost)
	}
	if err := other.save(t, roster.Rule(func(r *roster.Roster) { r.Offline = true })); err != nil {
		t.Fatal(err)
	}
	if c, _ := k.now(t).Connection("hosted"); c.Key != key {
		t.Error("with the first master key back, the key is gone")
	}
}

func TestTwoChangesAtOnceAreBothMade(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		k := kept{keeper(t, database)}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				c := roster.Connection{Name: fmt.Sprintf("c%d", i), Provider: "openai", BaseURL: "http://127.0.0.1:1/v1", Model: "m"}
				if _, err := k.Save(t.Context(), roster.Put(c, true), admin); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		v := k.now(t)
		if int(v.Number) != 4 || len(v.Connections) != 4 {
			t.Errorf("%d versions hold %d connections: a change was lost", v.Number, len(v.Connections))
		}
		if err := k.save(t, roster.Remove("c0")); err != nil {
			t.Fatal(err)
		}
		if err := k.save(t, roster.Remove("c0")); countersign.KindOf(err) != countersign.NotFound {
			t.Errorf("what is removed can be removed again: %v", err)
		}
	})
}

func TestATrialThatGotNoAnswerCountsAsAFailure(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		k := kept{keeper(t, database)}
		if err := k.save(t, roster.Apply(parsed(t, `{"connections":[{"name":"gone","provider":"openai","base_url":"http://127.0.0.1:1/v1","model":"m"}]}`))); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Try(t.Context(), "gone", admin); err != nil {
			t.Fatal(err)
		}
		spent, err := k.Store.ModelSpending(t.Context(), store.Day(k.Store.Now()))
		if err != nil || len(spent) != 1 || spent[0].Answers != 0 || spent[0].Failures != 1 {
			t.Errorf("it is counted as %+v, %v", spent, err)
		}
	})
}

// A trial is a call like any other to whoever pays for it: a day without room for one has none.
func TestNoTrialIsBegunOnADayThatIsSpent(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			fmt.Fprint(w, `{"choices":[{"message":{"content":"hello"}}],"usage":{"prompt_tokens":1000,"completion_tokens":10}}`)
		}))
		defer server.Close()
		k := kept{keeper(t, database)}
		for _, row := range []struct {
			name, price, budget string
			spent               store.ModelSpending
			refused             string // with what, empty when it is not
		}{
			{"with room for it", "1", `"money":"USD 0.05"`, store.ModelSpending{}, ""},
			{"with money for less than a trial", "1", `"money":"USD 0.05"`, store.ModelSpending{Cost: countersign.Cost{Micro: 30_000, Currency: "USD"}}, "today's budget for models of USD 0.05"},
			{"without money, of a model that costs nothing", "0", `"money":"USD 0.05"`, store.ModelSpending{Cost: countersign.Cost{Micro: 90_000, Currency: "USD"}}, ""},
			{"without tokens, of a model that costs nothing", "0", `"tokens":100000`, store.ModelSpending{Input: 100_000}, "today's budget for models of 100,000 tokens is spent"},
		} {
			t.Run(row.name, func(t *testing.T) {
				asked.Store(0)
				if _, err := k.Store.DB().Exec("DELETE FROM model_spending"); err != nil {
					t.Fatal(err)
				}
				err := k.save(t, roster.Apply(parsed(t, fmt.Sprintf(`{"connections":[{"name":"one","provider":"openai","base_url":"%s/v1","model":"m",
					"price":{"currency":"USD","input":%q,"output":"0"}}],"budgets":{"day":{%s}}}`, server.URL, row.price, row.budget))))
				if err != nil {
					t.Fatal(err)
				}
				row.spent.Connection = "another"
				if err := k.Store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.Spend(ctx, "case_1", row.spent) }); err != nil {
					t.Fatal(err)
				}
				_, err = k.Try(t.Context(), "one", admin)
				if (err == nil) != (row.refused == "") || err != nil && (countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), row.refused)) {
					t.Errorf("%v; want %q", err, row.refused)
				}
				if (asked.Load() > 0) != (row.refused == "") {
					t.Errorf("its server was asked %d times", asked.Load())
				}
			})
		}
	})
}
