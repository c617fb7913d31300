package app

import (
	"maps"
	"slices"
	"strings"

	"countersign"
	"countersign/store"
)

// Knows refuses a workload that limits a desk which there is not: it would limit nothing, and nobody would notice.
func (a *App) Knows(w store.Workload) error {
	var desks []string
	for name := range a.Desks {
		desks = append(desks, string(name))
	}
	slices.Sort(desks)
	for _, pool := range slices.Sorted(maps.Keys(w.MaxCases)) {
		name, ok := strings.CutPrefix(pool, store.DeskPool(""))
		if ok && !slices.Contains(desks, name) {
			return countersign.Errorf(countersign.Invalid, "there is no desk %q; expected one of %s", name, strings.Join(desks, ", ")).In("max_cases")
		}
	}
	return nil
}
