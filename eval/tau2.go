package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
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
	r = newReport("tau2-banking")
	bank, err := readTau2(s.Data)
	if err != nil {
		return r, err
	}
	world, err := newWorld(ctx, s, nil)
	if err != nil {
		return r, err
	}
	defer world.Close()
	cases, filed, err := bank.work(ctx, world)
	if err != nil {
		return r, err
	}
	bank.report(&r, cases, filed)
	broken, err := world.intact(ctx)
	r.broke(broken...)
	return r, err
}

// work files every dispute, in the order of the file, and then works the cases that this opened. Filed says which of the
// cases each filing ended in.
func (b *tau2Bank) work(ctx context.Context, w *World) (cases []countersign.Case, filed []int, err error) {
	if err := w.add(ctx, b.set()); err != nil {
		return nil, nil, err
	}
	place := map[countersign.CaseID]int{}
	for _, f := range b.filings {
		opened, err := w.file(ctx, f.request())
		if err != nil {
			return nil, nil, fmt.Errorf("filing %s: %w", f.Action, err)
		}
		if opened.Created {
			place[opened.Case.ID] = len(cases)
			cases = append(cases, opened.Case)
		}
		filed = append(filed, place[opened.Case.ID])
	}
	w.total = len(cases)
	err = each(ctx, len(cases), func(ctx context.Context, i int) (err error) {
		cases[i], err = w.work(ctx, cases[i].ID)
		return err
	})
	return cases, filed, err
}

func (b *tau2Bank) report(r *Report, cases []countersign.Case, filed []int) {
	first := map[int]int{}
	endings, reasons, missing := map[string]int{}, map[string]int{}, map[string]int{}
	for i, n := range filed {
		l := line(cases[n], b.filings[i])
		if before, again := first[n]; again {
			l.Note = fmt.Sprintf("the same dispute as number %d, which was still open: no second case", before+1)
			r.Cases = append(r.Cases, l)
			continue
		}
		first[n] = i
		r.Cases = append(r.Cases, l)
		endings[l.Ended]++
		count(reasons, l.Reasons)
		count(missing, l.Unknown)
		r.broke(unjustified(cases[n])...)
	}
	automatic := automatic(cases)
	if automatic > 0 {
		r.broke(fmt.Sprintf("%d cases of a bank that keeps no ledger and no settlements were handled without a person", automatic))
	}
	r.Counts = map[string]int{"filings": len(filed), "cases": len(cases), "filed_again": len(filed) - len(cases),
		"automatic": automatic, "with_a_person": len(cases) - automatic}
	r.Tables = []Table{byCount("how the cases ended", "cases", endings, words), byCount("why a person looks", "cases", reasons, words),
		byCount("what the records cannot show", "cases", missing, untold)}
	r.say("%s of an outside bank, %s of them filed again while the first was open, so %s.", plural(len(filed), "filing", "filings"),
		number(len(filed)-len(cases)), plural(len(cases), "case", "cases"))
	r.say("%s handled without a person, %s with a person. That bank keeps no ledger, no settlements, no devices and no time of day: "+
		"its records alone justify no fix.", number(automatic), number(len(cases)-automatic))
}

func count(counts map[string]int, names []string) {
	for _, name := range names {
		counts[name]++
	}
}

func automatic(cases []countersign.Case) (n int) {
	for _, c := range cases {
		if c.HandledBy == countersign.ByPolicy {
			n++
		}
	}
	return n
}

// line says how the case of a filing ended.
func line(c countersign.Case, f tau2Filing) Line {
	l := Line{Case: string(c.ID), Subject: c.Subject.ID, Filing: f.Task + "/" + f.Action, Filed: f.filedAs(), Reason: string(c.Reason), Amount: c.Amount,
		Ended: ended(c), Reasons: []string{}, Established: []countersign.Fact{}, Unknown: []string{}}
	for _, r := range c.Verdict.Reasons {
		l.Reasons = append(l.Reasons, string(r.Code))
	}
	for _, f := range c.Facts.Items {
		if f.State == countersign.Unknown {
			l.Unknown = append(l.Unknown, f.Name)
		} else {
			l.Established = append(l.Established, f)
		}
	}
	return l
}

func ended(c countersign.Case) string {
	if c.Status == countersign.Closed {
		return string(c.HandledBy) + ": " + string(c.Outcome)
	}
	return "a person; proposed: " + c.Recommendation
}

// unjustified names an automatic fix that no fact supports, or that a fact speaks against.
func unjustified(c countersign.Case) []string {
	if c.HandledBy != countersign.ByPolicy {
		return nil
	}
	if c.Facts.Fix == nil || slices.ContainsFunc(c.Facts.Doubts, func(d countersign.Doubt) bool {
		return d.Against == "" || d.Against == c.Facts.Supports
	}) {
		return []string{fmt.Sprintf("case %s on %s was fixed automatically and no fact supports it", c.ID, c.Subject.ID)}
	}
	return nil
}

// tau2Bank is that bank's data as it is written.
type tau2Bank struct {
	Users struct {
		Data map[string]tau2User `json:"data"`
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

type tau2User struct {
	Name  string `json:"name"`
	ID    string `json:"user_id"`
	Email string `json:"email"`
	Phone string `json:"phone_number"`
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

// tau2Filing is one dispute that the benchmark's own solution files. It carries the rows it is about: of those that only
// come to be while a customer talks to the bank, it is the only source.
type tau2Filing struct {
	Task   string `json:"task_id"`
	Action string `json:"action_id"`
	Kind   string `json:"kind"`
	Gold   struct {
		Transaction string `json:"transaction_id"`
		User        string `json:"user_id"`
		Reason      string `json:"dispute_reason"`
		Category    string `json:"dispute_category"`
	} `json:"gold"`
	Transaction *tau2Transaction `json:"transaction"`
	User        *tau2User        `json:"user"`
	Account     *tau2Account     `json:"account"`
	Cards       []tau2Card       `json:"credit_card_accounts"`
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
	if bank.filings, err = lines[tau2Filing](folder, "tau2-banking", "disputes_gold.jsonl"); err != nil {
		return nil, err
	}
	bank.take()
	return bank, nil
}

// OutsideBank is that bank's records in our form, and what its customers dispute, for whoever works them by other ways than the
// suite does. The folder is a Setting's Data.
func OutsideBank(folder string) (set records.Set, disputes []intake.Request, err error) {
	bank, err := readTau2(folder)
	if err != nil {
		return set, nil, err
	}
	for _, f := range bank.filings {
		disputes = append(disputes, f.request())
	}
	return bank.set(), disputes, nil
}

// take adds the rows that only the filings carry.
func (b *tau2Bank) take() {
	for _, f := range b.filings {
		if f.User != nil {
			keep(b.Users.Data, f.User.ID, *f.User)
		}
		if f.Account != nil {
			keep(b.Accounts.Data, f.Account.ID, *f.Account)
		}
		for _, c := range f.Cards {
			keep(b.Cards.Data, c.ID, c)
		}
		if t := f.Transaction; t != nil && t.Account != "" {
			keep(b.BankHistory.Data, t.ID, *t)
		} else if t != nil {
			keep(b.CardHistory.Data, t.ID, *t)
		}
	}
}

// keep adds a row unless there is one: what the bank's own tables say goes before what a filing says.
func keep[T any](rows map[string]T, id string, row T) {
	if _, known := rows[id]; !known {
		rows[id] = row
	}
}

// inOrder is the rows of one of that bank's tables by their keys, so that every run reads them alike.
func inOrder[T any](rows map[string]T) (all []T) {
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, rows[key])
	}
	return all
}

// set converts the bank to our form. It adds nothing: what that bank does not record stays unrecorded.
func (b *tau2Bank) set() (s records.Set) {
	for _, u := range inOrder(b.Users.Data) {
		s.Customers = append(s.Customers, records.Customer{ID: u.ID, Name: u.Name, Email: u.Email, Phone: u.Phone, Flags: []string{}})
	}
	for _, a := range inOrder(b.Accounts.Data) {
		s.Accounts = append(s.Accounts, records.Account{ID: a.ID, CustomerID: a.User, Number: a.ID, Currency: "USD", Kind: a.Class, Status: strings.ToLower(a.Status)})
	}
	for _, c := range inOrder(b.Cards.Data) {
		s.Accounts = append(s.Accounts, records.Account{ID: c.ID, CustomerID: c.User, Number: c.ID, Currency: "USD", Kind: c.Type})
	}
	merchants := map[string]records.Merchant{}
	for _, t := range slices.Concat(inOrder(b.BankHistory.Data), inOrder(b.CardHistory.Data)) {
		r, merchant := b.transaction(t)
		s.Transactions = append(s.Transactions, r)
		if merchant.ID != "" {
			keep(merchants, merchant.ID, merchant)
		}
	}
	s.Merchants = inOrder(merchants)
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
	for _, c := range inOrder(b.Cards.Data) {
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

// filedAs is what that bank's form calls the dispute.
func (f tau2Filing) filedAs() string { return cmp.Or(f.Gold.Reason, f.Gold.Category, f.Kind) }

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
	return intake.Request{SubjectID: f.Gold.Transaction, CustomerID: f.Gold.User, Reason: reason, Notes: f.Story}
}
