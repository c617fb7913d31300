package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/pipeline/intake"
)

// tau2 files every dispute that an outside bank's benchmark files, on that bank's own records, and works them. The bank
// (tau2-bench, Sierra Research, MIT) keeps customers, accounts and two transaction histories; it has no ledger, no
// settlements, no devices and no time of day. So nothing there can be corroborated, and the honest result is that every
// case needs a person and says what is missing. An automatic fix would be a broken promise.
var tau2 = Suite{
	Name:  "tau2-banking",
	About: "every dispute filing of an outside bank (tau2-bench banking), on its own records",
	Run:   runTau2,
}

func runTau2(ctx context.Context, s Setting) (r Report, err error) {
	bank, err := readTau2(s.Data)
	if err != nil {
		return r, err
	}
	world, err := NewWorld(ctx, s, nil)
	if err != nil {
		return r, err
	}
	defer world.Close()
	if err := world.Import(ctx, bank.set()); err != nil {
		return r, err
	}
	r = Report{Suite: "tau2-banking", Counts: map[string]int{}}
	opened := map[countersign.CaseID]int{}
	var filed []intake.Opened
	for _, f := range bank.filings {
		o, err := world.File(ctx, f.request())
		if err != nil {
			return r, fmt.Errorf("file %s: %w", f.Action, err)
		}
		filed = append(filed, o)
	}
	for i, o := range filed {
		c, err := world.Wait(ctx, o.Case.ID)
		if err != nil {
			return r, err
		}
		l := line(c, bank.filings[i].filedAs())
		if first, again := opened[c.ID]; again {
			l.Note = fmt.Sprintf("the same dispute as filing %d, already open", first+1)
			r.Counts["filed again"]++
		} else {
			opened[c.ID] = i
			r.Counts[l.Ended]++
			r.Promises = append(r.Promises, unjustified(c)...)
			for _, code := range l.Reasons {
				r.Counts["reason "+code]++
			}
		}
		r.Cases = append(r.Cases, l)
	}
	r.Counts["filings"] = len(filed)
	broken, err := world.Intact(ctx)
	r.Promises = append(r.Promises, broken...)
	return r, err
}

// tau2Bank is that bank's data as it is written.
type tau2Bank struct {
	Users struct {
		Data map[string]struct {
			Name  string `json:"name"`
			ID    string `json:"user_id"`
			Email string `json:"email"`
			Phone string `json:"phone_number"`
		} `json:"data"`
	} `json:"users"`
	Accounts struct {
		Data map[string]tau2Account `json:"data"`
	} `json:"accounts"`
	Cards struct {
		Data map[string]tau2Card `json:"data"`
	} `json:"credit_card_accounts"`
	BankHistory struct {
		Data map[string]tau2Transaction `json:"data"`
	} `json:"bank_account_transaction_history"`
	CardHistory struct {
		Data map[string]tau2Transaction `json:"data"`
	} `json:"credit_card_transaction_history"`

	filings []tau2Filing
}

type tau2Account struct {
	ID     string `json:"account_id"`
	User   string `json:"user_id"`
	Class  string `json:"class"`
	Status string `json:"status"`
}

type tau2Card struct {
	ID   string `json:"account_id"`
	User string `json:"user_id"`
	Type string `json:"card_type"`
}

// tau2Transaction is a row of either history; which one shows in the fields that are filled.
type tau2Transaction struct {
	ID string `json:"transaction_id"`

	Account     string      `json:"account_id"`
	Date        string      `json:"date"`
	Description string      `json:"description"`
	Amount      json.Number `json:"amount"`
	Type        string      `json:"type"`
	Status      string      `json:"status"`

	User       string `json:"user_id"`
	Card       string `json:"credit_card_type"`
	Merchant   string `json:"merchant_name"`
	CardAmount string `json:"transaction_amount"`
	CardDate   string `json:"transaction_date"`
	Category   string `json:"category"`
}

type tau2Filing struct {
	Action string `json:"action_id"`
	Kind   string `json:"kind"`
	Gold   struct {
		Transaction string `json:"transaction_id"`
		User        string `json:"user_id"`
		Reason      string `json:"dispute_reason"`
		Category    string `json:"dispute_category"`
	} `json:"gold"`
	Transaction *tau2Transaction `json:"transaction"`
	Story       string           `json:"customer_story"`
}

func readTau2(folder string) (*tau2Bank, error) {
	db, err := open(folder, "tau2-banking", "db.json")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	bank := &tau2Bank{}
	if err := json.NewDecoder(db).Decode(bank); err != nil {
		return nil, fmt.Errorf("read the outside bank: %w", err)
	}
	gold, err := open(folder, "tau2-banking", "disputes_gold.jsonl")
	if err != nil {
		return nil, err
	}
	defer gold.Close()
	lines := bufio.NewScanner(gold)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var f tau2Filing
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("read filing %d: %w", len(bank.filings)+1, err)
		}
		bank.filings = append(bank.filings, f)
	}
	return bank, lines.Err()
}

// set converts the bank to our form. It adds nothing: what that bank does not record stays unrecorded. Filings whose
// transaction is not in the histories carry it themselves.
func (b *tau2Bank) set() (s records.Set) {
	for _, u := range b.Users.Data {
		s.Customers = append(s.Customers, records.Customer{ID: u.ID, Name: u.Name, Email: u.Email, Phone: u.Phone})
	}
	for _, a := range b.Accounts.Data {
		s.Accounts = append(s.Accounts, records.Account{ID: a.ID, CustomerID: a.User, Number: a.ID, Currency: "USD", Kind: a.Class, Status: strings.ToLower(a.Status)})
	}
	for _, c := range b.Cards.Data {
		s.Accounts = append(s.Accounts, records.Account{ID: c.ID, CustomerID: c.User, Number: c.ID, Currency: "USD", Kind: c.Type})
	}
	all := map[string]tau2Transaction{}
	for _, f := range b.filings {
		if f.Transaction != nil {
			all[f.Transaction.ID] = *f.Transaction
		}
	}
	for id, t := range b.BankHistory.Data {
		all[id] = t
	}
	for id, t := range b.CardHistory.Data {
		all[id] = t
	}
	merchants := map[string]bool{}
	for _, t := range all {
		r, merchant := b.transaction(t)
		s.Transactions = append(s.Transactions, r)
		if merchant.ID != "" && !merchants[merchant.ID] {
			merchants[merchant.ID] = true
			s.Merchants = append(s.Merchants, merchant)
		}
	}
	return s
}

func (b *tau2Bank) transaction(t tau2Transaction) (records.Transaction, records.Merchant) {
	if t.Account != "" {
		minor, direction := amount(t.Amount.String())
		return records.Transaction{ID: t.ID, AccountID: t.Account, Kind: kinds[t.Type], Direction: direction, AmountMinor: minor,
			Currency: "USD", Status: statuses[t.Status], OccurredAt: date(t.Date), CounterpartyName: t.Description}, records.Merchant{}
	}
	minor, direction := amount("-" + strings.Trim(t.CardAmount, "$"))
	merchant := records.Merchant{ID: slug(t.Merchant), Name: t.Merchant, Category: t.Category}
	return records.Transaction{ID: t.ID, AccountID: b.card(t.User, t.Card), Kind: records.Card, Direction: direction, AmountMinor: minor,
		Currency: "USD", Status: statuses[t.Status], OccurredAt: date(t.CardDate), MerchantID: merchant.ID}, merchant
}

// card is the account of a customer's card of that type.
func (b *tau2Bank) card(user, cardType string) string {
	for _, c := range b.Cards.Data {
		if c.User == user && c.Type == cardType {
			return c.ID
		}
	}
	return ""
}

var kinds = map[string]records.TransactionKind{
	"atm_withdrawal": records.ATM, "atm_balance_inquiry": records.Fee, "atm_fee": records.Fee, "monthly_fee": records.Fee,
	"overdraft_fee": records.Fee, "debit_card_purchase": records.Card, "ach_transfer_in": records.Transfer,
	"ach_transfer_out": records.Transfer, "wire_transfer_in": records.Transfer, "wire_transfer_out": records.Transfer,
	"everyonepay": records.Transfer, "bill_pay": records.Bill, "direct_deposit": records.Other, "check_deposit": records.Other,
	"mobile_deposit": records.Other, "fee_rebate": records.Other, "interest_credit": records.Other,
}

var statuses = map[string]records.TransactionStatus{
	"posted": records.Posted, "pending": records.Pending, "COMPLETED": records.Posted, "PENDING": records.Pending,
	"DECLINED": records.Failed, "REFUNDED": records.Reversed,
}

// amount reads a decimal number of dollars exactly.
func amount(s string) (int64, countersign.Direction) {
	direction := countersign.Credit
	if strings.HasPrefix(s, "-") {
		s, direction = s[1:], countersign.Debit
	}
	whole, fraction, _ := strings.Cut(strings.ReplaceAll(s, ",", ""), ".")
	minor, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil || len(strings.TrimRight(fraction, "0")) > 2 {
		return 0, direction // refused by name when it is imported
	}
	return minor, direction
}

// date turns 11/07/2025 into a bare date: that bank keeps no time of day.
func date(s string) countersign.When {
	if len(s) != 10 {
		return countersign.When{}
	}
	when, err := countersign.ParseWhen(s[6:] + "-" + s[:2] + "-" + s[3:5])
	if err != nil {
		return countersign.When{}
	}
	return when
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

func slug(name string) string {
	if name == "" {
		return ""
	}
	return "m-" + strings.Trim(notWord.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

func (f tau2Filing) filedAs() string {
	for _, said := range []string{f.Gold.Reason, f.Gold.Category} {
		if said != "" {
			return said
		}
	}
	return f.Kind
}

// tau2Reasons maps that bank's words to ours; what has no equal is other, cash-back filings among it.
var tau2Reasons = map[string]countersign.DisputeReason{
	"unauthorized_fraudulent_charge": countersign.Unauthorised, "card_present_fraud": countersign.Unauthorised,
	"card_not_present_fraud": countersign.Unauthorised, "duplicate_charge": countersign.DuplicateCharge,
	"incorrect_amount": countersign.WrongAmount, "atm_cash_discrepancy": countersign.WrongAmount,
	"goods_services_not_received": countersign.NotReceived,
}

func (f tau2Filing) request() intake.Request {
	reason, ok := tau2Reasons[f.filedAs()]
	if !ok {
		reason = countersign.OtherReason
	}
	return intake.Request{SubjectID: f.Gold.Transaction, CustomerID: f.Gold.User, Reason: reason, Notes: f.Story, Channel: "eval"}
}
