//go:build !unix

package secret

import "os"

// like has nothing to do: a new file has the rights of its folder.
func like(string, *os.File) error { return nil }
