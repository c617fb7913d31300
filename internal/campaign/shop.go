//go:build linux

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// clause is a sentence of the shop's policies that the model quotes.
const clause = "An order counts as delivered once the carrier has handed the parcel over at the address of the order."

// orders is how many the shop has: more than there are chargebacks in a world.
const orders = 2000

// stock makes the shop's own database, every order paid and delivered, and the files by which it is connected.
func (w *world) stock(ctx context.Context) (err error) {
	path := filepath.Join(w.dir, "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE sales (no TEXT PRIMARY KEY, buyer TEXT, mail TEXT, at TEXT, st TEXT, sum TEXT, address TEXT);
		CREATE TABLE takings (no TEXT PRIMARY KEY, sale TEXT, sum TEXT, st TEXT, at TEXT);
		CREATE TABLE parcels (no TEXT PRIMARY KEY, sale TEXT, st TEXT, by TEXT, track TEXT, sent TEXT, arrived TEXT);
		CREATE TABLE paybacks (no TEXT PRIMARY KEY, sale TEXT, sum TEXT, st TEXT, at TEXT);
		CREATE TABLE sendbacks (no TEXT PRIMARY KEY, sale TEXT, st TEXT, at TEXT);
		CREATE INDEX t ON takings (sale); CREATE INDEX p ON parcels (sale); CREATE INDEX b ON paybacks (sale); CREATE INDEX s ON sendbacks (sale)`); err != nil {
		return err
	}
	at := time.Now().UTC().AddDate(0, 0, -20).Format(time.DateTime)
	for n := range orders {
		no := orderNo(n)
		for _, row := range []struct {
			statement string
			args      []any
		}{
			{"INSERT INTO sales VALUES ($1, 'Margaret Hollis', 'm@example.com', $2, 'done', '149.00', '12 Harbour Road, Portland')", []any{no, at}},
			{"INSERT INTO takings VALUES ($1, $2, '149.00', 'taken', $3)", []any{"T" + no, no, at}},
			{"INSERT INTO parcels VALUES ($1, $2, 'handed over', 'UPS', 'Z-1', $3, $3)", []any{"P" + no, no, at}},
		} {
			if _, err := tx.ExecContext(ctx, row.statement, row.args...); err != nil {
				return err
			}
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	dsn, err := json.Marshal(path)
	if err != nil {
		return err
	}
	mapping := `{"name":"shop","driver":"sqlite","dsn":` + string(dsn) + `,"zone":"UTC","currency":"USD","unit":"major","entities":{
 "order":{"table":"sales","key":"no","columns":{"number":"no","customer":"buyer","email":"mail","placed_at":"at","status":"st","total":"sum","shipping_address":"address"}},
 "payment":{"table":"takings","order_key":"sale","columns":{"id":"no","amount":"sum","status":"st","paid_at":"at"},"states":{"paid":["taken"]}},
 "fulfillment":{"table":"parcels","order_key":"sale","columns":{"id":"no","status":"st","carrier":"by","tracking":"track","shipped_at":"sent","delivered_at":"arrived"},"states":{"delivered":["handed over"]}},
 "refund":{"table":"paybacks","order_key":"sale","columns":{"id":"no","amount":"sum","status":"st","refunded_at":"at"},"states":{"returned":["back"]}},
 "return":{"table":"sendbacks","order_key":"sale","columns":{"id":"no","status":"st","opened_at":"at"},"states":{"open":["on its way"]}}}}`
	return os.WriteFile(w.file("mapping.json"), []byte(mapping), 0o600)
}

func orderNo(n int) string { return fmt.Sprintf("O%05d", n) }

// policy writes a policy document and returns its path.
func (w *world) policy(title, text string) (string, error) {
	path := w.file(title + ".md")
	return path, os.WriteFile(path, []byte("# "+title+"\n\n"+text+"\n"), 0o600)
}
