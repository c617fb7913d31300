package web

// keyPanel is the master key that is here, and what it does not open.
type keyPanel struct {
	ID, In string
	Wrong  string   // why it is not the database's key; empty when it is
	Sealed int      // how much there is
	Lost   []string // what needs re-entry, or its own key
}

func (v *visit) masterKey() (p keyPanel, err error) {
	s, err := v.Ring.State(v.r.Context())
	p = keyPanel{ID: s.ID, In: legible(s.In), Sealed: len(s.Things)}
	switch {
	case s.ID != s.Kept:
		p.Wrong = "This database is kept under master key " + s.Kept + ", and another one is here."
	case s.Check != nil:
		p.Wrong = "What this key sealed at the first start does not open: somebody changed the database."
	}
	for _, t := range s.Lost() {
		p.Lost = append(p.Lost, capital(legible(t.Place)))
	}
	return p, err
}
