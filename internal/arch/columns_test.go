package arch

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/desk/bank/records"
)

// docs/records.md tells a bank what to send. Its table is the columns that the importer reads, in their order, and its
// example is a file that the importer takes whole.
var (
	columnsRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `([^`]+)` \\|$")
	jsonBlock  = regexp.MustCompile("(?s)```json\n(.*?)```")
)

func columnsDocumented(all tree) (checked int, broken []string) {
	for _, s := range all.only(func(s source) bool { return s.path == "docs/records.md" }) {
		said := map[string]string{}
		for _, m := range columnsRow.FindAllStringSubmatch(s.text, -1) {
			said[m[1]] = strings.ReplaceAll(m[2], " · ", ", ")
		}
		for _, array := range records.Arrays {
			checked++
			if want := strings.Join(records.Columns(array), ", "); said[string(array)] != want {
				broken = append(broken, s.path+": array "+string(array)+" has the columns "+want+", the document says "+said[string(array)])
			}
			delete(said, string(array))
		}
		for array := range said {
			broken = append(broken, s.path+": there is no array "+array)
		}
		for _, m := range jsonBlock.FindAllStringSubmatch(s.text, -1) {
			broken = append(broken, refusedIn(s.path, m[1])...)
		}
	}
	return checked, broken
}

func refusedIn(path, example string) (broken []string) {
	summary, err := records.ReadJSON(path, strings.NewReader(example), func(records.Row) error { return nil },
		func(p records.Problem) { broken = append(broken, path+": the example is refused: "+p.Error()) })
	if err != nil {
		broken = append(broken, path+": the example cannot be read: "+err.Error())
	}
	for _, c := range summary.Unknown {
		broken = append(broken, path+": the example has the column "+c.Name+", which is not read")
	}
	return broken
}

func TestTheRecordsDocument(t *testing.T) {
	t.Run("lists every array and column, and its example can be imported", func(t *testing.T) { holds(t, columnsDocumented) })

	var rows []string
	for _, array := range records.Arrays {
		rows = append(rows, "| `"+string(array)+"` | `"+strings.Join(records.Columns(array), ", ")+"` |")
	}
	document := func(rows []string, example string) []string {
		return []string{"docs/records.md", strings.Join(rows, "\n") + "\n```json\n" + example + "\n```\n"}
	}
	allows(t, columnsDocumented, document(rows, "{}")...)
	t.Run("an array that is left out is named", func(t *testing.T) {
		refuses(t, columnsDocumented, "array "+string(records.Arrays[0]), document(rows[1:], "{}")...)
	})
	t.Run("so is one that does not exist", func(t *testing.T) {
		refuses(t, columnsDocumented, "no array orders", document(append(slices.Clone(rows), "| `orders` | `id` |"), "{}")...)
	})
	t.Run("and an example that the importer would not take", func(t *testing.T) {
		refuses(t, columnsDocumented, "the example is refused", document(rows, `{"accounts": [{"id": "A"}]}`)...)
		refuses(t, columnsDocumented, `column "nickname"`, document(rows, `{"customers": [{"id": "C", "name": "N", "nickname": "n"}]}`)...)
		refuses(t, columnsDocumented, "cannot be read", document(rows, `{`)...)
	})
}
