package records

import (
	"strings"
	"unicode"

	"countersign"
)

// Array names one of the seven arrays of an import.
type Array string

const (
	Customers     Array = "customers"
	Accounts      Array = "accounts"
	Merchants     Array = "merchants"
	Devices       Array = "devices"
	Transactions  Array = "transactions"
	LedgerEntries Array = "ledger_entries"
	Settlements   Array = "settlements"
)

// Arrays lists the seven, owners before what they own: rows written in this order find what they refer to.
var Arrays = []Array{Customers, Accounts, Merchants, Devices, Transactions, LedgerEntries, Settlements}

// ArrayNamed is the array that a file's name says it holds, whatever is written behind it: transactions.csv,
// "Transactions (1).csv" and ledger-entries_2026-11.csv each name one. A name with two arrays in it names none.
func ArrayNamed(file string) (Array, error) {
	name := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(stem(file)))
	for _, a := range Arrays {
		rest, found := strings.CutPrefix(name, string(a))
		if found && strings.IndexFunc(rest, unicode.IsLetter) != 0 && !mentionsArray(rest) {
			return a, nil
		}
	}
	return "", countersign.Errorf(countersign.Invalid, "the name does not say what the file holds, expected one of %s", joined(Arrays)).
		In("array").Try("call it transactions.csv, or transactions-2026-11.csv")
}

func mentionsArray(name string) bool {
	for _, a := range Arrays {
		if strings.Contains(name, string(a)) {
			return true
		}
	}
	return false
}

// stem is a file's name without its folders and its ending, extension the ending in small letters without the dot. Both
// slashes part folders: a browser on Windows may send a whole path.
func stem(file string) string {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

func extension(file string) string {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return strings.ToLower(name[dot+1:])
	}
	return ""
}
