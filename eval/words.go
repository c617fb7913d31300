package eval

import (
	"strings"

	"countersign"
)

// inWords is how a fact of the records is told to somebody who has not read the rules: when it is so, when it is not, and
// what it is that cannot be told. Facts of a twin have the same words, said of the other charge.
var inWords = map[string]struct{ present, absent, unknown string }{
	"is_transfer":                  {"it is a transfer", "it is not a transfer", "whether it is a transfer"},
	"account":                      {"whose account it is on", "the account is not the customer's", "whose account it is on"},
	"debit_posted":                 {"the full debit is on the ledger", "the full debit is not on the ledger", "whether the debit was posted on a ledger"},
	"settlement_failed_final":      {"the payment rail says for good that it failed", "the payment rail does not say that it failed", "what became of it on the payment rail"},
	"corrected":                    {"it was corrected already", "no correction is on record", "whether it was corrected already"},
	"credit_same_end_to_end_id":    {"a credit carries its end-to-end id", "no credit carries its end-to-end id", "whether a credit carries its end-to-end id"},
	"pending_same_end_to_end_id":   {"a pending movement carries its end-to-end id", "nothing pending carries its end-to-end id", "whether something pending carries its end-to-end id"},
	"paid_back_same_end_to_end_id": {"a payment with its end-to-end id came back", "no payment with its end-to-end id came back", "whether a payment with its end-to-end id came back"},
	"sent_twice":                   {"the same transfer was sent twice", "it was not sent twice", "whether it was sent twice"},
	"duplicate_window":             {"it is of a kind that can be charged twice", "it is of no kind that can be charged twice", "whether it can be charged twice"},
	"coming_back_by_rail":          {"its money may come back by the rail", "the rail announces no return", "whether the rail returns it"},
	"twin":                         {"exactly one like charge is close to it", "no like charge is close to it", "whether a like charge is the same one again"},
	"twin_same_kind":               {"the like charge is of the same kind", "the like charge is of another kind", "whether the like charge is of the same kind"},
	"twin_same_payee":              {"the like charge went to the same payee", "the like charge went to another payee", "whether the like charge went to the same payee"},
	"twin_same_key":                {"the like charge carries the same id", "the like charge carries no same id", "whether the like charge carries the same id"},
	"twin_later":                   {"which of the two is later", "both happened at the same moment", "which of the two is later"},
	"device_untrusted":             {"the device is not trusted", "the device is trusted", "whether a trusted device was used"},
	"device_new":                   {"the device is new", "the device is not new", "whether the device was new"},
	"city_unusual":                 {"the city is unusual", "the city is usual", "whether the city is usual"},
	"many_debits":                  {"it is one of a rush of debits", "there was no rush of debits", "whether there was a rush of debits"},
	"merchant_flagged":             {"the merchant is flagged", "the merchant is not flagged", "whether the merchant is flagged"},
	"customer_flagged":             {"the customer is flagged", "the customer is not flagged", "whether the customer is flagged"},
}

// told is a fact in words. A fact that has none is told by its name: a new rule must not make a report fail.
func told(f countersign.Fact) string {
	name, of := f.Name, ""
	if _, ok := inWords[name]; !ok {
		name, of = strings.TrimPrefix(name, "twin_"), " (the like charge)"
	}
	said, ok := inWords[name]
	switch {
	case !ok:
		return words(f.Name) + ": " + string(f.State)
	case f.State == countersign.Present:
		return said.present + of
	case f.State == countersign.Absent:
		return said.absent + of
	}
	return said.unknown + of
}

// words is a stable name as a person reads it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// listed puts things told into one sentence.
func listed[T any](things []T, tell func(T) string) string {
	if len(things) == 0 {
		return "nothing"
	}
	said := make([]string, len(things))
	for i, thing := range things {
		said[i] = tell(thing)
	}
	return strings.Join(said, "; ")
}

// untold is the fact of that name when it could not be told.
func untold(name string) string {
	return told(countersign.Fact{Name: name, State: countersign.Unknown})
}
