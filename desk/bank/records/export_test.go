package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign"
)

// rowsOf reads a file of whatever columns.
func rowsOf(t *testing.T, text string) (Export, []string, error) {
	t.Helper()
	x, err := RecogniseExport("orders.csv", strings.NewReader(text))
	if err != nil {
		return x, nil, err
	}
	var rows []string
	n, err := x.Read(strings.NewReader(text), func(cells []string) error {
		rows = append(rows, strings.Join(cells, "|"))
		return nil
	})
	if err == nil && n != len(rows) {
		t.Errorf("%d rows were counted, %d read", n, len(rows))
	}
	return x, rows, err
}

func TestAnExportIsReadAsItWasWritten(t *testing.T) {
	for _, row := range []struct {
		name, text string
		encoding   Encoding
		delimiter  Delimiter
		columns    []string
		rows       []string
	}{
		{"plain", "Name,Total\n#1001,49.90\n", UTF8, Comma, []string{"Name", "Total"}, []string{"#1001|49.90"}},
		{"a mark, semicolons, a quoted header", "\ufeff\"Order\";\"Total\"\r\n00123;12,50\r\n", UTF8Marked, Semicolon, []string{"Order", "Total"}, []string{"00123|12,50"}},
		{"Windows-1252 with a euro sign", "Name,Total\n#1,\x80 5\n", Windows1252, Comma, []string{"Name", "Total"}, []string{"#1|€ 5"}},
		{"UTF-16", "\xff\xfeN\x00,\x00T\x00\n\x001\x00,\x002\x00\n\x00", UTF16LE, Comma, []string{"N", "T"}, []string{"1|2"}},
		{"a quoted line end, and a comma", "Name,Note\n1,\"a\nb, c\"\n", UTF8, Comma, []string{"Name", "Note"}, []string{"1|a\nb, c"}},
		{"a delimiter that is declared", "sep=;\nName;Total\n1;2\n", UTF8, Semicolon, []string{"Name", "Total"}, []string{"1|2"}},
		{"empty cells, empty lines and a name that is missing", "Name,,Total\n1,,\n,,\n\n2\n", UTF8, Comma, []string{"Name", "column 2", "Total"}, []string{"1||", "2||"}},
		{"no rows", "Name,Total", UTF8, Comma, []string{"Name", "Total"}, nil},
		{"ids of any length keep every digit", "Id\n9007199254740993\n00000000000000000000001\n", UTF8, Comma, []string{"Id"}, []string{"9007199254740993", "00000000000000000000001"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			x, rows, err := rowsOf(t, row.text)
			if err != nil {
				t.Fatal(err)
			}
			if x.Encoding != row.encoding || x.Delimiter != row.delimiter || !slices.Equal(x.Columns, row.columns) || !slices.Equal(rows, row.rows) {
				t.Errorf("read as %s, %s, %q: %q", x.Encoding, x.Delimiter, x.Columns, rows)
			}
		})
	}
}

func TestAnExportThatCannotBeReadNamesItsLine(t *testing.T) {
	for name, row := range map[string][2]string{
		"empty":                         {"", "orders.csv: the file is empty"},
		"a spreadsheet":                 {"PK\x03\x04rest", "orders.csv: the file is a spreadsheet or an archive"},
		"a column named twice":          {"Id,id\n", `orders.csv: line 1 names the column "id" twice`},
		"too many cells":                {"A,B\n1,2\n1,2,3\n", "orders.csv: line 3 has 3 cells, and line 1 names 2 columns"},
		"a lost quote":                  {"A,B\n1,\"2\n", "orders.csv: line 2: the quote that opens here is never closed"},
		"a quote in the middle":         {"A,B\n1,tw\"o\n", `orders.csv: line 2, column "B": there is a quote in the middle`},
		"a number that lost its digits": {"Id,B\n1,2\n1.91431E+18,3\n", `orders.csv: line 3, column "Id": "1.91431E+18" is a number that a spreadsheet has shortened`},
		"two encodings":                 {"A\n\xc3\xa9\n\xe9\n", "orders.csv: line 2 is UTF-8 and line 3 is not"},
	} {
		t.Run(name, func(t *testing.T) {
			_, rows, err := rowsOf(t, row[0])
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(fmt.Sprint(err), row[1]) {
				t.Errorf("read %q, %v; want %q", rows, err, row[1])
			}
		})
	}
}
