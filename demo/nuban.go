package demo

import "fmt"

// bankCode is this bank's code. It is invented: no licensed bank had it when this was written.
const bankCode = "979"

// nuban is an account number as Nigerian banks form it: a serial number of nine digits and a check digit over the bank's
// code and the serial, of which only the last ten digits are ever shown (Central Bank of Nigeria, NUBAN standard).
func nuban(serial int) string {
	s := fmt.Sprintf("%09d", serial)
	return s + string('0'+checkDigit(bankCode+s))
}

// checkDigit weighs the twelve digits by 3, 7, 3 over and over and fills the sum up to a multiple of ten.
func checkDigit(digits string) rune {
	sum := 0
	for i, d := range digits {
		weight := 3
		if i%3 == 1 {
			weight = 7
		}
		sum += int(d-'0') * weight
	}
	return rune((10 - sum%10) % 10)
}
