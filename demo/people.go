package demo

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"countersign"
	"countersign/desk/bank/records"
)

// person is one customer.
type person struct {
	name, city string
	dollars    bool   // has a USD account too
	flag       string // of the bank's own watch list
}

// people are the customers, invented one and all. Stories name them by their place in this list.
var people = []person{
	{name: "Adaeze Okonkwo", city: "Lagos"},
	{name: "Chinedu Balogun", city: "Enugu"},
	{name: "Oluwaseun Adeyemi", city: "Ibadan"},
	{name: "Amina Bello", city: "Kano"},
	{name: "Ifeoma Eze", city: "Onitsha"},
	{name: "Tunde Lawal", city: "Lagos"},
	{name: "Ngozi Nwosu", city: "Owerri"},
	{name: "Musa Danjuma", city: "Jos"},
	{name: "Fọlákẹ́ Afọlábí", city: "Abeokuta"},
	{name: "Emeka Okafor", city: "Awka"},
	{name: "Zainab Abubakar", city: "Kaduna"},
	{name: "Kelechi Onyeka", city: "Port Harcourt"},
	{name: "Bisi Ogunleye", city: "Lagos", dollars: true},
	{name: "Ibrahim Suleiman", city: "Abuja"},
	{name: "Nkechi Obi", city: "Asaba"},
	{name: "Segun Adebayo", city: "Lagos"},
	{name: "Halima Usman", city: "Sokoto", flag: "mule_suspect_2026"},
	{name: "Uche Nnadi", city: "Aba"},
	{name: "Yéwándé Oyèlárán", city: "Ilorin"},
	{name: "Sani Garba", city: "Katsina"},
	{name: "Ebere Ugwu", city: "Nsukka"},
	{name: "Dare Fashola", city: "Lagos"},
	{name: "Aisha Mohammed", city: "Maiduguri"},
	{name: "Obinna Chukwu", city: "Lagos", dollars: true},
	{name: "Kemi Olatunji", city: "Akure"},
	{name: "Bashir Aliyu", city: "Zaria"},
	{name: "Chioma Anyanwu", city: "Umuahia"},
	{name: "Femi Durojaiye", city: "Lagos"},
	{name: "Hauwa Ibrahim", city: "Bauchi"},
	{name: "Ikenna Madu", city: "Abakaliki"},
	{name: "Tola Shittu", city: "Lagos"},
	{name: "Garba Yusuf", city: "Gombe"},
	{name: "Amarachi Nwachukwu", city: "Abuja"},
	{name: "Wale Akinola", city: "Osogbo"},
	{name: "Maryam Tijani", city: "Minna"},
	{name: "Nnamdi Ike", city: "Lagos", dollars: true},
	{name: "Rónkẹ́ Bámidélé", city: "Ado Ekiti"},
	{name: "Yakubu Dogo", city: "Lafia"},
	{name: "Efe Omoregie", city: "Benin City"},
	{name: "Ini Udoh", city: "Uyo"},
}

var phones = []string{"Tecno Spark 20", "Infinix Hot 40", "Samsung Galaxy A15", "itel A70", "Redmi 13C", "iPhone 12"}

func customerID(i int) string { return fmt.Sprintf("C-%04d", 1001+i) }

func accountID(i int, currency string) string { return fmt.Sprintf("A-%04d-%s", 1001+i, currency) }

// deviceID is the phone that a customer has had for long.
func deviceID(i int) string { return fmt.Sprintf("DV-%04d-1", 1001+i) }

// join makes a customer of a person, with accounts and a phone that both have known each other for months.
func (b *books) join(i int) {
	p, roll := people[i], dice(i)
	joined := b.before(time.Duration(400+roll.IntN(2000)) * day)
	customer := records.Customer{
		ID: customerID(i), Name: p.name, Email: ascii(p.name) + "@mail.example", Phone: fmt.Sprintf("+234800000%04d", 1001+i),
		HomeCity: p.city, HomeCountry: "NG", JoinedAt: countersign.At(joined),
	}
	if p.flag != "" {
		customer.Flags = []string{p.flag}
	}
	b.set.Customers = append(b.set.Customers, customer)
	b.set.Accounts = append(b.set.Accounts, account(i, "NGN", 200_000_000+i*7919))
	if p.dollars {
		b.set.Accounts = append(b.set.Accounts, account(i, "USD", 700_000_000+i*7919))
	}
	known := true
	b.set.Devices = append(b.set.Devices, records.Device{
		ID: deviceID(i), CustomerID: customerID(i), Label: phones[roll.IntN(len(phones))], City: p.city, Country: "NG", Trusted: &known,
		FirstSeenAt: countersign.At(b.before(time.Duration(150+roll.IntN(200)) * day)), LastSeenAt: countersign.At(b.before(time.Hour)),
	})
}

func account(i int, currency string, serial int) records.Account {
	return records.Account{
		ID: accountID(i, currency), CustomerID: customerID(i), Number: nuban(serial), Currency: currency, Kind: "savings", Status: "active",
	}
}

// ascii is a name as an address spells it.
func ascii(name string) string {
	plain := strings.NewReplacer("ọ", "o", "ẹ", "e", "á", "a", "é", "e", "í", "i", "ó", "o", "è", "e", "à", "a").Replace(strings.ToLower(name))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '.'
		case r > unicode.MaxASCII:
			return -1
		}
		return r
	}, plain)
}
