package connector

import (
	"regexp"
	"slices"
	"strings"
)

// The names that shops give to their tables and columns, likeliest first, compared without capitals and underscores. They are for
// suggestions alone: a person confirms each.

var tableNames = map[Kind][]string{
	Order:       strings.Fields("orders order shoporder salesorder shoporders salesorders customerorders purchaseorders purchases"),
	Payment:     strings.Fields("payments payment orderpayments orderpayment shoppayment paymenttransactions transactions charges captures invoices"),
	Fulfillment: strings.Fields("fulfillments fulfillment fulfilments fulfilment shipments shipment shopshipment ordershipments deliveries delivery parcels parcel"),
	Refund:      strings.Fields("refunds refund orderrefunds orderrefund shoprefund creditmemos creditmemo creditnotes creditnote"),
	Return:      strings.Fields("returns return orderreturns orderreturn shopreturn rmas rma returnrequests returnauthorizations"),
}

var columnNames = map[string][]string{
	"id":               strings.Fields("id"),
	"number":           strings.Fields("number ordernumber orderno orderref reference code incrementid displayid name"),
	"customer":         strings.Fields("customer customerid customername userid user buyer"),
	"email":            strings.Fields("email customeremail billingemail buyeremail useremail"),
	"status":           strings.Fields("status state paymentstatus refundstatus shipmentstatus orderstatus captured done isrefunded refunded delivered isopen open"),
	"total":            strings.Fields("total grandtotal totalamount ordertotal amounttotal amount totalprice totalcents gross sum"),
	"amount":           strings.Fields("amount grandtotal total totalamount value amountpaid refundamount amountrefunded sum cents amountcents gross"),
	"currency":         strings.Fields("currency currencycode ordercurrencycode currencyiso"),
	"shipping_address": strings.Fields("shippingaddress shipto deliveryaddress address"),
	"placed_at":        strings.Fields("placedat placed orderedat completedat createdat created orderdate date"),
	"paid_at":          strings.Fields("paidat capturedat completedat processedat createdat created paymentdate date"),
	"reference":        strings.Fields("reference providerref transactionid externalid psppreference pspreference responsecode"),
	"carrier":          strings.Fields("carrier carriercode shippingmethod provider courier"),
	"tracking":         strings.Fields("tracking trackingnumber trackingno tracknumber trackingcode trackingid awb"),
	"shipped_at":       strings.Fields("shippedat shipped sentat dispatchedat createdat"),
	"delivered_at":     strings.Fields("deliveredat arrivedat"),
	"refunded_at":      strings.Fields("refundedat processedat completedat createdat created date"),
	"opened_at":        strings.Fields("openedat requestedat daterequested createdat created date"),
	"reason":           strings.Fields("reason returnreason reasontext note comment"),
	"deleted":          strings.Fields("deletedat"),
}

// refundReferences are the names that can only mean one refund. Rows with the same reference are read as one refund, of which the latest
// counts, so a column that may name the payment, its method or a transaction would make two refunds one: none is better.
var refundReferences = strings.Fields("refundreference refundref refundid providerrefundid externalrefundid refundexternalid refundproviderid psprefundid gatewayrefundid striperefundid")

// namesFor are the names that a column of a kind is likely to have.
func (k Kind) namesFor(field string) []string {
	if k == Refund && field == "reference" {
		return refundReferences
	}
	return columnNames[field]
}

// Needs reports whether nothing of that kind can be read without that column.
func (k Kind) Needs(column string) bool { return slices.Contains(forms[k].needed, column) }

// Amount is the name of a kind's column that holds money, empty if it has none.
func (k Kind) Amount() string { return k.amount() }

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// likeliest is the table whose name is that of a kind of record, with what must be read of one. Tables and not views, where there
// are both: a view often shows what its maker thought about a table.
func likeliest(c Catalog, k Kind) (best Table, ok bool) {
	rank := len(tableNames[k])
	for _, views := range []bool{false, true} {
		for _, t := range c.Tables {
			at := slices.Index(tableNames[k], folded(t.Name))
			if t.View == views && at >= 0 && at < rank && suits(k, t) {
				best, rank, ok = t, at, true
			}
		}
	}
	return best, ok
}

// suits reports whether a table has a column for all that a kind must have.
func suits(k Kind, t Table) bool {
	for _, field := range forms[k].needed {
		if _, ok := t.likely(k, field); !ok && !(field == "id" && t.ownKey() != "") {
			return false
		}
	}
	return k != Order || KeyOf(t) != ""
}

// likely is the column of a table that may hold a field.
func (t Table) likely(k Kind, field string) (string, bool) {
	if field == k.amount() && field != "" {
		return t.money(field)
	}
	for _, name := range k.namesFor(field) {
		for _, c := range t.Columns {
			if folded(c.Name) == name && fits(field, c) {
				return c.Name, true
			}
		}
	}
	if field == "id" { // payment_id in a table of payments
		for _, c := range t.Columns {
			if slices.Contains(t.Key, c.Name) && len(t.Key) == 1 {
				return c.Name, true
			}
		}
	}
	return "", false
}

// money is the column that may hold an amount: one of numbers before one of texts, which exported files have, and never one that
// names a row of this table or of another.
func (t Table) money(field string) (string, bool) {
	for _, numbers := range []bool{true, false} {
		for _, name := range columnNames[field] {
			for _, c := range t.Columns {
				if folded(c.Name) == name && fits(field, c) && numberType.MatchString(c.Type+c.base) == numbers && !t.names(c) {
					return c.Name, true
				}
			}
		}
	}
	for _, c := range t.Columns {
		name := folded(c.Name)
		if numberType.MatchString(c.Type+c.base) && !t.names(c) && slices.ContainsFunc(sums, func(part string) bool { return strings.Contains(name, part) }) {
			return c.Name, true
		}
	}
	return "", false
}

// sums are the parts of a name that say money.
var sums = strings.Fields("amount total sum cents gross betrag")

// names reports whether a column names a row, of this table or of another.
func (t Table) names(c Column) bool {
	return slices.Contains(t.Key, c.Name) || strings.HasSuffix(folded(c.Name), "id") && !strings.HasSuffix(folded(c.Name), "paid") ||
		slices.ContainsFunc(t.ForeignKeys, func(f ForeignKey) bool { return slices.Contains(f.Columns, c.Name) })
}

var (
	timeType   = regexp.MustCompile(`(?i)date|time`)
	textType   = regexp.MustCompile(`(?i)char|text|clob|string|^$`)
	numberType = regexp.MustCompile(`(?i)int|num|dec|money|real|double|float`)
)

// fits reports whether a column's type could hold a field. SQLite keeps times as texts and numbers, and so do other shops.
func fits(field string, c Column) bool {
	kind := c.Type + c.base
	switch {
	case strings.HasSuffix(field, "_at"):
		return timeType.MatchString(kind) || textType.MatchString(kind) || numberType.MatchString(kind)
	case field == "deleted":
		return c.Nullable
	case field == "amount" || field == "total":
		return numberType.MatchString(kind) || textType.MatchString(kind)
	case field == "status":
		return !timeType.MatchString(kind)
	}
	return true
}
