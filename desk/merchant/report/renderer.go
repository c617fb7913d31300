package report

import (
	"runtime"
	"strings"
)

// Renderer names what drew a file: our rules of drawing, counted up with every change that changes a byte of HTML or PDF, and the
// Go release whose compression and templates they rest on. A file of another renderer can still be checked for its content, but
// not drawn again to be compared. TestGolden fails when the bytes change and the number does not.
var Renderer = "countersign report 2 " + goRelease(runtime.Version())

// goRelease is go1.26 of go1.26.8: what is patched in between has never changed what these packages write.
func goRelease(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
