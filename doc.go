// Package countersign holds the words of the product: the nouns that every other package, the screens, the API, the
// documents and the log share, and nothing that stores, fetches or decides.
//
// A dispute is investigated by a language model that is never trusted. The model reads records and proposes; ordinary
// code reads the same records itself, checks every citation, applies a fixed policy, and is the only thing that acts.
// Whatever fails, fails toward a person.
//
// # The words
//
//	case       one dispute or chargeback, from the moment it is opened until it is closed
//	desk       who works it: bank (issuer side) or merchant
//	intake     a request, from any channel, becoming a stored and queued case
//	step       one tool result of an investigation, S1, S2, …; what a citation may point at
//	claim      one sentence of the model's summary, with its citations
//	citation   {ref, field, value}: "step S3 says status is failed"
//	proposal   what the model wants; never more than a proposal
//	facts      what code read in the records itself, each present, absent or unknown
//	reason     why a person must look; no reason at all is the only way to be automatic
//	verdict    automatic or review, with every reason
//	fix        what execution would do: which transaction, how much, which two ledger entries
//	review     what people do: approve, override, escalate, edit the message, retry
//	record     the append-only, hash-chained history of a case; its last row is the head
//
// Network terms keep their own names: dispute, chargeback, reason code, representment, pre-arbitration, arbitration,
// provisional credit. A stage is not a status, and closed is not final.
//
// This package imports the standard library only.
package countersign
