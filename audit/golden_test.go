package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
)

// vector is one row of testdata/golden-v1.json, which a program in another language made from docs/audit-format.md.
type vector struct {
	Case            countersign.CaseID `json:"case"`
	Version         int                `json:"version"`
	Seq             int64              `json:"seq"`
	Kind            Kind               `json:"kind"`
	Actor           string             `json:"actor"`
	At              int64              `json:"at"`
	Salt            string             `json:"salt"`
	Payload         string             `json:"payload"`
	PayloadPreimage string             `json:"payload_preimage"`
	Commitment      Hash               `json:"commitment"`
	Prev            Hash               `json:"prev_hash"`
	RowPreimage     string             `json:"row_preimage"`
	Hash            Hash               `json:"hash"`
}

func (v vector) row() Row {
	return Row{v.Version, v.Case, v.Seq, v.Kind, v.Actor, v.At, v.Commitment, v.Prev, v.Hash}
}

func (v vector) entry(t *testing.T) Entry {
	return Entry{Kind: v.Kind, Actor: countersign.ParseActor(v.Actor), At: v.At, Salt: Salt(unhex(t, v.Salt)), Payload: []byte(v.Payload)}
}

func golden(t *testing.T) (vectors []vector, head Hash) {
	t.Helper()
	var file struct {
		Rows []vector `json:"rows"`
		Head struct {
			Hash Hash `json:"hash"`
		} `json:"head"`
	}
	if err := json.Unmarshal(readFile(t, "testdata/golden-v1.json"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) == 0 {
		t.Fatal("there are no golden vectors")
	}
	return file.Rows, file.Head.Hash
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheHashedBytesAreThoseOfTheGoldenVectors(t *testing.T) {
	vectors, _ := golden(t)
	for _, v := range vectors {
		r := v.row()
		if got := hex.EncodeToString(r.appendPreimage(nil)); got != v.RowPreimage {
			t.Errorf("row %d: hashed bytes\n got %s\nwant %s", v.Seq, got, v.RowPreimage)
		}
		if got := Commit(unhex(t, v.Salt), []byte(v.Payload)); got != v.Commitment {
			t.Errorf("row %d: commitment %s, want %s", v.Seq, got, v.Commitment)
		}
		if got := sha256.Sum256(unhex(t, v.PayloadPreimage)); got != v.Commitment {
			t.Errorf("row %d: the vector's own payload bytes hash to %x, want %s", v.Seq, got, v.Commitment)
		}
	}
}

func TestAppendMakesTheGoldenVectors(t *testing.T) {
	vectors, last := golden(t)
	var entries []Entry
	var want []Row
	for _, v := range vectors {
		entries, want = append(entries, v.entry(t)), append(want, v.row())
	}
	rows, head, err := Append(Head{Case: vectors[0].Case}, entries...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if head.Hash != last || head.Seq != int64(len(vectors)) {
		t.Errorf("head %v, want step %d with %s", head, len(vectors), last)
	}
}

func document(t *testing.T) string { return string(readFile(t, "../docs/audit-format.md")) }

// block returns the fenced block of the document that begins with the given info string.
func block(t *testing.T, info string) string {
	t.Helper()
	_, rest, ok := strings.Cut(document(t), "\n```"+info+"\n")
	text, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatalf("docs/audit-format.md has no block ```%s", info)
	}
	return text
}

// TestTheWorkedExampleOfTheDocumentIsRight recomputes what the document shows a reader, from nothing but the document.
func TestTheWorkedExampleOfTheDocumentIsRight(t *testing.T) {
	vectors, _ := golden(t)
	for _, x := range []struct{ info, want, sum string }{
		{"text payload", vectors[0].PayloadPreimage, vectors[0].Commitment.String()},
		{"text row", vectors[0].RowPreimage, vectors[0].Hash.String()},
	} {
		shown := block(t, x.info)
		var digits strings.Builder
		for line := range strings.Lines(shown) {
			bytes, _, _ := strings.Cut(line, "|")
			digits.WriteString(strings.Join(strings.Fields(bytes), ""))
		}
		if digits.String() != x.want {
			t.Errorf("```%s: shows %s, want %s", x.info, digits.String(), x.want)
		}
		if got := hex.EncodeToString(sha(unhex(t, digits.String())).bytes()); got != x.sum || !strings.Contains(document(t), got) {
			t.Errorf("```%s hashes to %s, want %s, and the document must say so", x.info, got, x.sum)
		}
	}
}

func (h Hash) bytes() []byte { return h[:] }

func TestTheDocumentNamesEveryKindAndField(t *testing.T) {
	doc := document(t)
	for _, k := range Kinds {
		if !strings.Contains(doc, "`"+string(k)+"`") {
			t.Errorf("docs/audit-format.md does not name kind %s", k)
		}
	}
	field := regexp.MustCompile(`"([a-z0-9_]+)":`)
	names := field.FindAllStringSubmatch(exported(t, Header{At: 1}, record(t, "D-1", story()...)), -1)
	if len(names) < 20 {
		t.Fatalf("found only %d field names in an export", len(names))
	}
	for _, name := range names {
		if !strings.Contains(doc, name[1]) {
			t.Errorf("docs/audit-format.md does not name field %s", name[1])
		}
	}
}

// TestTheVerifierInTheDocumentAgrees runs the few lines of Python that the document offers to strangers, on an export that is
// intact and on one that is not.
func TestTheVerifierInTheDocumentAgrees(t *testing.T) {
	python := testdb.Program(t, "python3")
	script := filepath.Join(t.TempDir(), "verify.py")
	if err := os.WriteFile(script, []byte(block(t, "python")), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(export string) string {
		cmd := exec.Command(python, script)
		cmd.Stdin = strings.NewReader(export)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return out.String() + err.Error()
		}
		return out.String()
	}
	c := record(t, "D-1", story()...)
	if got := run(exported(t, Header{}, c)); !strings.HasPrefix(got, "intact") {
		t.Errorf("an intact export: %s", got)
	}
	c.payloads[4].Bytes[10] ^= 1
	if got := run(exported(t, Header{}, c)); !strings.HasPrefix(got, "D-1 step 5: ") {
		t.Errorf("a payload changed at step 5: %s", got)
	}
	c = record(t, "D-1", story()...)
	c.remove(4)
	if got := run(exported(t, Header{}, c)); !strings.HasPrefix(got, "D-1 step 4: ") {
		t.Errorf("step 4 removed: %s", got)
	}
}
