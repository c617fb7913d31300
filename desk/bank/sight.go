package bank

import (
	"strings"

	"countersign/llm/rulebook"
)

// sight is what the offline reviewer saw. A result that failed leaves its part empty and its tool among the unread.
type sight struct {
	seen   rulebook.Seen
	reason string // the customer's word for it
	unread []string

	transaction struct {
		ID, Kind, Direction, Status string
		AmountMinor                 int64 `json:"amount_minor"`
		Currency, Amount            string
	}
	ledger struct {
		Found          bool
		TakenMinor     int64 `json:"taken_minor"`
		GivenBackMinor int64 `json:"given_back_minor"`
		OtherCurrency  bool  `json:"other_currency"`
		Corrections    int   `json:"corrections"`
		FixedBefore    bool  `json:"fixed_before"`
		Credits        int   `json:"credits_with_same_end_to_end_id"`
	}
	settlement struct {
		Found, Final bool
		Status       string
	}
	device struct {
		Found  bool
		Device struct {
			Trusted      answer
			SecondsKnown *int64 `json:"seconds_known_before_transaction"`
		}
		PlaceIsHome  answer `json:"place_is_home"`
		PlaceIsKnown answer `json:"place_seen_on_older_device"`
	}
	profile struct {
		Name    string
		Flagged bool
	}
	merchant struct{ Found, Flagged bool }
	related  struct {
		Copies    []twin `json:"possible_copies"`
		NotListed int    `json:"possible_copies_not_listed"`
		Debits    []struct {
			SecondsApart *int64 `json:"seconds_apart"`
		} `json:"debits_around"`
		EndToEnd []struct{ Direction, Status string } `json:"same_end_to_end_id"`
	}
}

// twin is a possible copy as the reviewer reads it.
type twin struct {
	ID, Status, Order string
	SecondsApart      *int64 `json:"seconds_apart"`
	SameMerchant      answer `json:"same_merchant"`
	SameReference     answer `json:"same_reference"`
	SameEndToEndID    answer `json:"same_end_to_end_id"`
	Posted            bool   `json:"posted_in_full"`
	GivenBackMinor    int64  `json:"given_back_minor"`
	FixedBefore       bool   `json:"fixed_before"`
}

// look reads everything that was shown.
func look(seen rulebook.Seen) *sight {
	s := &sight{seen: seen, reason: givenReason(seen.Case)}
	s.read("get_transaction", &s.transaction)
	s.read("get_ledger_entries", &s.ledger)
	s.read("get_settlement_status", &s.settlement)
	s.read("get_device_and_location", &s.device)
	s.read("get_customer_profile", &s.profile)
	s.read("get_customer_history", &struct{}{})
	s.read("get_merchant_info", &s.merchant)
	s.read("get_related_transactions", &s.related)
	return s
}

func (s *sight) read(tool string, into any) {
	if err := s.seen.Results[tool].Into(into); err != nil {
		s.unread = append(s.unread, tool)
	}
}

// givenReason is the customer's reason as our own text of the case gives it. That text comes before anything a customer
// wrote, so the first such line is ours.
func givenReason(text string) string {
	for line := range strings.Lines(text) {
		if reason, ok := strings.CutPrefix(strings.TrimSpace(line), reasonLine); ok {
			return reason
		}
	}
	return "other"
}

// cite points at fields of a tool's result and copies their values as they are spelled there. A field that is not there is
// left out: the reviewer never cites what it did not see.
func (s *sight) cite(tool string, fields ...string) (found []citation) {
	result := s.seen.Results[tool]
	for _, field := range fields {
		if value, ok := result.At(field); ok {
			found = append(found, citation{result.Ref, field, value})
		}
	}
	return found
}
