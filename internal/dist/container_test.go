package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// TestTheContainerfile reads the file as an engine would, which is not there to try it: scripts/test-deb types its one RUN in a Debian.
func TestTheContainerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(testdb.Root(t), "packaging", "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			instruction, rest, _ := strings.Cut(line, " ")
			said[instruction] = append(said[instruction], rest)
		}
	}
	t.Run("it begins with a named release, and takes one file of ours", func(t *testing.T) {
		is(t, said["FROM"], `^debian:\d+-slim$`)
		is(t, said["COPY"], `^countersign_\$\{VERSION\}_\$\{TARGETARCH\}\.deb `)
	})
	t.Run("what runs in it is not root, and gets the signals", func(t *testing.T) {
		is(t, said["USER"], `^countersign$`)
		is(t, said["ENTRYPOINT"], `^\["/usr/bin/countersign"\]$`) // without a shell between
	})
	t.Run("what must outlive it is in the volume", func(t *testing.T) {
		is(t, said["VOLUME"], `^/var/lib/countersign$`)
		is(t, said["ENV"], `\bCOUNTERSIGN_DATA=/var/lib/countersign\b`)
	})
	t.Run("every setting is one that the program reads", func(t *testing.T) {
		read := settings(t)
		for _, m := range regexp.MustCompile(`\b(COUNTERSIGN_\w+)=`).FindAllStringSubmatch(strings.Join(said["ENV"], " "), -1) {
			if !slices.Contains(read, m[1]) {
				t.Errorf("nothing reads %s", m[1])
			}
		}
	})
	t.Run("there is nothing in it that was not looked at here", func(t *testing.T) {
		for instruction := range said {
			if !slices.Contains(strings.Fields("FROM ARG COPY RUN USER WORKDIR ENV VOLUME EXPOSE ENTRYPOINT CMD"), instruction) {
				t.Errorf("%s", instruction)
			}
		}
	})
}

// is insists on an instruction that is given once, in a form.
func is(t *testing.T, said []string, form string) {
	t.Helper()
	if len(said) != 1 || !regexp.MustCompile(form).MatchString(said[0]) {
		t.Errorf("it says %q, want one %s", said, form)
	}
}
