//go:build !race

package library

// besides is memory that is no document's.
const besides = 0
