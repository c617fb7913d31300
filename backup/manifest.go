// Package backup makes a file of a whole installation's database while the program runs, says whether such a file is whole, and puts
// one back.
//
// A backup is a tar archive, compressed with gzip and, if asked, encrypted with age. Its first entry, manifest.json, says what it is:
// who made it, of which engine and schema, at what moment, how many cases and rows of the record it holds, how the record verified, and
// size and hash of the one entry behind it, the database. Any tar and age can open it without this program.
//
// A backup has its name only once it was looked at: the copy was opened, checked and its record verified, and the file that was written
// was read again and holds that copy, byte for byte. What goes wrong before leaves no file. In the same way nothing is put back before
// the whole backup was read, checked and verified, and what was there before is put aside and never deleted.
//
// The master key is in no backup: whoever finds one must not be able to open what is sealed in it. The manifest names the key by its
// id, and without that key everything can be restored but what was sealed: connection strings, secrets, keys of providers.
package backup

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// Manifest says what a backup is. It may gain fields; what it has keeps its meaning for as long as the format does.
type Manifest struct {
	Format    int       `json:"format"`
	Version   string    `json:"version"` // of the program
	Engine    string    `json:"engine"`  // sqlite or postgres
	Schema    int64     `json:"schema"`
	At        time.Time `json:"at"`         // what is in it was so at this moment
	MasterKey string    `json:"master_key"` // the id of the key that opens what is sealed in it; empty when nothing ever was
	Cases     int64     `json:"cases"`
	Rows      int64     `json:"rows"` // of the record
	Record    Record    `json:"record"`
	Content   Content   `json:"content"`
}

// Record is how every chain verified when the backup was made.
type Record struct {
	Intact bool   `json:"intact"`
	Breaks int    `json:"breaks"`
	First  string `json:"first,omitempty"` // the first break
}

// Content is what follows the manifest.
type Content struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// format is the version of all this.
const format = 1

// contents are the names of the database in the archive, by engine.
var contents = map[string]string{"sqlite": "countersign.db", "postgres": "countersign.pgdump"}

func recordOf(r audit.Report) Record {
	record := Record{Intact: r.OK, Breaks: len(r.Breaks)}
	if len(r.Breaks) > 0 {
		record.First = fmt.Sprintf("case %s, row %d: %s", r.Breaks[0].Case, r.Breaks[0].Seq, r.Breaks[0].Why)
	}
	return record
}

// Says is the manifest in a few words, for people.
func (m Manifest) Says() string {
	says := fmt.Sprintf("%s, schema version %d, of %s: %d cases, %d rows of the record, ", m.Engine, m.Schema, m.At.UTC().Format(time.RFC3339), m.Cases, m.Rows)
	if m.Record.Intact {
		return says + "every chain intact"
	}
	return says + fmt.Sprintf("%d breaks, the first in %s", m.Record.Breaks, m.Record.First)
}

// readManifest refuses what this program cannot restore.
func readManifest(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, damaged(err)
	}
	switch newest := store.NewestSchema(); {
	case m.Format != format:
		return m, countersign.Errorf(countersign.Unprocessed, "the backup has format %d, and this program knows format %d", m.Format, format).
			Try("use the program that made it: version " + m.Version)
	case m.Schema > newest:
		return m, countersign.Errorf(countersign.Unprocessed, "the backup has schema version %d, and this program knows up to %d", m.Schema, newest).
			Try("use the program that made it, version " + m.Version + ", or a newer one")
	case contents[m.Engine] == "" || m.Content.Name != contents[m.Engine]:
		return m, damaged(fmt.Errorf("the manifest names %q with %q", m.Engine, m.Content.Name))
	}
	return m, nil
}
