package answer

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"countersign"
)

func TestStatus(t *testing.T) {
	conflict := countersign.Errorf(countersign.Conflict, "it changed")
	if Told(fmt.Errorf("decide: %w", conflict)) != conflict || Status(countersign.Conflict) != http.StatusConflict {
		t.Errorf("a conflict is %d", Status(countersign.Conflict))
	}
	for _, kind := range []countersign.ErrorKind{countersign.Internal, "", "made up"} {
		if e := Told(countersign.Errorf(kind, "a table is gone")); e != nil || Status(kind) != http.StatusInternalServerError {
			t.Errorf("%q is %d, and its text is told: %v", kind, Status(kind), e)
		}
	}
	if Told(nil) != nil || Told(errors.New("a table is gone")) != nil {
		t.Error("what is no error of ours is told")
	}
}

func TestMethod(t *testing.T) {
	for sent, want := range map[string]string{"GET": "GET", "POST": "POST", "get": "other", "BREW": "other", "GET POST": "other"} {
		if got := Method(&http.Request{Method: sent}); got != want {
			t.Errorf("%q is logged as %q, want %q", sent, got, want)
		}
	}
}

func TestSent(t *testing.T) {
	for name, row := range map[string]struct {
		send  func(http.ResponseWriter)
		begun bool
		want  int
	}{
		"nothing":                  {func(http.ResponseWriter) {}, false, 200},
		"a body alone":             {func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) }, true, 200},
		"a status":                 {func(w http.ResponseWriter) { w.WriteHeader(404) }, true, 404},
		"a status before the last": {func(w http.ResponseWriter) { w.WriteHeader(103) }, false, 200},
		"the first status counts":  {func(w http.ResponseWriter) { w.WriteHeader(409); w.WriteHeader(500) }, true, 409},
	} {
		s := To(httptest.NewRecorder())
		row.send(s)
		if s.Begun() != row.begun || s.Status() != row.want {
			t.Errorf("after %s: begun %v, status %d; want %v, %d", name, s.Begun(), s.Status(), row.begun, row.want)
		}
	}
	t.Run("a reader who takes nothing does not keep it for ever", func(t *testing.T) {
		ended := make(chan error, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			s := To(w)
			s.patience = 50 * time.Millisecond
			var err error
			for part := make([]byte, 1<<20); err == nil; {
				_, err = s.Write(part)
			}
			ended <- err
		}))
		defer server.Close()
		res, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("a connection whose answer took long is good for the next one", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s := To(w)
			if r.URL.Path == "/first" {
				s.patience = time.Nanosecond
				s.again()
				s.patience = time.Minute
			}
			s.WriteHeader(http.StatusNoContent)
		}))
		defer server.Close()
		for _, path := range []string{"/first", "/second"} {
			res, err := server.Client().Get(server.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		}
	})
	t.Run("its reader has so much time for each part, unless a handler says otherwise", func(t *testing.T) {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		s := To(w)
		w.within(t, slowest)
		s.WriteHeader(http.StatusOK)
		w.within(t, slowest)
		_, _ = s.Write([]byte("x"))
		w.within(t, slowest)
		if err := http.NewResponseController(s).SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		w.within(t, time.Second)
		if _, _ = s.Write([]byte("x")); !w.until.IsZero() {
			t.Errorf("what the handler said is overruled: it has until %s", w.until)
		}
	})
	t.Run("it can be flushed", func(t *testing.T) {
		if err := http.NewResponseController(To(httptest.NewRecorder())).Flush(); err != nil {
			t.Error(err)
		}
	})
}

// timed remembers by when its reader must have taken what is sent.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.until = at
	return nil
}

// within fails the test unless a deadline was set since it was last asked, as long from now as that, or less.
func (w *timed) within(t *testing.T, most time.Duration) {
	t.Helper()
	if w.until.IsZero() || time.Until(w.until) > most {
		t.Errorf("its reader has until %s, want %s from now", w.until, most)
	}
	w.until = time.Time{}
}
