// Package answer knows what every HTTP answer of this program has in common, whoever reads it: which status an error is, what
// has been sent so far, which of a request's own words may stand in a log, and what is believed of the way that it came.
package answer

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"countersign"
)

var statuses = map[countersign.ErrorKind]int{
	countersign.Invalid:      http.StatusBadRequest,
	countersign.NotFound:     http.StatusNotFound,
	countersign.Conflict:     http.StatusConflict,
	countersign.Unauthorized: http.StatusUnauthorized,
	countersign.Forbidden:    http.StatusForbidden,
	countersign.Unprocessed:  http.StatusUnprocessableEntity,
	countersign.TooLarge:     http.StatusRequestEntityTooLarge,
	countersign.Precondition: http.StatusPreconditionRequired,
	countersign.Unavailable:  http.StatusServiceUnavailable,
	countersign.Altered:      http.StatusInternalServerError,
}

// Status is the status of an error of that kind: 500 for one whose text is not for the caller.
func Status(kind countersign.ErrorKind) int {
	if status := statuses[kind]; status != 0 {
		return status
	}
	return http.StatusInternalServerError
}

// Told is the error whose text is for the caller to read; nil when err is none, or one for operators alone.
func Told(err error) *countersign.Error {
	var e *countersign.Error
	if errors.As(err, &e) && statuses[e.Kind] != 0 {
		return e
	}
	return nil
}

// Method is the request's method, if it is one that anybody uses: it is the caller's text.
func Method(r *http.Request) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, r.Method) {
		return r.Method
	}
	return "other"
}

// Sent is an answer that remembers its status, and breaks off one that its reader does not take. Unwrap lets event streams flush
// through it.
type Sent struct {
	http.ResponseWriter
	status   int
	patience time.Duration // with a reader who takes nothing; zero when the handler sees to it
}

// slowest is how long the reader of an answer may take for a part of it. Somebody who asks for an export and does not read it
// would hold its snapshot of the database, and with it everything that the database would otherwise clear away.
const slowest = time.Minute

// To begins an answer.
func To(w http.ResponseWriter) *Sent { return (&Sent{ResponseWriter: w, patience: slowest}).again() }

// again gives the reader time anew. Not every writer has a deadline.
func (s *Sent) again() *Sent {
	if s.patience > 0 {
		_ = http.NewResponseController(s.ResponseWriter).SetWriteDeadline(time.Now().Add(s.patience))
	}
	return s
}

// SetWriteDeadline is for http.ResponseController: a handler that sets one sees to it from there on.
func (s *Sent) SetWriteDeadline(at time.Time) error {
	s.patience = 0
	return http.NewResponseController(s.ResponseWriter).SetWriteDeadline(at)
}

// Begun reports whether a status has been sent: the answer can then only be broken off.
func (s *Sent) Begun() bool { return s.status != 0 }

// Status is what was sent; 200 when nothing was written, which net/http then sends.
func (s *Sent) Status() int {
	if s.status == 0 {
		return http.StatusOK
	}
	return s.status
}

// Unwrap is for http.ResponseController.
func (s *Sent) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader remembers the status; those before the last, below 200, are none yet.
func (s *Sent) WriteHeader(status int) {
	if s.status == 0 && status >= 200 {
		s.status = status
	}
	s.again()
	s.ResponseWriter.WriteHeader(status)
}

// Write sends 200 first, if no status was sent.
func (s *Sent) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	s.again()
	return s.ResponseWriter.Write(b)
}
