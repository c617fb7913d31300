package countersign

import "strings"

// ActorKind is who or what made a change.
type ActorKind string

const (
	Person    ActorKind = "person"
	Token     ActorKind = "token"
	Worker    ActorKind = "worker"
	Policy    ActorKind = "policy"
	CLI       ActorKind = "cli"
	Migration ActorKind = "migration"
	Source    ActorKind = "source" // a provider that sends signed events
)

// Actor is recorded with every change. The zero Actor is refused by everything that writes.
type Actor struct {
	Kind ActorKind
	ID   string
}

// String is kind:id, the form the record keeps.
func (a Actor) String() string { return string(a.Kind) + ":" + a.ID }

// Valid reports whether the actor names somebody of a known kind.
func (a Actor) Valid() bool {
	switch a.Kind {
	case Person, Token, Worker, Policy, CLI, Migration, Source:
		return a.ID != ""
	}
	return false
}

// ParseActor reads the form that String writes. What it cannot read is the zero Actor, which is not Valid.
func ParseActor(s string) Actor {
	kind, id, _ := strings.Cut(s, ":")
	if a := (Actor{ActorKind(kind), id}); a.Valid() {
		return a
	}
	return Actor{}
}
