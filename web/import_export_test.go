package web

import (
	"testing"
	"time"
)

// LimitUploads lowers what an upload may have for as long as the test runs.
func LimitUploads(t testing.TB, bytes int64) {
	before := mostUpload
	mostUpload = bytes
	t.Cleanup(func() { mostUpload = before })
}

// ForgetUploadsAfter sets how long files wait for a word for as long as the test runs.
func ForgetUploadsAfter(t testing.TB, d time.Duration) {
	before := forgotten
	forgotten = d
	t.Cleanup(func() { forgotten = before })
}
