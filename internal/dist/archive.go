package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name string
	mode fs.FileMode
	data []byte
}

// archive writes what one unpacks and runs: a zip for Windows, which opens it by itself, and a tar for the others.
func (r *release) archive(t target, entries []entry) error {
	name := fmt.Sprintf("countersign_%s_%s_%s", r.version, t.os, t.arch)
	pack, ending := tarball, ".tar.gz"
	if t.os == "windows" {
		pack, ending = zipped, ".zip"
	}
	entries = slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	b, err := pack(name, r.at, entries)
	if err != nil {
		return err
	}
	return r.keep(name+ending, b)
}

// tarball packs entries into one folder. Of a file it says no more than its mode and the one time; everything is root's.
func tarball(folder string, at time.Time, entries []entry) ([]byte, error) {
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, e := range entries {
		h := &tar.Header{Name: folder + "/" + e.name, Mode: int64(e.mode), Size: int64(len(e.data)), ModTime: at, Uname: "root", Gname: "root"}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := packed.Close()
	return b.Bytes(), err
}

// zipped packs the same; texts of ours have the line ends of Unix there too, which every editor of today reads.
func zipped(folder string, at time.Time, entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: folder + "/" + e.name, Method: zip.Deflate, Modified: at}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// keep writes a file of the release.
func (r *release) keep(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}
