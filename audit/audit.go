// Package audit is the record of a case: an append-only chain of rows, each holding a hash of the row before it, and the
// verifier that walks such a chain and points at the first step that is not as it was written.
//
// It knows the exact bytes that are hashed (docs/audit-format.md, format version 1), how rows follow one another, and what
// tampering looks like from outside. It promises that a row which Append made and nobody touched verifies for ever, on any
// machine, and that a changed field, a changed payload, a missing, moved or doubled row is named with its case and step.
//
// It does not touch personal data: a row holds a salted commitment to its payload. Payload and salt live elsewhere and may be
// erased; then a row of kind erased says so, and the chain still verifies.
//
// It refuses to guess. A payload that is gone cannot be compared with anything, and the report says "unchecked" instead of
// "intact" or "broken". It also knows what it cannot see: whoever may rewrite a chain, its head and the case together can cut
// the end off, and only a copy kept outside the database shows that.
//
// The package is pure: no database, file, network or clock. Times and salts are arguments.
package audit
