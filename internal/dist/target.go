package main

import (
	"fmt"
	"slices"
	"strings"
)

// target is a system that the program is compiled for, in Go's words.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

func (t target) String() string { return t.os + "/" + t.arch }

// program is what the program's file is called there.
func (t target) program() string {
	if t.os == "windows" {
		return "countersign.exe"
	}
	return "countersign"
}

// targetsOf returns those that a list names, all for an empty one.
func targetsOf(list string) (chosen []target, err error) {
	if list == "" {
		return targets, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: expected some of %v but got %q", targets, name)
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

// env is the environment of Go's commands about this target: everything that changes what is compiled is said, so that nothing of
// it is the builder's.
func (t target) env() []string {
	return []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off"}
}
