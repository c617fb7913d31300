package demo

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	_ "modernc.org/sqlite" // the shop's own database is a file of its own
)

// shopTables are the invented shop's: nobody here would have named them so.
const shopTables = `
CREATE TABLE sales (sale_no TEXT PRIMARY KEY, buyer TEXT, mail TEXT, booked TEXT, state TEXT, sum TEXT, cur TEXT, send_to TEXT);
CREATE TABLE takings (ref TEXT PRIMARY KEY, sale TEXT, sum TEXT, cur TEXT, st TEXT, at TEXT, psp TEXT);
CREATE TABLE parcels (no TEXT PRIMARY KEY, sale TEXT, st TEXT, by TEXT, track TEXT, out TEXT, arrived TEXT);
CREATE TABLE paybacks (no TEXT PRIMARY KEY, sale TEXT, sum TEXT, cur TEXT, st TEXT, at TEXT, psp TEXT);
CREATE TABLE sendbacks (no TEXT PRIMARY KEY, sale TEXT, st TEXT, at TEXT, why TEXT);
CREATE INDEX takings_sale ON takings (sale);
CREATE INDEX parcels_sale ON parcels (sale);
CREATE INDEX paybacks_sale ON paybacks (sale);
CREATE INDEX sendbacks_sale ON sendbacks (sale);`

// MakeShop writes the invented shop's database to a file, unless there is one: the demo goes on with what is there. Dates are
// counted back from now.
func MakeShop(ctx context.Context, path string, now time.Time) (err error) {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return fmt.Errorf("make the demo's shop: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("make the demo's shop: %w", err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, shopTables); err != nil {
		return fmt.Errorf("make the demo's shop: %w", err)
	}
	for _, o := range orders {
		if err := o.write(ctx, tx, now); err != nil {
			return fmt.Errorf("write order %s of the demo's shop: %w", o.no, err)
		}
	}
	return tx.Commit()
}

func (o order) write(ctx context.Context, tx *sql.Tx, now time.Time) error {
	var errs []error
	run := func(statement string, args ...any) {
		_, err := tx.ExecContext(ctx, statement, args...)
		errs = append(errs, err)
	}
	at := func(ago time.Duration) string { return now.Add(-ago).UTC().Format(time.DateTime) }
	run("INSERT INTO sales VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", o.no, o.buyer, o.mail, at(o.ago), o.state, o.sum, o.cur, o.to)
	for i, p := range o.takings {
		run("INSERT INTO takings VALUES ($1, $2, $3, $4, $5, $6, $7)", fmt.Sprintf("T%s-%d", o.no, i+1), o.no, p.sum, o.cur, p.state, at(p.ago), p.ref)
	}
	for i, p := range o.parcels {
		arrived := ""
		if p.state == "handed over" {
			arrived = at(p.ago)
		}
		run("INSERT INTO parcels VALUES ($1, $2, $3, $4, $5, $6, $7)", fmt.Sprintf("P%s-%d", o.no, i+1), o.no, p.state, p.by, p.track, at(o.ago-day), arrived)
	}
	for i, p := range o.paybacks {
		run("INSERT INTO paybacks VALUES ($1, $2, $3, $4, $5, $6, $7)", fmt.Sprintf("B%s-%d", o.no, i+1), o.no, p.sum, o.cur, p.state, at(p.ago), p.ref)
	}
	for i, s := range o.sendbacks {
		run("INSERT INTO sendbacks VALUES ($1, $2, $3, $4, $5)", fmt.Sprintf("R%s-%d", o.no, i+1), o.no, s.state, at(s.ago), s.why)
	}
	return errors.Join(errs...)
}

// ShopMapping says how the shop's tables are read, as somebody would have answered the wizard.
func ShopMapping(path string) []byte {
	dsn, err := json.Marshal(path)
	if err != nil {
		return nil // unreachable: every text can be written as JSON
	}
	return []byte(`{"name":"The demo's shop","driver":"sqlite","dsn":` + string(dsn) + `,"zone":"UTC","unit":"major","entities":{
 "order":{"table":"sales","key":"sale_no","columns":{"number":"sale_no","customer":"buyer","email":"mail","placed_at":"booked","status":"state","total":"sum","currency":"cur","shipping_address":"send_to"}},
 "payment":{"table":"takings","order_key":"sale","columns":{"id":"ref","amount":"sum","currency":"cur","status":"st","paid_at":"at","reference":"psp"},"states":{"paid":["taken"],"pending":["held"],"failed":["declined"]}},
 "fulfillment":{"table":"parcels","order_key":"sale","columns":{"id":"no","status":"st","carrier":"by","tracking":"track","shipped_at":"out","delivered_at":"arrived"},"states":{"delivered":["handed over"],"in_transit":["on its way"],"not_shipped":["packed"]}},
 "refund":{"table":"paybacks","order_key":"sale","columns":{"id":"no","amount":"sum","currency":"cur","status":"st","refunded_at":"at","reference":"psp"},"states":{"returned":["paid back"],"in_progress":["sent to bank"],"not_returned":["bounced"]}},
 "return":{"table":"sendbacks","order_key":"sale","columns":{"id":"no","status":"st","opened_at":"at","reason":"why"},"states":{"open":["announced","on its way"],"closed":["received","refused"]}}}}`)
}
