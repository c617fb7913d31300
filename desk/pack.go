package desk

// Pack is what would be sent of a case, measured before a person decides. It informs, and keeps nobody from deciding.
type Pack struct {
	Files    int // that people added
	Pages    int
	Size     string   // in words; empty when it could not be made
	Receiver string   // whose limits it was held against
	Limits   []string // what is known of them, in words
	Problems []PackProblem
	Free     string // what it comes to that there are no problems
}

// ClausePrefix begins the name of a clause; the number of the quote in the proposal follows, from 1 on. The record keeps names, so it
// stays what it is.
const ClausePrefix = "clause_"

// Clause is a passage of a policy that a report would quote. Whoever decides may leave it out, by its name.
type Clause struct {
	Name, Document, Version string
	Page                    int // 0 where the document has none
	Quote                   string
	Found                   string // how it was found there, in words
}

// PackProblem is one thing that the receiver would not take, or would charge for, and what can be done.
type PackProblem struct {
	Text    string
	Try     string
	Refused bool // they would not take it; otherwise it only costs
}
