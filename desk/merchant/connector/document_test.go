package connector

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"countersign/internal/testdb"
)

// The form that docs/mapping.md shows is one that is taken.
func TestTheMappingOfTheDocumentIsOne(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testdb.Root(t), "docs", "mapping.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("it shows %d mappings", len(blocks))
	}
	m, err := ParseMapping(blocks[0][1])
	if err != nil || len(m.Entities) != len(Kinds) {
		t.Errorf("it is read as %+v, %v", m, err)
	}
}
