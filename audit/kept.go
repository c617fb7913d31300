package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Thing is a kind of bytes that are too large for a payload, or wanted as they are: they are stored beside the record, and a note in
// it holds their hash.
type Thing string

const (
	ReportThing Thing = "report" // an evidence report, by its round
	FileThing   Thing = "file"   // a file that a person added, by its id
	PackThing   Thing = "pack"   // a report merged with its files, by its round
)

// things are all of them, in the order in which they are compared.
var things = []Thing{ReportThing, FileThing, PackThing}

// Kept is bytes that are stored beside a record, as somebody found them or as the record sealed them.
type Kept struct {
	Thing Thing
	Name  string // a round or an id
	Hash  string // the SHA-256 of the bytes, in hex
	Says  string // the hash that the store has beside the bytes
}

// ReportMade begins what a note says of a report that was made; the report's fingerprint follows.
const ReportMade = "evidence report "

// String is what people call it.
func (k Kept) String() string {
	switch k.Thing {
	case ReportThing:
		return "the evidence report of round " + clip([]byte(k.Name))
	case PackThing:
		return "the pack of round " + clip([]byte(k.Name))
	}
	return "the file " + clip([]byte(k.Name))
}

// Differs says how bytes as they were found differ from what the record sealed; empty when they do not.
func (k Kept) Differs(sealed Kept) string {
	switch {
	case k.Hash != sealed.Hash:
		return fmt.Sprintf("the stored content of %s gives the fingerprint %s, but the record sealed %s", k, k.Hash, clip([]byte(sealed.Hash)))
	case k.Says != sealed.Hash:
		return fmt.Sprintf("the fingerprint stored beside %s is %q, but the record sealed %s", k, clip([]byte(k.Says)), clip([]byte(sealed.Hash)))
	}
	return ""
}

// Sealing reads what a row of the record says of bytes that are kept beside it; false when it says nothing of any.
func Sealing(kind Kind, payload []byte) (Kept, bool) {
	if kind != Note || !mentionsKept(payload) {
		return Kept{}, false
	}
	var said struct {
		Round                          int
		Report, File, ID, SHA256, Pack string
	}
	if json.Unmarshal(payload, &said) != nil {
		return Kept{}, false // another note that happens to have such a word
	}
	fingerprint, made := bytes.CutPrefix([]byte(said.Report), []byte(ReportMade))
	switch {
	case made:
		return Kept{Thing: ReportThing, Name: strconv.Itoa(said.Round), Hash: string(fingerprint)}, true
	case said.File != "" && said.SHA256 != "":
		return Kept{Thing: FileThing, Name: said.ID, Hash: said.SHA256}, true
	case said.Pack != "":
		return Kept{Thing: PackThing, Name: strconv.Itoa(said.Round), Hash: said.Pack}, true
	}
	return Kept{}, false
}

// mentionsKept spares most notes from being parsed.
func mentionsKept(payload []byte) bool {
	for _, key := range [][]byte{reportKey, fileKey, packKey} {
		if bytes.Contains(payload, key) {
			return true
		}
	}
	return false
}

var reportKey, fileKey, packKey = []byte(`"report"`), []byte(`"file"`), []byte(`"pack"`)

// sealing is what a step of the record says of bytes beside it.
type sealing struct {
	Kept
	seq int64
}

// compareKept holds what is stored beside the record against what the record sealed: nothing else, nothing more and nothing less.
func (c *chain) compareKept() {
	for _, thing := range things {
		kept, looked := c.says.Kept[thing]
		if !looked {
			continue
		}
		for _, k := range kept {
			c.compareOne(k)
		}
		c.missed(thing, kept)
	}
}

func (c *chain) compareOne(k Kept) {
	s, sealed := c.sealingOf(k)
	switch {
	case c.broken != nil:
	case !sealed && c.noteGone > 0:
		c.unchecked = append(c.unchecked, Break{c.head.Case, c.noteGone, fmt.Sprintf(
			"%s cannot be checked against the record; the payload of this step may have sealed it, and it is erased", k)})
	case !sealed && k.Thing == PackThing && !c.sealsA(PackThing):
		c.unchecked = append(c.unchecked, Break{c.head.Case, c.last.seq, fmt.Sprintf(
			"%s is stored, and the record seals no pack; an earlier version kept packs before they were sealed. It is handed out to nobody: the report and its files are merged anew", k)})
	case !sealed:
		c.fail(c.last.seq, "%s is stored, and no step of the record ever sealed it", k)
	default:
		if why := k.Differs(s.Kept); why != "" {
			c.fail(s.seq, "%s, in this step", why)
		}
	}
}

func (c *chain) sealsA(thing Thing) bool {
	return slices.ContainsFunc(c.sealed, func(s sealing) bool { return s.Thing == thing })
}

// sealingOf finds the step that sealed it. The first counts: whoever can add a row to the end can add another.
func (c *chain) sealingOf(k Kept) (sealing, bool) {
	for _, s := range c.sealed {
		if s.Thing == k.Thing && s.Name == k.Name {
			return s, true
		}
	}
	return sealing{}, false
}

// missed names the first step that sealed something which is not stored any more.
func (c *chain) missed(thing Thing, kept []Kept) {
	there := map[string]bool{}
	for _, k := range kept {
		there[k.Name] = true
	}
	for _, s := range c.sealed {
		if c.broken == nil && s.Thing == thing && !there[s.Name] {
			c.fail(s.seq, "%s, which this step sealed, is not stored any more", s.Kept)
		}
	}
}
