package bank

import (
	"context"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/desk/bank/rules"
	"countersign/store"
)

// facts reads the records without the model and says what they establish. What cannot be read is an error, and so is a
// transaction that turns out to be another customer's.
func facts(ctx context.Context, v store.View, c countersign.Case) (countersign.Facts, error) {
	b, err := book(ctx, v, c)
	if err != nil {
		return countersign.Facts{}, err
	}
	return rules.Judge(b), nil
}

// waive returns the fix of that kind which a person may take responsibility for, and a hash of what was read for it.
func waive(ctx context.Context, v store.View, c countersign.Case, kind countersign.FixKind) (*countersign.Fix, string, error) {
	b, err := book(ctx, v, c)
	if err != nil {
		return nil, "", err
	}
	fix, err := rules.Waived(b, kind)
	return fix, rules.Seen(b), err
}

// book reads everything that bears on the case's transaction, or the parts that are named, if it is the case's customer's.
func book(ctx context.Context, v store.View, c countersign.Case, parts ...store.Part) (records.Book, error) {
	b, err := v.Book(ctx, c.Subject.ID, parts...)
	if err != nil {
		return b, err
	}
	return b, owned(c, b.Account)
}

// owned refuses an account that is not the case's customer's. The case got its customer from this account when it was
// opened, so this holds unless the books were changed in between.
func owned(c countersign.Case, account records.Account) error {
	if c.Subject.Kind != countersign.TransactionSubject || c.CustomerID == "" || account.CustomerID != c.CustomerID {
		return countersign.Errorf(countersign.Forbidden, "the disputed transaction is not on an account of the case's customer")
	}
	return nil
}
