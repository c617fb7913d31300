//go:build race

package library

// besides is what the race detector takes for its own books about the memory of a process.
const besides = 1 << 30
