package answer

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestALineSaysForWhichRequestItIs(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewLogHandler(slog.NewTextHandler(&out, nil))).With("program", "test")
	line := func(r *http.Request, args ...any) string {
		out.Reset()
		log.InfoContext(r.Context(), "said", args...)
		return strings.TrimSpace(out.String())
	}
	bare := httptest.NewRequest("GET", "/", nil)
	if got := line(bare); strings.Contains(got, "request=") || RequestID(bare.Context()) != "" {
		t.Errorf("a line for no request: %s", got)
	}
	bare.Header.Set("X-Request-Id", "forged\nlevel=ERROR")
	w := httptest.NewRecorder()
	r := Traced(w, bare)
	id := w.Header().Get("X-Request-Id")
	if id != RequestID(r.Context()) || len(id) != 12 || strings.Contains(id, "forged") {
		t.Errorf("the answer says %q, the request is %q", id, RequestID(r.Context()))
	}
	if got := line(r); !strings.HasSuffix(got, "program=test request="+id) {
		t.Errorf("got %s", got)
	}
	About(r.Context(), "D-1")
	if got := line(r); !strings.HasSuffix(got, "request="+id+" case=D-1") {
		t.Errorf("got %s", got)
	}
	if got := line(r, "case", "D-2"); !strings.HasSuffix(got, "case=D-2 request="+id) {
		t.Errorf("a line that names its case itself: %s", got)
	}
	if other := Traced(httptest.NewRecorder(), bare); RequestID(other.Context()) == id {
		t.Error("two requests have one id")
	}
}
