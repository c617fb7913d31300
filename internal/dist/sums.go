package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sums writes SHA256SUMS over everything in the release, in the form that `sha256sum --check` reads.
func (r *release) sums() error {
	files, err := os.ReadDir(r.out) // sorted by name
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return r.keep("SHA256SUMS", []byte(b.String()))
}
