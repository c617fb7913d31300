package app

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/demo"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/report"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
	"countersign/pipeline/review"
	"countersign/store"
	"countersign/store/storetest"
)

var clerk = countersign.Actor{Kind: countersign.CLI, ID: "clerk"}

// office is the whole program, with a shop of its own, on a database whose statements can be made to fail.
type office struct {
	*testing.T
	*App
	faults *storetest.Faults
	tables []string
	orders int
}

func newOffice(t *testing.T, database string) *office {
	t.Helper()
	o := &office{T: t}
	database, o.faults = storetest.Between(t, database)
	o.App = open(t, Config{Data: t.TempDir(), Database: database, Log: slog.New(slog.DiscardHandler)})
	o.faults.On(t, o.Store)
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := demo.MakeShop(t.Context(), path, time.Now()); err != nil {
		t.Fatal(err)
	}
	o.stock(path)
	mapping, err := connector.ParseMapping(demo.ShopMapping(path))
	if err == nil {
		_, err = o.Setup.Save(t.Context(), mapping, clerk, clerk)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all(t, demo.Policies) {
		o.shelve(p.File, p.Bytes, p.ValidFrom)
	}
	o.tables = o.listed()
	return o
}

func all[T any](t *testing.T, of func() ([]T, error)) []T {
	t.Helper()
	list, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// stock sells the order of the first chargeback again and again.
func (o *office) stock(path string) {
	o.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		o.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		o.Fatal(err)
	}
	for n := range 400 {
		for table, columns := range map[string]string{
			"sales":   "'N%[1]d', buyer, mail, booked, state, sum, cur, send_to FROM sales WHERE sale_no = '20140'",
			"takings": "'T%[1]d', 'N%[1]d', sum, cur, st, at, psp FROM takings WHERE sale = '20140'",
			"parcels": "'P%[1]d', 'N%[1]d', st, by, track, out, arrived FROM parcels WHERE sale = '20140'",
		} {
			if _, err := tx.Exec("INSERT INTO " + table + " SELECT " + fmt.Sprintf(columns, n)); err != nil {
				o.Fatal(err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		o.Fatal(err)
	}
}

func (o *office) shelve(file string, text []byte, from string) {
	o.Helper()
	r, err := o.Library.Import(o.Context(), clerk, file, text, from)
	if err == nil {
		err = o.Library.Confirm(o.Context(), clerk, r.VersionID)
	}
	if err != nil {
		o.Fatal(err)
	}
}

// chargeback is a new case about an order, with a person.
func (o *office) chargeback() countersign.Case {
	o.Helper()
	o.orders++
	opened, err := o.Intake.Open(o.Context(), o.Desks[countersign.Merchant].Desk, clerk, intake.Request{SubjectID: fmt.Sprintf("N%d", o.orders-1), SubjectField: "order_id",
		Reason: countersign.OtherReason, Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
	if err == nil {
		err = o.pipeline.Work(o.Context(), opened.Case.ID)
	}
	if err != nil {
		o.Fatal(err)
	}
	c, err := o.Store.Case(o.Context(), opened.Case.ID)
	if err != nil || c.Status != countersign.InReview || c.Recommendation != "CONTEST" {
		o.Fatalf("%v, %+v", err, c)
	}
	return c
}

// listed are the tables of the program, and of the queue the one that holds its jobs.
func (o *office) listed() (names []string) {
	o.Helper()
	from := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if o.Store.Engine() == "postgres" {
		from = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
	}
	rows, err := o.Store.DB().Query(from)
	if err != nil {
		o.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			o.Fatal(err)
		}
		if !strings.HasPrefix(name, "sqlite_") && (!strings.HasPrefix(name, "river_") || name == "river_job") {
			names = append(names, name)
		}
	}
	return names
}

// counted is how many rows each table has.
func (o *office) counted() map[string]int {
	o.Helper()
	var parts []string
	for _, table := range o.tables {
		parts = append(parts, "SELECT '"+table+"', COUNT(*) FROM "+table)
	}
	rows, err := o.Store.DB().Query(strings.Join(parts, " UNION ALL "))
	if err != nil {
		o.Fatal(err)
	}
	defer rows.Close()
	n := map[string]int{}
	for rows.Next() {
		var table string
		var count int
		if err := rows.Scan(&table, &count); err != nil {
			o.Fatal(err)
		}
		n[table] = count
	}
	return n
}

// deed is something that the program stores when somebody asks for it. The n-th time is about things of its own.
type deed struct {
	prepare func(n int) any // outside of what fails
	do      func(n int, with any) error
	parts   bool                        // it is several transactions: what was stored of it stays, and doing it again goes on from there
	again   bool                        // doing it again when it has happened is another one of it
	check   func(n int, with any) error // when it has happened
}

// Whatever the program stores it stores whole, whichever statement fails and however, and nobody is told the wrong thing: what was
// refused can be done again, and then it is as if nothing had ever failed.
func TestWhateverIsStoredIsStoredWhole(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		for name, d := range o.deeds() {
			t.Run(name, func(t *testing.T) { o.in(t).whole(d) })
		}
		if r, err := o.Store.VerifyRecord(t.Context(), nil); err != nil || !r.OK {
			t.Errorf("the record: %v %+v", err, r.Breaks)
		}
	})
}

func (o *office) in(t *testing.T) *office {
	inside := *o
	inside.T = t
	return &inside
}

// whole does a deed once for each of its statements, which fails. On PostgreSQL the ways to fail take turns, and the turns come
// round to every statement.
func (o *office) whole(d deed) {
	o.Helper()
	made := o.madeBy(d)
	failed, n := 0, 0
	for round := range o.faults.Ways {
		for statement := 1; ; statement++ {
			n++
			with, before := d.prepare(n), o.counted()
			way := o.faults.Ways[(statement+round)%len(o.faults.Ways)]
			o.faults.At(statement, way)
			err := d.do(n, with)
			if !o.faults.Fired() {
				if err != nil {
					o.Fatalf("with no fault: %v", err)
				}
				break
			}
			if err != nil {
				failed++
			}
			now := o.counted()
			happened := grown(before, now, made)
			switch {
			case err == nil && !happened:
				o.Errorf("statement %d, %s: it was said to be done, and %v", statement, way, difference(before, now))
			case !happened && !d.parts && !maps.Equal(before, now):
				o.Errorf("statement %d, %s: a part of it was done: %v, and the error is %v", statement, way, difference(before, now), err)
			}
			if happened && d.again {
				continue
			}
			if err := d.do(n, with); err != nil && (!happened || countersign.KindOf(err) != countersign.Conflict) {
				o.Errorf("statement %d, %s: done again: %v", statement, way, err)
			}
			if now := o.counted(); !grown(before, now, made) {
				o.Errorf("statement %d, %s: after it was done again: %v, want %v", statement, way, difference(before, now), made)
			}
			if err := d.check(n, with); err != nil {
				o.Errorf("statement %d, %s: %v", statement, way, err)
			}
			if o.Failed() {
				o.Fatal()
			}
		}
	}
	if failed < 2*len(o.faults.Ways) {
		o.Errorf("only %d statements failed", failed)
	}
	o.Logf("%d of %d statements failed", failed, n)
}

// madeBy is how many rows a deed adds to each table when nothing fails.
func (o *office) madeBy(d deed) map[string]int {
	o.Helper()
	with, before := d.prepare(0), o.counted()
	if err := d.do(0, with); err != nil {
		o.Fatal(err)
	}
	if err := d.check(0, with); err != nil {
		o.Fatal(err)
	}
	return difference(before, o.counted())
}

func difference(before, after map[string]int) map[string]int {
	more := map[string]int{}
	for table, n := range after {
		if n != before[table] {
			more[table] = n - before[table]
		}
	}
	return more
}

func grown(before, after, by map[string]int) bool { return maps.Equal(difference(before, after), by) }

// deeds are those that have no test of this kind elsewhere: opening, investigating, posting and a bank's decisions have.
func (o *office) deeds() map[string]deed {
	nothing := func(int) any { return nil }
	fine := func(int, any) error { return nil }
	ctx := context.Background()
	return map[string]deed{
		"importing a bank's records": {parts: true, prepare: nothing, check: fine, do: func(n int, _ any) error {
			r, err := feed.Feed{Store: o.Store}.Set(ctx, books(n))
			if err == nil && r.Refused > 0 {
				err = fmt.Errorf("refused: %+v", r)
			}
			return err
		}},
		"importing a policy": {parts: true, prepare: nothing, check: fine, do: func(n int, _ any) error {
			r, err := o.Library.Import(ctx, clerk, fmt.Sprintf("policy-%d.md", n), fmt.Appendf(nil, "# Policy %d\n\nNothing is taken back after thirty days, whatever it is.", n), "2026-01-01")
			if err != nil {
				return err
			}
			return o.Library.Confirm(ctx, clerk, r.VersionID)
		}},
		"connecting a shop": {again: true, prepare: nothing, check: fine, do: func(int, any) error {
			v, _, err := o.Setup.Latest(ctx)
			if err == nil {
				_, err = o.Setup.Save(ctx, v.Mapped, clerk, clerk)
			}
			return err
		}},
		"changing the limits": {again: true, prepare: nothing, check: fine, do: func(int, any) error {
			return o.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, policy.Default(), clerk) })
		}},
		"making a token": {again: true, prepare: nothing, check: fine, do: func(int, any) error {
			_, _, err := auth.NewToken(ctx, o.Store, "t", auth.Admin, clerk)
			return err
		}},
		"adding a file to a case": {again: true, prepare: o.decidable, check: fine, do: func(_ int, with any) error {
			_, err := o.Review.AddFiles(ctx, acts(with), o.photo())
			return err
		}},
		"typing in a fact": {again: true, prepare: o.decidable, check: fine, do: func(_ int, with any) error {
			_, err := o.Review.AddTypedFact(ctx, acts(with), countersign.TypedFact{Kind: o.Review.Desks[countersign.Merchant].Typed[0], Text: "The cardholder called."})
			return err
		}},
		"a decision that seals a report": {prepare: o.decidable, do: func(_ int, with any) error {
			_, err := o.Review.Approve(ctx, acts(with))
			return err
		}, check: o.sealed},
		"a decision against the model": {prepare: o.decidable, do: func(_ int, with any) error {
			_, err := o.Review.Override(ctx, acts(with), countersign.AcceptedOutcome, "It is not worth it.", "")
			return err
		}, check: o.sealed},
		"asking for the pack for the first time": {prepare: o.decidedWithFile, do: func(_ int, with any) error {
			_, _, err := pack.Of(ctx, o.Store, with.(countersign.Case).ID, clerk)
			return err
		}, check: func(_ int, with any) error {
			_, first, err := pack.Of(ctx, o.Store, with.(countersign.Case).ID, clerk)
			_, second, again := pack.Of(ctx, o.Store, with.(countersign.Case).ID, clerk)
			if err != nil || again != nil || !bytes.Equal(first, second) {
				return fmt.Errorf("the pack is made anew: %v %v", err, again)
			}
			return nil
		}},
	}
}

func acts(with any) review.Act {
	c := with.(countersign.Case)
	return review.Act{Case: c.ID, Revision: c.Revision, Actor: clerk}
}

func (o *office) decidable(int) any { return o.chargeback() }

func (o *office) decidedWithFile(int) any {
	c := o.chargeback()
	c, err := o.Review.AddFiles(o.Context(), acts(c), o.photo())
	if err == nil {
		c, err = o.Review.Approve(o.Context(), acts(c))
	}
	if err != nil {
		o.Fatal(err)
	}
	return c
}

// sealed checks that a decided case has a report, which is what was sealed.
func (o *office) sealed(_ int, with any) error {
	r, err := pack.Sealed(context.Background(), o.Store, with.(countersign.Case).ID)
	if err != nil {
		return err
	}
	file, err := r.Render(report.JSON)
	if err != nil {
		return err
	}
	if v, err := report.Verify(file); err != nil || v.State != report.Intact {
		return errors.Join(fmt.Errorf("the report: %v", v), err)
	}
	return nil
}

// books are a few rows of every array, for several transactions.
func books(n int) (s records.Set) {
	id := fmt.Sprint("B", n)
	s.Customers = []records.Customer{{ID: id, Name: "Ada Obi", Flags: []string{}}}
	s.Accounts = []records.Account{{ID: id, CustomerID: id, Number: "0123456789", Currency: "NGN"}}
	s.Merchants = []records.Merchant{{ID: id, Name: "Mart"}}
	return s
}

// photo is a picture that somebody adds to a case.
func (o *office) photo() review.File {
	o.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		o.Fatal(err)
	}
	f, err := report.Inspect(o.Context(), "photo.png", b.Bytes())
	if err != nil {
		o.Fatal(err)
	}
	return review.File{Bytes: f.Bytes, Exhibit: store.Exhibit{Name: f.Name, Type: f.Type, Size: f.Size, SHA256: f.SHA256, Pages: f.Pages}}
}
