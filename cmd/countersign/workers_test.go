package main

import (
	"testing"

	"countersign/internal/testdb"
)

// On PostgreSQL any number of processes share the work. Cases that are opened at one are worked by others, and when one of them
// dies its cases go on elsewhere once its lease has run out, from what it had recorded.
func TestWorkersShareAndInherit(t *testing.T) {
	t.Parallel()
	const cases = 3
	model := newModelServer(t)
	p := newProgram(t, testdb.Postgres(t), model.env()...)
	p.imports(failedTransfers(cases))
	release := model.holdTurn(2)
	defer release()
	s := p.serve(p.admin(), "--workers", "1")
	first, second := p.start("worker", "--workers", "1"), p.start("worker", "--workers", "1")
	s.disputes(cases)
	p.until("each of three processes waits for a second turn", model.waiting(2, cases))

	first.kill()
	release()
	p.until("every case is closed", func() bool { return len(s.closed()) == cases })
	if code := second.stop(); code != 0 {
		t.Errorf("worker ended with %d after SIGTERM, want 0\n%s", code, second.log)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d after SIGTERM, want 0\n%s", code, s.log)
	}
	p.intact(cases)
	model.paidOnce(p)
	model.askedTimes(t, 1, cases, 1)
	if n := len(p.takers()); n != 3 {
		t.Errorf("%d processes took cases, want 3", n)
	}
}

// takers counts, by the process that did it, how often a case was taken up.
func (p *program) takers() map[string]int {
	p.Helper()
	taken := map[string]int{}
	for _, row := range rows[struct{ Kind, Actor string }](p) {
		if row.Kind == "started" {
			taken[row.Actor]++
		}
	}
	return taken
}
