package main

import (
	"testing"
	"time"

	"countersign/internal/testdb"
)

// TestEveryCaseEndsOnceWhateverBecomesOfTheMachines is the campaign, small: each thing that may happen happens.
func TestEveryCaseEndsOnceWhateverBecomesOfTheMachines(t *testing.T) {
	t.Parallel()
	p := plan{Database: testdb.Postgres(t), Folder: t.TempDir(), Cases: 300, Workers: 2, Serves: 2, Kills: 2, Every: 2 * time.Second, Cuts: 1, Cut: 3 * time.Second,
		Limit: 6, Seed: 20261201, Patience: 5 * time.Minute, Say: t.Logf}
	var err error
	if p.Program, err = build(t.Context(), p.Folder); err != nil {
		t.Fatal(err)
	}
	found, err := p.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range found {
		t.Error(one)
	}
}
