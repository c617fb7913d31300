package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
)

// exported writes cases as an export.
func exported(t interface {
	Helper()
	Fatal(...any)
}, h Header, cases ...*recorded) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, h)
	for _, c := range cases {
		if err := w.Case(c.head, c.says); err != nil {
			t.Fatal(err)
		}
		for i, r := range c.rows {
			if err := w.Row(r, c.payloads[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func two(t testing.TB) (a, b *recorded) {
	return record(t, "D-001", story()...), record(t, "D-002", story()...)
}

func TestAnExportVerifies(t *testing.T) {
	a, b := two(t)
	b.payloads[2] = nil
	b.more(t, entry(Erased, worker, `{"erased":[3]}`))
	got, err := VerifyExport(iotest.OneByteReader(strings.NewReader(exported(t, Header{At: 1}, a, b))))
	if err != nil {
		t.Fatal(err)
	}
	want := Report{OK: true, Cases: 2, Rows: 19, Erased: 1, Breaks: []Break{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARedactedExportVerifiesAndHoldsNoPayload(t *testing.T) {
	a, b := two(t)
	file := exported(t, Header{Redacted: true}, a, b)
	if strings.Contains(file, "ATM") || strings.Contains(file, "salt") || strings.Contains(file, "payload") {
		t.Errorf("a redacted export holds payloads or salts:\n%s", file)
	}
	got, err := VerifyExport(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := Report{OK: true, Cases: 2, Rows: 18, Redacted: true, Breaks: []Break{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = VerifyExport(strings.NewReader(strings.Replace(file, `"actor":"worker:w-1"`, `"actor":"worker:w-2"`, 1)))
	if err != nil || len(got.Breaks) != 1 || got.Breaks[0] != (Break{"D-001", 2, changed}) {
		t.Errorf("an edited redacted export: %v, %v", got, err)
	}
}

func TestAnEmptyExportVerifies(t *testing.T) {
	got, err := VerifyExport(strings.NewReader(exported(t, Header{})))
	if err != nil || !got.OK {
		t.Errorf("%v, %v", got, err)
	}
}

// TestPayloadsSurviveAnExportByteForByte takes what has broken other products' records: text outside the basic plane, numbers
// that no float holds, keys in an order of their own, spaces that mean nothing.
func TestPayloadsSurviveAnExportByteForByte(t *testing.T) {
	for _, p := range []string{
		`{}`, `{"m":{}}`, `{"m":null}`, `{"m":[]}`, "{\"a\":1,\r\n\t \"a\":2 }\n",
		`{"text":"🧾 𠀀 na` + "i\u0308" + `ve \ud83e\uddfe \u0000 \ud800 \/ \\ <script>&</script> ` + "\u2028" + `"}`,
		`{"id":9007199254740993,"ref":12345678901234567890,"rate":1e2,"fee":1.10,"z":-0}`,
		`{"b":{"b":[[{"b":{"a":[1,{"c":{}}]}}]]},"a":1}`,
		`{"zero width":"` + "\u200b\u202e\ufeff" + `","":""}`,
		`{"long":"` + strings.Repeat(`\"`, 1<<17) + `"}`,
	} {
		c := record(t, "D-001", entry(Opened, analyst, p))
		c.says = Projection{}
		file := exported(t, Header{}, c)
		got, err := VerifyExport(strings.NewReader(file))
		if err != nil || !got.OK {
			t.Errorf("%.60s: %v, %v", p, got, err)
		}
		if strings.Contains(p, "<script>") && !strings.Contains(file, "<script>") {
			t.Errorf("%.60s: the file spells it so that nobody can search for it", p)
		}
		var line struct{ Payload string }
		if err := json.Unmarshal([]byte(strings.Split(file, "\n")[2]), &line); err != nil || line.Payload != p {
			t.Errorf("%.60s came back as %.60s, %v", p, line.Payload, err)
		}
	}
}

// TestHostileNotesSurviveAnExport sends every payload of the injection collection through a record and an export.
func TestHostileNotesSurviveAnExport(t *testing.T) {
	file, err := os.Open(testdb.Shared(t, "data", "injections.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entries := []Entry{entry(Opened, analyst, `{}`)}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		entries = append(entries, entry(Note, analyst, lines.Text()))
	}
	if len(entries) < 10 {
		t.Fatalf("only %d lines", len(entries))
	}
	c := record(t, "D-001", entries...)
	c.says = Projection{}
	got, err := VerifyExport(strings.NewReader(exported(t, Header{}, c)))
	if err != nil || !got.OK || got.Rows != int64(len(entries)) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBytesThatAreNoTextAreExportedAndFound(t *testing.T) {
	c := record(t, "D-001", story()...)
	c.payloads[3].Bytes[5] = 0xff
	file := exported(t, Header{}, c)
	got, err := VerifyExport(strings.NewReader(file))
	if err != nil || len(got.Breaks) != 1 || got.Breaks[0].Seq != 4 {
		t.Errorf("%v, %v", got, err)
	}
	if !strings.Contains(file, `"payload_base64":"`) {
		t.Error("the bytes were not exported as they are")
	}
}

// TestAnExportThatCannotBeJudged edits an export line by line. Each is an error that names the line, never a report of a broken
// or intact record.
func TestAnExportThatCannotBeJudged(t *testing.T) {
	a, b := two(t)
	whole := strings.SplitAfter(exported(t, Header{}, a, b), "\n")
	edit := func(line int, old, new string) func([]string) []string {
		return func(lines []string) []string {
			if !strings.Contains(lines[line-1], old) {
				t.Fatalf("line %d has no %s", line, old)
			}
			lines[line-1] = strings.Replace(lines[line-1], old, new, 1)
			return lines
		}
	}
	for _, x := range []struct {
		name string
		edit func(lines []string) []string
		want string
	}{
		{"nothing at all", func([]string) []string { return nil }, "line 1 of the export is missing: the file was cut off"},
		{"the last line is cut off", func(l []string) []string { return l[:len(l)-2] }, "line 22 of the export is missing: the file was cut off"},
		{"cut off in the middle of a case", func(l []string) []string { return l[:6] }, "line 7 of the export is missing: the file was cut off"},
		{"cut off in the middle of a line", func(l []string) []string { l[5] = l[5][:40]; return l[:6] }, "line 6 of the export is "},
		{"something follows the last line", func(l []string) []string { return append(l, l[1]) }, "line 23 of the export comes after the last line"},
		{"no export", func([]string) []string { return []string{"id,amount\n"} }, `line 1 of the export is "id,amount", expected a JSON object`},
		{"some other JSON", func([]string) []string { return []string{"{\"ok\":true}\n"} }, "countersign_export: line 1 of the export lacks it"},
		{"a header of another version", edit(1, `export":1`, `export":2`), "countersign_export: line 1 of the export is 2, expected 1"},
		{"a header that does not say whether it is redacted", edit(1, `,"redacted":false`, ``), "redacted: line 1 of the export lacks it"},
		{"a header that is redacted more or less", edit(1, `false`, `"no"`), `redacted: line 1 of the export has "no", expected true or false`},
		{"a redacted export with payloads in it", edit(1, `false`, `true`), "payload: line 3 of the export has this field, which is unknown here"},
		{"a row without a number", edit(4, `"seq":2,`, ``), "seq: line 4 of the export lacks it"},
		{"a row whose number is a fraction", edit(4, `"seq":2,`, `"seq":2.0,`), "seq: line 4 of the export has 2.0, expected a whole number"},
		{"a row whose number is enormous", edit(4, `"seq":2,`, `"seq":99999999999999999999,`), "seq: line 4 of the export has 99999999999999999999, expected a whole number"},
		{"a row whose kind is a number", edit(4, `"started"`, `7`), "kind: line 4 of the export has 7, expected a string"},
		{"a row whose kind is null", edit(4, `"started"`, `null`), "kind: line 4 of the export has null, expected a string"},
		{"a hash that is too short", edit(4, `"hash":"`, `"hash":"","x":"`), `hash: line 4 of the export has "" is not 64 lower-case hex digits`},
		{"a hash in capitals", edit(4, `"hash":"`, `"hash":"`+strings.Repeat("A", 64)+`","x":"`), "hash: line 4 of the export has"},
		{"a field nobody knows", edit(4, `"seq"`, `"color":"red","seq"`), "color: line 4 of the export has this field, which is unknown here"},
		{"a field that differs by case", edit(4, `"seq":2`, `"seq":2,"SEQ":3`), "SEQ: line 4 of the export has this field"},
		{"a field that is there twice", edit(4, `"seq":2`, `"seq":2,"seq":3`), "seq: line 4 of the export is there twice"},
		{"a field that is there twice in a head", edit(2, `"seq":9`, `"seq":9,"seq":9`), "seq: line 2 of the export is there twice"},
		{"a head that is a number", edit(2, `"head":{`, `"head":9,"x":{`), "head: line 2 of the export has 9, expected an object"},
		{"a head without a hash", edit(2, `"hash"`, `"hush"`), "hash: line 2 of the export lacks it"},
		{"a head with more in it", edit(2, `"seq":9`, `"seq":9,"by":"me"`), "by: line 2 of the export has this field"},
		{"a payload without its salt", edit(4, `"salt"`, `"x"`), "salt: line 4 of the export lacks it"},
		{"a salt without its payload", edit(4, `"payload"`, `"x"`), "payload: line 4 of the export lacks it"},
		{"a payload that is an object", edit(4, `"payload":"`, `"payload":{},"x":"`), "payload: line 4 of the export has {}, expected a string"},
		{"a payload that is not base64", edit(4, `"payload":"`, `"payload_base64":"`), "payload_base64: line 4 of the export has a value that is not base64"},
		{"a payload twice, in two forms", edit(4, `"payload":"`, `"payload_base64":"","payload":"`), "payload: line 4 of the export has this field"},
		{"a salt that is not hex", edit(4, `"salt":"`, `"salt":"x`), "salt: line 4 of the export has a value that is not hex"},
		{"an empty line", func(l []string) []string { l[3] = "\n"; return l }, `line 4 of the export is "", expected a JSON object`},
		{"a list", func(l []string) []string { l[3] = "[]\n"; return l }, `line 4 of the export is "[]", expected a JSON object`},
		{"bytes that are no text", edit(4, `worker`, "w\xffrker"), "line 4 of the export is not UTF-8"},
		{"a NUL byte", edit(4, `worker`, "w\x00rker"), "line 4 of the export is "},
		{"nesting without end", func(l []string) []string { l[3] = strings.Repeat(`{"a":`, 1<<16) + "\n"; return l }, "line 4 of the export is "},
		{"a count that is text", edit(22, `"rows":18`, `"rows":"18"`), `rows: line 22 of the export has "18", expected a whole number`},
	} {
		t.Run(x.name, func(t *testing.T) {
			file := strings.Join(x.edit(append([]string{}, whole...)), "")
			got, err := VerifyExport(strings.NewReader(file))
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Fatalf("error %v, want one with %q", err, x.want)
			}
			if countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("the error is %s, want one that may be shown", countersign.KindOf(err))
			}
			if len(got.Breaks) != 0 {
				t.Errorf("breaks were reported for what could not be read: %v", got.Breaks)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
		})
	}
}

// TestAnExportThatWasPutTogetherByHand has only lines that mean something; it is the whole that does not add up.
func TestAnExportThatWasPutTogetherByHand(t *testing.T) {
	a, b := two(t)
	whole := strings.SplitAfter(exported(t, Header{}, a, b), "\n")
	for _, x := range []struct {
		name  string
		lines []string
		want  Break
	}{
		{"a whole case is left out", append(append([]string{}, whole[:1]...), whole[11:]...),
			Break{Why: "lines were added or removed: its last line counts 2 cases and 18 rows, and it holds 1 case and 9 rows"}},
		{"a case is there twice", append(append(append([]string{}, whole[:11]...), whole[1:11]...), whole[21]),
			Break{"D-001", 0, "the export has lines of this case in more than one place, or out of order"}},
		{"cases are out of order", append(append(append(append([]string{}, whole[0]), whole[11:21]...), whole[1:11]...), whole[21]),
			Break{"D-001", 0, "the export has lines of this case in more than one place, or out of order"}},
		{"a case lost its own line", append(append([]string{}, whole[:11]...), whole[12:]...),
			Break{Why: "lines were added or removed: its last line counts 2 cases and 18 rows, and it holds 1 case and 18 rows"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, err := VerifyExport(strings.NewReader(strings.Join(x.lines, "")))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Breaks) == 0 || got.Breaks[0] != x.want || got.OK {
				t.Errorf("breaks %v, want first %v", got.Breaks, x.want)
			}
		})
	}
}

// TestAnExportThatWasCutOffKeepsWhatItShowed finds a break, then the cut: both are told.
func TestAnExportThatWasCutOffKeepsWhatItShowed(t *testing.T) {
	a, b := two(t)
	a.rows[3].At++
	lines := strings.SplitAfter(exported(t, Header{}, a, b), "\n")
	got, err := VerifyExport(strings.NewReader(strings.Join(lines[:15], "")))
	if err == nil || len(got.Breaks) != 1 || got.Breaks[0] != (Break{"D-001", 4, changed}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestALineWithoutEndIsGivenUp(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"countersign_export":1,"redacted":false,"at":`), io.LimitReader(zeros{}, MaxLine+1))
	_, err := VerifyExport(endless)
	if err == nil || err.Error() != "line 1 of the export is longer than 67108864 bytes" {
		t.Errorf("error %.100v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestAReaderThatFailsIsNotTheFilesFault(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := VerifyExport(io.MultiReader(strings.NewReader("{\"countersign_export\":1,\"redacted\":false}\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || countersign.KindOf(err) == countersign.Invalid {
		t.Errorf("error %v", err)
	}
}

func TestTheWriterKeepsItsOrder(t *testing.T) {
	a, b := two(t)
	w := NewWriter(io.Discard, Header{})
	if err := w.Case(b.head, b.says); err != nil {
		t.Fatal(err)
	}
	want := `write export: case "D-001" cannot come after case "D-002": expected ascending order of bytes`
	if err := w.Case(a.head, a.says); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := w.Close(); err == nil || err.Error() != want {
		t.Errorf("later: error %v, want the same", err)
	}
}

func TestTheWriterWritesRowsThatHaveNoCase(t *testing.T) {
	a, b := two(t)
	var file bytes.Buffer
	w := NewWriter(&file, Header{})
	w.Case(a.head, a.says)
	for i, r := range a.rows {
		w.Row(r, a.payloads[i])
	}
	for i, r := range b.rows {
		w.Row(r, b.payloads[i])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := VerifyExport(&file)
	if want := (Break{"D-002", 1, "there are record rows for this case, but no such case"}); err != nil || len(got.Breaks) != 1 || got.Breaks[0] != want {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTheWriterReportsAFullDisk(t *testing.T) {
	full := errors.New("no space left")
	w := NewWriter(failing{full}, Header{})
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestTheLongestPayloadFitsInALine(t *testing.T) {
	c := record(t, "D-001", entry(Opened, analyst, `{"x":"`+strings.Repeat(`\"`, (MaxPayload-10)/2)+`"}`))
	w := NewWriter(io.Discard, Header{})
	w.Case(c.head, c.says)
	if err := w.Row(c.rows[0], c.payloads[0]); err != nil {
		t.Error(err)
	}
}

func FuzzVerifyExport(f *testing.F) {
	a, b := two(f)
	erased := record(f, "D-003", story()...)
	erased.payloads[2] = nil
	erased.more(f, entry(Erased, worker, `{"erased":[3]}`))
	seeds := []string{
		exported(f, Header{}), exported(f, Header{At: 1}, a, b, erased), exported(f, Header{Redacted: true}, a),
		"", "{}", "{\"countersign_export\":1,\"redacted\":false}\n{\"end\":true,\"cases\":0,\"rows\":0}",
	}
	for _, x := range tampering {
		c := record(f, "D-002", story()...)
		x.tamper(&testing.T{}, c)
		seeds = append(seeds, exported(f, Header{}, a, c))
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	if len(seeds) < 40 {
		f.Fatalf("only %d seeds", len(seeds))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := VerifyExport(bytes.NewReader(file))
		if got.OK != (len(got.Breaks) == 0) {
			t.Fatalf("ok %v with %d breaks", got.OK, len(got.Breaks))
		}
		var shown *countersign.Error
		if err != nil && !errors.As(err, &shown) {
			t.Fatalf("error %v, want one that may be shown", err)
		}
		if again, _ := VerifyExport(bytes.NewReader(file)); !cmp.Equal(got, again) {
			t.Fatalf("a second look says something else:\n%v\n%v", got, again)
		}
	})
}
