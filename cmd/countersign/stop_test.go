package main

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"countersign/internal/testdb"
	"countersign/redact"
)

// asked fails the test unless every conversation asked for the turn so many times.
func (m *modelServer) askedTimes(t *testing.T, turn, conversations, times int) {
	t.Helper()
	if n, most := m.counts(turn); n != conversations || most != times {
		t.Errorf("turn %d was asked for by %d conversations, up to %d times; want %d and %d", turn, n, most, conversations, times)
	}
}

func TestAStopLetsTheModelFinish(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(2))
	release := model.holdTurn(2)
	s := p.serve(p.admin())
	s.disputes(2)
	p.until("both cases wait for their second turn", model.waiting(2, 2))

	s.terminate()
	p.until("no request is taken any more", s.gone)
	release()
	if code := s.wait(); code != 0 {
		t.Errorf("serve ended with %d after SIGTERM, want 0\n%s", code, s.log)
	}
	model.askedTimes(t, 2, 2, 1)
	p.intact(2) // both ended before the process did
}

func TestAStopGivesUpOnAModelThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(2))
	release := model.holdTurn(2)
	defer release()
	s := p.serve(p.admin(), "--grace", "300ms")
	s.disputes(2)
	p.until("both cases wait for their second turn", model.waiting(2, 2))
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d after SIGTERM, want 0\n%s", code, s.log)
	}
	if !strings.Contains(p.must("doctor"), "2 being investigated") {
		t.Errorf("a case that was cut short must wait to be gone on with:\n%s", p.must("doctor"))
	}

	release()
	s = p.serve(s.token)
	p.until("both cases are closed", func() bool { return len(s.closed()) == 2 })
	s.stop()
	model.askedTimes(t, 1, 2, 1)
	model.askedTimes(t, 2, 2, 2)
	p.intact(2)
}

func TestASecondSignalEndsItAtOnce(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(1))
	release := model.holdTurn(2)
	defer release()
	s := p.serve(p.admin(), "--grace", "1h")
	s.disputes(1)
	p.until("the case waits for its second turn", model.waiting(2, 1))

	s.terminate()
	p.until("no request is taken any more", s.gone)
	s.terminate()
	s.wait()
	if status := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want the signal", s.cmd.ProcessState)
	}
	release()
	s = p.serve(s.token)
	p.until("the case is closed", func() bool { return len(s.closed()) == 1 })
	model.askedTimes(t, 1, 1, 1)
	p.intact(1)
}

// An event stream never ends by itself; a stop ends it in good order and does not wait for it.
func TestAStopEndsEventStreams(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(1))
	s := p.serve(p.admin())
	s.disputes(1)
	p.until("the case is closed", func() bool { return len(s.closed()) == 1 })

	req, err := http.NewRequest("GET", s.url+"/api/v1/cases/"+s.closed()[0]+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", res, err)
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil {
		t.Fatalf("the stream did not begin: %v", err)
	}
	s.terminate()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Errorf("the stream was broken off: %v", err)
	}
	if code := s.wait(); code != 0 || strings.Contains(s.log.String(), "cut off") {
		t.Errorf("serve ended with %d\n%s", code, s.log)
	}
}

// One process works a SQLite database. The others may do everything else meanwhile.
func TestASecondServeOnTheSameSQLite(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	p.imports(failedTransfers(2))
	s := p.serve(p.admin())
	says := redact.Mask("another countersign is already working on " + p.name).String() // a folder's number may look like an account's
	for _, command := range []string{"serve --addr 127.0.0.1:0", "worker"} {
		second := p.start(strings.Fields(command)...)
		if code := second.wait(); code != 1 || !strings.Contains(second.log.String(), says) {
			t.Errorf("%s ended with %d and said %q", command, code, second.log)
		}
	}
	if out := p.must("investigate", "--transaction", "T0", "--reason", "failed_transfer"); !strings.Contains(out, "closed: resolved, by policy") {
		t.Errorf("a dispute from the terminal, worked by the server:\n%s", out)
	}
	p.must("audit", "verify")
	p.must("import", "records", "--dry-run", p.file(failedTransfers(3)))
	if code := s.health("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answered %d", code)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d\n%s", code, s.log)
	}
}

// The master key that a database was made with is missed when another takes its place.
func TestAnotherMasterKeyIsSaid(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	p.must("migrate")
	other := newProgram(t, testdb.SQLite(t))
	other.must("migrate")
	p.env = append(p.env, "COUNTERSIGN_MASTER_KEY_FILE="+other.data()+"/master.key")
	s := p.serve("")
	s.stop()
	if !strings.Contains(s.log.String(), "this is not the master key that the database is kept under") {
		t.Errorf("the log says nothing about the key:\n%s", s.log)
	}
}
