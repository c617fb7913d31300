//go:build unix

package secret

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// like gives a file the owner, group and rights of the key file beside which it is made, if that is there: whoever replaces a key as
// root would else lock the program out that runs as another user.
func like(path string, f *os.File) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(info.Mode().Perm())
}
