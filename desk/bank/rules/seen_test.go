package rules

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"countersign"
	"countersign/desk/bank/records"
)

// full is a book with a row in every place.
func full() book {
	b := duplicateBook()
	third(&b, func(t *records.Transaction) { t.OccurredAt = at("18:00:00") })
	b.SameEndToEnd = []records.Transaction{credit("A-9", records.Posted)}
	b.Customer.Flags, b.Fixed = []string{"x"}, []string{"T-2"}
	d := b.Devices[0] // a row of its own, so that one change is one change
	b.Device = &d
	return b
}

// TestSeenCoversWhatIsRead changes every field of every row, one at a time. A field added to a record later is covered here
// without anybody thinking of it.
func TestSeenCoversWhatIsRead(t *testing.T) {
	unread := map[string]bool{ // no rule reads these
		"Customer.Name": true, "Customer.Email": true, "Customer.Phone": true, "Customer.JoinedAt": true, "Account.Kind": true,
		"Merchant.Name": true, "Merchant.Category": true, "Merchant.Country": true,
		"Device.Label": true, "Device.LastSeenAt": true, "Devices[0].Label": true, "Devices[0].LastSeenAt": true, "Devices[1].Label": true, "Devices[1].LastSeenAt": true,
	}
	b := full()
	before, changed := Seen(b), 0
	each(reflect.ValueOf(&b).Elem(), "", func(name string, field reflect.Value) {
		old := reflect.ValueOf(field.Interface())
		differ(field)
		got := Seen(b) != before
		field.Set(old)
		recent := strings.HasPrefix(name, "Recent[") && !strings.HasSuffix(name, "].ID") && !strings.HasSuffix(name, "].OccurredAt") && !strings.HasSuffix(name, "].Direction")
		if want := !unread[name] && !recent; got != want {
			t.Errorf("%s changed: seen changed is %v, want %v", name, got, want)
		}
		changed++
	})
	if changed < 150 || Seen(b) != before {
		t.Fatalf("%d fields changed, and put back is %v", changed, Seen(b) == before)
	}
}

// each visits every field of every row.
func each(v reflect.Value, name string, visit func(string, reflect.Value)) {
	switch {
	case v.Type() == reflect.TypeFor[countersign.When](), v.Kind() != reflect.Struct && v.Kind() != reflect.Slice && v.Kind() != reflect.Pointer, v.Type() == reflect.TypeFor[*bool]():
		visit(strings.TrimPrefix(name, "."), v)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), name+"."+v.Type().Field(i).Name, visit)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), name+"["+string(rune('0'+i))+"]", visit)
		}
	default:
		each(v.Elem(), name, visit)
	}
}

// differ gives a field another value.
func differ(v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *bool:
		*p = !*p
	case *int64:
		*p++
	case **bool:
		*p = nil
	case *countersign.When:
		*p = at("09:17:00")
	default:
		v.SetString(v.String() + "x")
	}
}

func TestSeenIgnores(t *testing.T) {
	before := Seen(full())
	for name, change := range map[string]func(*book){
		"the order in which rows were read": func(b *book) {
			for _, list := range [][]records.Transaction{b.Like, b.Recent} {
				slices.Reverse(list)
			}
			slices.Reverse(b.LikeEntries)
			slices.Reverse(b.Devices)
		},
		"a phone bought after the payment": func(b *book) {
			b.Devices = append(b.Devices, records.Device{ID: "D-3", CustomerID: "C-1", FirstSeenAt: at("20:00:00"), City: "Lagos"})
		},
		"a debit later that day": func(b *book) {
			b.Recent = append(b.Recent, records.Transaction{ID: "T-7", Direction: countersign.Debit, OccurredAt: at("20:00:00")})
		},
		"the same charge next month": func(b *book) {
			third(b, func(t *records.Transaction) { t.ID, t.OccurredAt = "T-7", when("2026-12-28T09:14:00Z") })
			b.LikeEntries[len(b.LikeEntries)-1].TransactionID = "T-7"
		},
		"another merchant's charge": func(b *book) { third(b, func(t *records.Transaction) { t.ID, t.MerchantID = "T-7", "M-2" }) },
	} {
		t.Run(name, func(t *testing.T) {
			b := full()
			change(&b)
			if Seen(b) != before {
				t.Error("seen changed")
			}
		})
	}
}

func TestSeenTellsPartsApart(t *testing.T) {
	a, b := failedBook(), failedBook()
	a.Like, b.SameEndToEnd = []records.Transaction{a.Transaction}, []records.Transaction{b.Transaction}
	if Seen(a) == Seen(b) {
		t.Error("a row is the same in whatever part it stands")
	}
}

func TestFactsAreTheSameEveryTime(t *testing.T) {
	first, again := Judge(full()), Judge(full())
	if !reflect.DeepEqual(first, again) {
		t.Error("two answers for one book")
	}
}

// TestFactsShowNoAccountNumber: facts and doubts are shown, stored and logged.
func TestFactsShowNoAccountNumber(t *testing.T) {
	for _, b := range []book{full(), twiceBook(), failedBook()} {
		f := Judge(b)
		if len(f.Items) < 12 {
			t.Errorf("only %d facts", len(f.Items))
		}
		names := map[string]bool{}
		for _, item := range f.Items {
			if strings.Contains(item.Value+item.Source, "0000014579") || strings.Contains(item.Value+item.Source, "0000022222") {
				t.Errorf("%s shows an account number: %q", item.Name, item.Value)
			}
			if names[item.Name] || item.Source == "" || item.State == "" {
				t.Errorf("twice, or without state or source: %+v", item)
			}
			names[item.Name] = true
		}
	}
}
