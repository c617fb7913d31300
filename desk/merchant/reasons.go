package merchant

import (
	"slices"
	"strings"

	"countersign"
)

// claim is what a network's reason code says that a cardholder claims.
type claim struct {
	network, code string
	name          string // as the network's own list has it
	reason        countersign.DisputeReason
	terms         string // what a policy would say about it
}

// What policies say about each kind of claim. A query is made of these words and never of a customer's: text that somebody wrote to
// be found would choose what a model reads.
const (
	fraudTerms     = "fraud unauthorised unauthorized payment card verification identity security"
	deliveryTerms  = "delivery shipping shipped delivered tracking carrier lost parcel not received arrive days"
	defectTerms    = "defective damaged faulty not as described quality warranty inspection return refund"
	cancelTerms    = "cancel cancellation cancelled subscription recurring renewal notice"
	creditTerms    = "refund credit returned processed days original payment method"
	duplicateTerms = "duplicate charged twice payment order"
	amountTerms    = "price amount total charge currency tax fee"
	paymentTerms   = "payment authorisation charge card"
)

// claims are the codes that come up most, by network: a code means nothing without one. Names and categories are from the
// dispute reason lists that Finix and North publish and Visa's own pages; codes that are not here are no error, the case is then
// worked without a category.
var claims = []claim{
	{"visa", "10.1", "EMV liability shift, counterfeit fraud", countersign.Unauthorised, fraudTerms},
	{"visa", "10.2", "EMV liability shift, non-counterfeit fraud", countersign.Unauthorised, fraudTerms},
	{"visa", "10.3", "other fraud, card present", countersign.Unauthorised, fraudTerms},
	{"visa", "10.4", "other fraud, card absent", countersign.Unauthorised, fraudTerms},
	{"visa", "10.5", "fraud monitoring program", countersign.Unauthorised, fraudTerms},
	{"visa", "11.1", "card recovery bulletin", countersign.OtherReason, paymentTerms},
	{"visa", "11.2", "declined authorization", countersign.OtherReason, paymentTerms},
	{"visa", "11.3", "no authorization", countersign.OtherReason, paymentTerms},
	{"visa", "12.5", "incorrect amount", countersign.WrongAmount, amountTerms},
	{"visa", "12.6", "duplicate processing or paid by other means", countersign.DuplicateCharge, duplicateTerms},
	{"visa", "12.6.1", "duplicate processing", countersign.DuplicateCharge, duplicateTerms},
	{"visa", "12.6.2", "paid by other means", countersign.DuplicateCharge, duplicateTerms},
	{"visa", "13.1", "merchandise or services not received", countersign.NotReceived, deliveryTerms},
	{"visa", "13.2", "cancelled recurring transaction", countersign.OtherReason, cancelTerms},
	{"visa", "13.3", "not as described or defective", countersign.OtherReason, defectTerms},
	{"visa", "13.4", "counterfeit merchandise", countersign.OtherReason, defectTerms},
	{"visa", "13.5", "misrepresentation", countersign.OtherReason, defectTerms},
	{"visa", "13.6", "credit not processed", countersign.OtherReason, creditTerms},
	{"visa", "13.7", "cancelled merchandise or services", countersign.OtherReason, cancelTerms},
	{"mastercard", "4808", "authorization-related chargeback", countersign.OtherReason, paymentTerms},
	{"mastercard", "4831", "transaction amount differs", countersign.WrongAmount, amountTerms},
	{"mastercard", "4834", "point-of-interaction error", countersign.OtherReason, amountTerms + " " + duplicateTerms},
	{"mastercard", "4837", "no cardholder authorization", countersign.Unauthorised, fraudTerms},
	{"mastercard", "4841", "cancelled recurring or digital goods", countersign.OtherReason, cancelTerms},
	{"mastercard", "4849", "questionable merchant activity", countersign.Unauthorised, fraudTerms},
	{"mastercard", "4853", "cardholder dispute", countersign.OtherReason, defectTerms + " " + deliveryTerms},
	{"mastercard", "4855", "goods or services not provided", countersign.NotReceived, deliveryTerms},
	{"mastercard", "4860", "credit not processed", countersign.OtherReason, creditTerms},
	{"mastercard", "4863", "cardholder does not recognize", countersign.Unauthorised, fraudTerms},
	{"amex", "C02", "credit not processed", countersign.OtherReason, creditTerms},
	{"amex", "C04", "goods or services returned or refused", countersign.OtherReason, creditTerms},
	{"amex", "C05", "goods or services cancelled", countersign.OtherReason, cancelTerms},
	{"amex", "C08", "goods or services not received", countersign.NotReceived, deliveryTerms},
	{"amex", "C14", "paid by other means", countersign.DuplicateCharge, duplicateTerms},
	{"amex", "C28", "cancelled recurring billing", countersign.OtherReason, cancelTerms},
	{"amex", "C31", "goods or services not as described", countersign.OtherReason, defectTerms},
	{"amex", "C32", "goods or services damaged or defective", countersign.OtherReason, defectTerms},
	{"amex", "F24", "no card member authorization", countersign.Unauthorised, fraudTerms},
	{"amex", "F29", "card not present", countersign.Unauthorised, fraudTerms},
	{"amex", "P05", "incorrect charge amount", countersign.WrongAmount, amountTerms},
	{"amex", "P08", "duplicate charge", countersign.DuplicateCharge, duplicateTerms},
	{"discover", "AA", "does not recognize", countersign.Unauthorised, fraudTerms},
	{"discover", "AP", "recurring payments", countersign.OtherReason, cancelTerms},
	{"discover", "AW", "altered amount", countersign.WrongAmount, amountTerms},
	{"discover", "DP", "duplicate processing", countersign.DuplicateCharge, duplicateTerms},
	{"discover", "PM", "paid by other means", countersign.DuplicateCharge, duplicateTerms},
	{"discover", "RG", "non-receipt of goods, services or cash", countersign.NotReceived, deliveryTerms},
	{"discover", "RM", "quality of goods or services", countersign.OtherReason, defectTerms},
	{"discover", "RN2", "credit not processed", countersign.OtherReason, creditTerms},
	{"discover", "UA01", "fraud, card present", countersign.Unauthorised, fraudTerms},
	{"discover", "UA02", "fraud, card not present", countersign.Unauthorised, fraudTerms},
	// Providers that hide the network's code pass on a category of their own.
	{"stripe", "credit_not_processed", "credit not processed", countersign.OtherReason, creditTerms},
	{"stripe", "duplicate", "duplicate", countersign.DuplicateCharge, duplicateTerms},
	{"stripe", "fraudulent", "fraudulent", countersign.Unauthorised, fraudTerms},
	{"stripe", "product_not_received", "product not received", countersign.NotReceived, deliveryTerms},
	{"stripe", "product_unacceptable", "product unacceptable", countersign.OtherReason, defectTerms},
	{"stripe", "subscription_canceled", "subscription canceled", countersign.OtherReason, cancelTerms},
	{"stripe", "unrecognized", "unrecognized", countersign.Unauthorised, fraudTerms},
}

// ReasonFor is what a network's code says that the cardholder claims, other when the code is not known. What a code is called by
// another network says nothing: 4863 is one thing to Mastercard and another to Discover.
func ReasonFor(t countersign.Terms) countersign.DisputeReason {
	if c, ok := claimOf(t); ok {
		return c.reason
	}
	return countersign.OtherReason
}

// NameOf is what the network calls its reason code, empty when it is not known here.
func NameOf(t countersign.Terms) string {
	c, _ := claimOf(t)
	return c.name
}

// Networks are the names of the networks, and of providers, whose reason codes are known here.
func Networks() (names []string) {
	for _, c := range claims {
		if !slices.Contains(names, c.network) {
			names = append(names, c.network)
		}
	}
	return names
}

func claimOf(t countersign.Terms) (claim, bool) {
	for _, c := range claims {
		if strings.EqualFold(c.network, t.Network) && strings.EqualFold(c.code, t.ReasonCode) {
			return c, true
		}
	}
	return claim{}, false
}

// byReason are the words to look for when only the kind of complaint is known.
var byReason = map[countersign.DisputeReason]string{
	countersign.Unauthorised:    fraudTerms,
	countersign.NotReceived:     deliveryTerms,
	countersign.DuplicateCharge: duplicateTerms,
	countersign.WrongAmount:     amountTerms,
	countersign.OtherReason:     defectTerms + " " + creditTerms,
}
