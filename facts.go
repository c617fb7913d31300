package countersign

// FactState is three-valued on purpose: "could not read" is never "not there".
type FactState string

const (
	Present FactState = "present"
	Absent  FactState = "absent"
	Unknown FactState = "unknown"
)

// Fact is one thing that code read in the records itself.
type Fact struct {
	Name   string    `json:"name"`   // stable, snake case: debit_posted, settlement_failed_final
	State  FactState `json:"state"`  //
	Value  string    `json:"value"`  // what was read, masked and short enough for one line
	Source string    `json:"source"` // where: "ledger_entries LE-17", "settlement of TX-9"
	// Amount is the money that Value tells of, for code that reckons with it; nil where it tells of none, or of more than one.
	Amount *Money `json:"amount,omitempty"`
}

// Facts is everything code established about a case without the model, and the fix that it supports, if any.
type Facts struct {
	Items []Fact `json:"items"`
	// Fix is the one fix that the records by themselves justify; nil when they justify none. Ids and amounts of every
	// posting come from here and never from the model.
	Fix *Fix `json:"fix"`
	// Supports is the category that Fix belongs to; empty when Fix is nil.
	Supports DisputeReason `json:"supports,omitempty"`
	// Doubts are the reasons the desk's own rules found while reading: unknown and contradicting facts, fraud signals.
	Doubts []Doubt `json:"doubts"`
	// AtStake is what the dispute is about, as the records have it, for a request that did not say.
	AtStake *Money `json:"at_stake,omitempty"`
	// Seen is a hash of every record row that was read. A fix is applied only while the rows still hash to it.
	Seen string `json:"seen"`
	// Rows is a hash of the rows alone, where Seen is of more than them: a deadline, a policy, what a person typed in. Empty at a desk
	// that reads nothing else.
	Rows string `json:"rows,omitempty"`
	// Partial says that some of the rows could not be read: a hash of what was read is then none of what is there.
	Partial bool `json:"partial,omitempty"`
	// Unreadable says why the records could not be read; everything else is then empty.
	Unreadable string `json:"unreadable,omitempty"`
}

// Doubt is a reason that the desk's rules found in the records, and the proposals it speaks against: those of a category that
// would act, those that want a certain recommendation, or, with neither, every one.
type Doubt struct {
	Against DisputeReason `json:"against,omitempty"`
	Wanting string        `json:"wanting,omitempty"` // a recommendation, in the desk's own words
	Fact    string        `json:"fact,omitempty"`    // the fact that it was found in, by name
	Reason  Reason        `json:"reason"`
}

// Fact returns the fact of that name, unknown if it was never read.
func (f Facts) Fact(name string) Fact {
	for _, item := range f.Items {
		if item.Name == name {
			return item
		}
	}
	return Fact{Name: name, State: Unknown}
}
