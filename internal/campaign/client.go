//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"countersign"
)

// screen is what a command printed.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// seen is a case as the API shows it.
type seen struct {
	ID        countersign.CaseID    `json:"id"`
	Status    countersign.Status    `json:"status"`
	Outcome   countersign.Outcome   `json:"outcome"`
	HandledBy countersign.HandledBy `json:"handled_by"`
	Message   string                `json:"message"`
	Raised    bool                  `json:"raised"`
	Round     int                   `json:"round"`
	Revision  int64                 `json:"revision"`
	Verdict   struct {
		Reasons []struct {
			Code countersign.ReasonCode `json:"code"`
		} `json:"reasons"`
	} `json:"verdict"`
}

func (s seen) rests() bool {
	return s.Status == countersign.InReview || s.Status == countersign.Closed
}

// disturbed reports whether a fault left its mark on the investigation: then the person has it done again.
func (s seen) disturbed() bool {
	for _, r := range s.Verdict.Reasons {
		if slices.Contains([]countersign.ReasonCode{countersign.FactsUnreadable, countersign.FactsUnknown, countersign.ModelFailed, countersign.EvidenceInvalid,
			countersign.EvidenceTooLittle, countersign.FixNotApplicable, countersign.QuoteUnverified, countersign.OrderNotFound}, r.Code) {
			return true
		}
	}
	return false
}

var client = http.Client{Timeout: 20 * time.Second}

// once asks one time. Status 0 means that no answer came, or not all of it: nobody knows what happened.
func (w *world) once(method, path string, header map[string]string, body any) (status int, answer []byte) {
	b, err := json.Marshal(body)
	if err != nil {
		w.wrong("a request cannot be written: %v", err)
	}
	req, err := http.NewRequest(method, "http://"+w.addr+path, bytes.NewReader(b))
	if err != nil {
		w.wrong("a request cannot be made: %v", err)
		return 0, nil
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		w.tally.answered(w.engine, 0)
		return 0, nil
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		w.tally.answered(w.engine, 0)
		return 0, nil
	}
	w.tally.answered(w.engine, res.StatusCode)
	if res.StatusCode == http.StatusInternalServerError {
		w.tally.note(w.engine, "500: "+string(answer))
	}
	return res.StatusCode, answer
}

// ask asks until there is an answer that says what happened.
func (w *world) ask(method, path string, header map[string]string, body any) (status int, answer []byte) {
	for begun := time.Now(); time.Since(begun) < patience; w.pauseFor(50 * time.Millisecond) {
		if status, answer = w.once(method, path, header, body); status != 0 && status < 500 {
			return status, answer
		}
	}
	w.wrong("%s %s: no answer that says anything, at last %d %s", method, path, status, answer)
	return status, answer
}

// see reads a case.
func (w *world) see(id countersign.CaseID) (s seen) {
	status, answer := w.ask("GET", "/api/v1/cases/"+string(id), nil, nil)
	if err := json.Unmarshal(answer, &s); err != nil || status != http.StatusOK {
		w.wrong("case %s, which was answered: %d %s", id, status, answer)
	}
	return s
}

// await waits until a case is with a person or closed.
func (w *world) await(id countersign.CaseID) (s seen) {
	for begun := time.Now(); time.Since(begun) < patience; w.pauseFor(100 * time.Millisecond) {
		if s = w.see(id); s.rests() || s.ID == "" {
			return s
		}
	}
	w.wrong("case %s does not move any more: it is %s", id, s.Status)
	return s
}

// act decides on a case until that is done, by nobody else: a revision lets only one of two such requests through. False means that
// it is refused for good, and then nothing may have changed.
func (w *world) act(id countersign.CaseID, verb string, body any, done func(seen) bool) bool {
	tried, refused := false, 0
	for begun := time.Now(); time.Since(begun) < patience; w.pauseFor(50 * time.Millisecond) {
		s := w.see(id)
		if tried && done(s) {
			return true
		}
		status, answer := w.once("POST", "/api/v1/cases/"+string(id)+"/"+verb, map[string]string{"If-Match": strconv.FormatInt(s.Revision, 10)}, body)
		tried = true
		switch {
		case status == http.StatusOK:
			return true
		case status == http.StatusConflict: // somebody's revision, what could not be read at the moment, or a refusal
			if refused++; refused == 5 {
				w.tally.note(w.engine, verb+" refused: "+string(answer))
				return false
			}
		case status >= 400 && status < 500:
			w.wrong("%s of case %s: %d %s", verb, id, status, answer)
			return false
		}
	}
	w.wrong("%s of case %s is never done", verb, id)
	return false
}
