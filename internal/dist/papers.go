package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// papers are what one reads: the documents in the root, and the folder docs whole, so that their links lead somewhere.
func (r *release) papers() (papers []entry, err error) {
	tree := os.DirFS(r.root)
	names, err := fs.Glob(tree, "*.md")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(tree, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		papers = append(papers, entry{name, 0o644, text})
	}
	return papers, nil
}
