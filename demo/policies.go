package demo

import (
	"bytes"
	"embed"
	"time"

	"github.com/go-pdf/fpdf"
)

//go:embed policies
var policies embed.FS

// Policy is one of the invented shop's policy documents, as a file that somebody would upload.
type Policy struct {
	File      string
	ValidFrom string // the day it came into force
	Bytes     []byte
}

// Policies are the shop's four: Markdown, HTML, plain text, and one that exists only as a PDF.
func Policies() ([]Policy, error) {
	all := []Policy{{File: "returns.md", ValidFrom: "2026-01-01"}, {File: "payments.html", ValidFrom: "2026-01-01"}, {File: "subscriptions.txt", ValidFrom: "2026-03-01"}}
	for i := range all {
		b, err := policies.ReadFile("policies/" + all[i].File)
		if err != nil {
			return nil, err
		}
		all[i].Bytes = b
	}
	pdf, err := shippingPDF()
	return append(all, Policy{File: "shipping.pdf", ValidFrom: "2026-01-01", Bytes: pdf}), err
}

// shipping is the text of the document that is a PDF.
var shipping = []struct{ heading, text string }{
	{"", "Version 4. In force from 1 January 2026."},
	{"How long delivery takes", "Orders are shipped within two working days. Delivery within the country takes three to five working days; abroad it takes up to twelve. The carrier's tracking number is sent by e-mail on the day of shipping."},
	{"When an order counts as delivered", "An order counts as delivered when the carrier records the delivery at the address given in the order. For parcels worth more than 200 US dollars a signature is taken at the door."},
	{"When nothing arrived", "If tracking shows no movement for seven days, tell us: we open a trace with the carrier and answer within ten days. A parcel that the carrier declares lost is sent again or refunded in full, as the customer prefers."},
	{"Several parcels", "An order may travel in several parcels. It counts as delivered when the last of them was delivered."},
	{"Wrong addresses", "A parcel that comes back because the address was wrong or nobody took it in is sent again once the customer has paid the second shipping."},
}

// shippingPDF makes the same bytes each time: its dates are those of the document and not of the machine.
func shippingPDF() ([]byte, error) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.SetCreationDate(made)
	pdf.SetModificationDate(made)
	pdf.SetCatalogSort(true)
	pdf.SetTitle("Shipping and Delivery", false)
	pdf.SetMargins(25, 25, 25)
	pdf.AddPage()
	pdf.SetFont("Times", "B", 20)
	pdf.MultiCell(0, 10, "Shipping and Delivery", "", "L", false)
	for _, part := range shipping {
		if part.heading != "" {
			pdf.Ln(3)
			pdf.SetFont("Times", "B", 13)
			pdf.MultiCell(0, 8, part.heading, "", "L", false)
		}
		pdf.SetFont("Times", "", 11)
		pdf.MultiCell(0, 6, part.text, "", "L", false)
	}
	var b bytes.Buffer
	err := pdf.Output(&b)
	return b.Bytes(), err
}
