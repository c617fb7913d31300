package auth

import (
	"slices"
	"strings"

	"countersign"
)

// Role is what a token is for, and what a person is here to do.
type Role string

const (
	Analyst  Role = "analyst"
	Approver Role = "approver"
	Auditor  Role = "auditor"
	Admin    Role = "admin"
)

// Roles lists every role.
var Roles = []Role{Analyst, Approver, Auditor, Admin}

// Right is one thing a caller may do, in words that complete "may not …".
type Right string

const (
	Read       Right = "read cases"
	ReadRecord Right = "read records"
	Open       Right = "open disputes"
	Decide     Right = "decide cases"
	Overrule   Right = "decide cases that were raised to approvers"
	Import     Right = "import records"
	Manage     Right = "manage people"
)

// grants says what each role may do. An auditor sees everything and changes nothing. Analysts have all five actions of a
// review until a case is raised: then it is an approver's. What a bank's books
// say is not for analysts to bring in: they would decide cases by what they imported.
var grants = map[Role][]Right{
	Auditor:  {Read, ReadRecord},
	Analyst:  {Read, ReadRecord, Open, Decide},
	Approver: {Read, ReadRecord, Open, Decide, Overrule, Import},
	Admin:    {Read, ReadRecord, Open, Decide, Overrule, Import, Manage},
}

// May reports whether the role has the right. A role that does not exist has none.
func (r Role) May(right Right) bool { return slices.Contains(grants[r], right) }

// MayDecide returns nil if the principal may approve or override the case as it stands, else a Forbidden error: what somebody
// raised to the approvers is theirs.
func (p Principal) MayDecide(c countersign.Case) error {
	if c.Raised {
		return p.Needs(Overrule)
	}
	return p.Needs(Decide)
}

// holders names the roles that have the right: "analyst, approver or admin".
func (r Right) holders() string {
	var names []string
	for _, role := range Roles {
		if role.May(r) {
			names = append(names, string(role))
		}
	}
	return either(names)
}

// either joins words by commas and an "or".
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
