//go:build linux

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"countersign/internal/testdb"
)

// files sets how large a file of a running process may become. It is the one way to run out of disk that any user has.
func (s *server) files(most uint64) {
	s.Helper()
	limit := syscall.Rlimit{Cur: most, Max: ^uint64(0)}
	_, _, err := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(s.cmd.Process.Pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if err != 0 {
		s.Fatalf("limit the files of the server: %v", err)
	}
}

// A server without room answers 503 and changes nothing, and goes on as soon as there is room.
func TestNoRoomOnTheDisk(t *testing.T) {
	t.Parallel()
	const cases = 30
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(cases))
	s := p.serve(p.admin())
	s.disputes(2)
	p.until("there is room as yet", func() bool { return len(s.closed()) == 2 })

	log, err := os.Stat(p.name + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	s.files(uint64(log.Size()) + 20_000) // somewhere in the middle of one of the next commits
	accepted := map[string]bool{"T0": true, "T1": true}
	refused := 0
	for id := range ids(2, cases) {
		switch code := s.dispute(id, "Money left."); code {
		case http.StatusAccepted:
			accepted[id] = true
		case http.StatusServiceUnavailable:
			refused++
		default:
			t.Errorf("POST /disputes answered %d without room, want 202 or 503", code)
		}
	}
	if refused == 0 {
		t.Fatal("the disk never ran out of room")
	}
	s.problem(http.StatusServiceUnavailable, "nothing was changed")
	if code := s.call("GET", "/cases", nil, nil); code != http.StatusOK {
		t.Errorf("GET /cases answered %d without room, want 200: reading needs none", code)
	}

	s.files(^uint64(0))
	p.until("it goes on", func() bool { return s.dispute("T29", "Money left.") < 300 })
	accepted["T29"] = true
	p.until("what was accepted is closed, and nothing else is there", func() bool { return len(s.closed()) == len(accepted) })
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d after SIGTERM, want 0\n%s", code, s.log)
	}
	p.intact(len(accepted))
	model.paidOnce(p)
	if strings.Contains(s.log.String(), "panic") {
		t.Errorf("the log has a panic:\n%s", s.log)
	}
}

// problem opens a dispute and insists on how it is refused.
func (s *server) problem(status int, detail string) {
	s.Helper()
	req, err := http.NewRequest("POST", s.url+"/api/v1/disputes", strings.NewReader(`{"transaction_id":"T28","reason":"failed_transfer","notes":"x"}`))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	var said struct{ Detail string }
	err = json.NewDecoder(res.Body).Decode(&said)
	if err != nil || res.StatusCode != status || res.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(said.Detail, detail) {
		s.Errorf("answered %d %s %q (%v), want %d application/problem+json with %q", res.StatusCode, res.Header.Get("Content-Type"), said.Detail, err, status, detail)
	}
}
