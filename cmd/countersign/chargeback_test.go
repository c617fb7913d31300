package main

import "testing"

func TestTheNetworkThatWasMeantIsAtMostTwoLettersAway(t *testing.T) {
	names := []string{"visa", "mastercard", "amex"}
	for typed, want := range map[string]string{"vissa": "visa", "VIZA": "visa", "mastrcrd": "mastercard", "mastrcd": "", "klarna": "", "apex": "amex", "": ""} {
		if got := nearest(typed, names); got != want {
			t.Errorf("%q was meant to be %q, want %q", typed, got, want)
		}
	}
}
