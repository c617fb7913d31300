package web

import (
	"testing"

	"countersign"
)

func TestASentenceBeginsWithACapitalLetter(t *testing.T) {
	for said, want := range map[string]string{
		"": "", "is missing": "Is missing", "Ünder": "Ünder", "ünder": "Ünder", "“abc” is no amount": "“abc” is no amount", "東京": "東京", "\xff": "\xff",
		"photo.png: line 3 holds a NUL byte": "photo.png: line 3 holds a NUL byte", "reason_code is 13.1": "reason_code is 13.1", "sum: too large": "Sum: too large",
	} {
		if got := capital(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
	}
	for field, want := range map[string]string{"on": "The day has not come yet.", "due_at": "The deadline has not come yet.", "amount.currency": "The currency has not come yet.", "customer_id": "Customer id has not come yet."} {
		if got := sentence(countersign.Errorf(countersign.Invalid, "has not come yet").In(field)); got != want {
			t.Errorf("of %s it says %q, want %q", field, got, want)
		}
	}
}
