package follow

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
)

// Stream is an answer of server-sent events.
type Stream struct {
	w       io.Writer
	control *http.ResponseController
}

// mostBehind is how long a caller may take to receive what was written. One who does not read is left behind, and may come
// back with the id of the last event.
const mostBehind = 10 * time.Second

// Open sends the headers of a stream and how soon a caller may come back. A deadline for reading the request would end the
// stream, so there is none any more.
func Open(w http.ResponseWriter, r *http.Request) (*Stream, error) {
	s := &Stream{w: w, control: http.NewResponseController(w)}
	_ = s.control.SetReadDeadline(time.Time{}) // not every writer has one
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return s, nil
	}
	return s, s.send("retry: 1000\n\n")
}

// Event writes one event; without a name it is the kind that every reader gets, without an id (0) there is none to go on from.
// Data may have several lines.
func (s *Stream) Event(name string, id int64, data string) error {
	var b strings.Builder
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(lineEnds.Replace(data), "\n"), "\n") {
		fmt.Fprintf(&b, "data: %s\n", line)
	}
	b.WriteString("\n")
	return s.send(b.String())
}

// lineEnds are all that end a line for a reader of events: one that was left in data would let its writer begin a field.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Beat writes a comment, which shows readers and what lies between that the stream is alive.
func (s *Stream) Beat() error { return s.send(": the stream is alive\n\n") }

func (s *Stream) send(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(mostBehind)) // not every writer has one
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// From reads the id of the last event that a caller saw, 0 for none. A row that does not exist yet is another database's:
// going on from there would leave rows out.
func From(place, value string, head audit.Head) (int64, error) {
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, countersign.Errorf(countersign.Invalid, "%q is not the id of an event", clip(value)).In(place)
	}
	if n > head.Seq {
		return 0, countersign.Errorf(countersign.Invalid, "%d is beyond the end of the case's record, which has %d rows", n, head.Seq).In(place)
	}
	return n, nil
}

func clip(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "")
}
