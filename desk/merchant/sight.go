package merchant

import (
	"fmt"
	"regexp"
	"strings"

	"countersign"
	"countersign/desk/merchant/shop"
	"countersign/llm/rulebook"
)

// sight is what the offline reviewer saw of a case.
type sight struct {
	reason     string
	orderFound bool
	order      rulebook.Result
	payments   kind
	parcels    kind
	refunds    kind
	returns    kind
	passages   []passageSeen
	unread     int // lines of the first message that could not be read
}

// kind is the rows of one kind, and the result they stand in.
type kind struct {
	result rulebook.Result
	name   string
	rows   []rowSeen
	cut    bool
}

type rowSeen struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Amount string `json:"amount"`
}

type passageSeen struct {
	Document string   `json:"document"`
	Text     []string `json:"text"`
}

// behold reads what was given. Results say themselves what they are; one that failed only says that it did.
func behold(seen rulebook.Seen) *sight {
	s := &sight{reason: givenReason(seen.Case)}
	for _, r := range seen.Given {
		s.take(r)
	}
	return s
}

func (s *sight) take(r rulebook.Result) {
	var in struct {
		Found        *bool         `json:"found"`
		Payments     *[]rowSeen    `json:"payments"`
		Fulfillments *[]rowSeen    `json:"fulfillments"`
		Refunds      *[]rowSeen    `json:"refunds"`
		Returns      *[]rowSeen    `json:"returns"`
		Passages     []passageSeen `json:"passages"`
		NotListed    int           `json:"not_listed"`
		More         bool          `json:"more_than_are_read"`
	}
	if r.Into(&in) != nil {
		s.unread++
		return
	}
	if in.Found != nil {
		s.order, s.orderFound = r, *in.Found
	}
	s.passages = append(s.passages, in.Passages...)
	for _, k := range []struct {
		into *kind
		name string
		rows *[]rowSeen
	}{{&s.payments, "payments", in.Payments}, {&s.parcels, "fulfillments", in.Fulfillments}, {&s.refunds, "refunds", in.Refunds}, {&s.returns, "returns", in.Returns}} {
		if k.rows != nil {
			*k.into = kind{r, k.name, *k.rows, in.More || in.NotListed > 0}
		}
	}
}

// givenReason is the claim as our own text of the case gives it. That text comes before anything that somebody else wrote.
func givenReason(text string) string {
	for line := range strings.Lines(text) {
		if reason, ok := strings.CutPrefix(strings.TrimSpace(line), reasonLine); ok {
			return reason
		}
	}
	return "other"
}

// blind reports whether something of the records was not read, or not to its end.
func (s *sight) blind() bool {
	return s.unread > 0 || s.payments.cut || s.parcels.cut || s.refunds.cut || s.returns.cut
}

// with are the rows of a kind that are in a state.
func (s *sight) with(state shop.State, k kind) (at []int) {
	for i, row := range k.rows {
		if row.State == string(state) {
			at = append(at, i)
		}
	}
	return at
}

// doubtful reports whether a row is of a state that nobody has explained, or money is on its way.
func (s *sight) doubtful() bool {
	n := len(s.with(shop.InProgress, s.refunds))
	for _, k := range []kind{s.payments, s.parcels, s.refunds} {
		n += len(s.with(shop.Unseen, k))
	}
	return n > 0
}

func (s *sight) arrived() bool {
	return len(s.parcels.rows) > 0 && len(s.with(shop.Delivered, s.parcels)) == len(s.parcels.rows)
}

// happened is what the records say, each sentence with the value that shows it.
func (s *sight) happened() (all []said) {
	if s.orderFound {
		all = append(all, said{"The order is on record.", cite(s.order, "order.id", "order.placed_at", "order.total")})
	}
	for _, k := range []struct {
		kind
		words string
	}{{s.payments, "Payment %s is %s."}, {s.parcels, "Parcel %s is %s."}, {s.refunds, "Refund %s is %s."}, {s.returns, "Return %s is %s."}} {
		all = append(all, k.sentences(k.words)...)
	}
	return all
}

// mostSaid is how many rows of a kind the reviewer talks about.
const mostSaid = 4

func (k kind) sentences(words string) (all []said) {
	for i, row := range k.rows[:min(len(k.rows), mostSaid)] {
		at := fmt.Sprintf("%s[%d].", k.name, i)
		all = append(all, said{fmt.Sprintf(words, row.ID, strings.ReplaceAll(row.State, "_", " ")), cite(k.result, at+"state", at+"amount")})
	}
	return all
}

// cite points at fields and copies their values as they are spelled. What is not there is left out.
func cite(r rulebook.Result, fields ...string) (found []citation) {
	for _, field := range fields {
		if value, ok := r.At(field); ok {
			found = append(found, citation{r.Ref, field, value})
		}
	}
	return found
}

// marker is what stands around text that somebody else wrote. It is another one in every run.
var marker = regexp.MustCompile(`</?untrusted-[a-z]+>`)

// clauses quotes, of the documents that bear most on the claim, the sentence with the most words of it.
func (s *sight) clauses() (all []quote) {
	const most = 2
	quoted := map[string]bool{}
	for _, p := range s.passages {
		if len(all) == most {
			break
		}
		if sentence := s.telling(p); sentence != "" && !quoted[p.Document] {
			quoted[p.Document] = true
			all = append(all, quote{p.Document, sentence})
		}
	}
	return all
}

// telling is the passage's sentence that says most about the claim, the first of several; empty when none says anything.
func (s *sight) telling(p passageSeen) (best string) {
	terms, most := strings.Fields(byReason[countersign.DisputeReason(s.reason)]), 0
	for _, text := range p.Text {
		for _, sentence := range sentence.FindAllString(marker.ReplaceAllString(text, ""), -1) {
			if sentence = strings.TrimSpace(sentence); len(sentence) < shortest || len(sentence) > longest {
				continue
			}
			if n := wordsIn(sentence, terms); n > most {
				best, most = sentence, n
			}
		}
	}
	return best
}

func wordsIn(sentence string, terms []string) (n int) {
	sentence = strings.ToLower(sentence)
	for _, term := range terms {
		if strings.Contains(sentence, term) {
			n++
		}
	}
	return n
}

// sentences that are shorter than this say too little to be a clause, and longer ones are several.
const shortest, longest = 40, 400

// sentence is text up to a full stop at a blank or at the end. A heading, which has none, runs into what follows and is left out with
// its mark.
var sentence = regexp.MustCompile(`[^.!?#]+(?:[.!?][^\s.!?#][^.!?#]*)*[.!?](?:\s|$)`)
