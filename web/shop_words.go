package web

import (
	"strings"

	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/shop"
)

var engines = map[string]string{connector.Postgres: "PostgreSQL", connector.MySQL: "MySQL or MariaDB", connector.SQLite: "a SQLite file", exported: "exported files"}

var units = map[string]string{connector.Major: "whole units: 49.90", connector.Minor: "the smallest unit: 4990"}

var kindTitles = map[connector.Kind]string{connector.Order: "Orders", connector.Payment: "Payments", connector.Fulfillment: "Fulfilments",
	connector.Refund: "Refunds", connector.Return: "Returns"}

var kindAbout = map[connector.Kind]string{
	connector.Order:       "what a chargeback names",
	connector.Payment:     "each attempt to pay for an order",
	connector.Fulfillment: "parcels and what became of them",
	connector.Refund:      "money that went back, or was meant to",
	connector.Return:      "goods on their way back, and requests to send them",
}

// fieldTitles are what a mapping calls its columns, as people would ask for them.
var fieldTitles = map[string]string{
	"id": "Its own id", "number": "The number that customers know", "customer": "Customer", "email": "E-mail", "placed_at": "When it was placed",
	"status": "Status", "total": "Total", "currency": "Currency", "shipping_address": "Shipping address", "amount": "Amount", "paid_at": "When it was paid",
	"reference": "Reference of the provider", "carrier": "Carrier", "tracking": "Tracking number", "shipped_at": "When it was sent",
	"delivered_at": "When it arrived", "refunded_at": "When it went back", "opened_at": "When it was opened", "reason": "Reason",
	"order_key": "How a row finds its order", "join": "How a row finds its order",
}

var meanings = map[string]string{
	"paid": "paid", "pending": "pending", "failed": "failed, or cancelled",
	"delivered": "delivered", "in_transit": "on its way", "not_shipped": "not sent",
	"returned": "money that went back", "in_progress": "in progress", "not_returned": "not gone back",
	"open": "open", "closed": "closed", "unknown": "unknown",
}

// without is what a row that counts means in a table that has no status.
var without = map[connector.Kind]shop.State{connector.Payment: shop.Paid, connector.Refund: shop.Returned, connector.Return: shop.Open}

// cutField is the rest of a field of a mapping that is about a kind of record, in words: ", Amount".
func cutField(field string, k connector.Kind) (string, bool) {
	rest, ok := strings.CutPrefix(field, "entities."+string(k))
	if !ok || rest != "" && rest[0] != '.' {
		return "", false
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "."), "columns.")
	switch {
	case rest == "":
		return "", true
	case fieldTitles[rest] != "":
		return ", " + fieldTitles[rest], true
	}
	return ", " + fieldName(rest), true
}
