package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// stepTable is one tool result of the last investigation, value by value, so that a citation can point at the one it means.
type stepTable struct {
	Ref, Title, Error string
	OK, Cited         bool
	Took              string
	Values            []stepValue
}

// stepValue is one value of a result. By is set for what other people wrote: the model was shown it inside a fence.
type stepValue struct {
	ID, Path, Text string
	By             string
	Cited          bool
}

// submission is the tool by which a model hands in its proposal. It reads nothing.
const submission = "submit_decision"

// stepOf reads a step out of a record row, false for a row of another kind or round and for one whose payload was erased.
func stepOf(row store.RecordRow, round int) (countersign.Step, bool) {
	if row.Kind != audit.ToolCall || row.Payload == nil {
		return countersign.Step{}, false
	}
	var kept struct {
		Round int `json:"round"`
		countersign.Step
	}
	if json.Unmarshal(row.Payload.Bytes, &kept) != nil || kept.Round != round {
		return countersign.Step{}, false
	}
	return kept.Step, true
}

// steps are the results of the last round: references begin again with each, and citations mean their own.
func (v *visit) steps(f *file) (all []stepTable) {
	cited := f.cited()
	for _, row := range f.rows {
		step, ok := stepOf(row, f.Round)
		if !ok || step.Tool == submission {
			continue
		}
		table := stepTable{Ref: string(step.Ref), Title: capital(f.told(step)), Error: step.Error, OK: step.OK, Took: took(step.Took)}
		for _, value := range values(step) {
			value.Cited = slices.Contains(cited, value.ID)
			table.Cited = table.Cited || value.Cited
			table.Values = append(table.Values, value)
		}
		all = append(all, table)
	}
	return all
}

func (f *file) told(s countersign.Step) string {
	if f.desk.Told == nil {
		return s.Tool
	}
	return f.desk.Told(s)
}

// cited lists the places that the proposal cites.
func (f *file) cited() (ids []string) {
	if f.Proposal == nil {
		return nil
	}
	for _, c := range f.Proposal.Claims {
		for _, cited := range c.Citations {
			ids = append(ids, stepID(string(cited.Ref), cited.Field))
		}
	}
	return ids
}

// values takes a result apart. What the model was shown differs from the result in one way, the fence around other people's
// words, and so shows which values those are.
func values(s countersign.Step) []stepValue {
	shown := map[string]string{}
	var sent struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal([]byte(s.Shown), &sent) == nil {
		for _, leaf := range leaves(sent.Result) {
			shown[leaf.path] = leaf.text
		}
	}
	var all []stepValue
	for _, leaf := range leaves(s.Result) {
		value := stepValue{ID: stepID(string(s.Ref), leaf.path), Path: leaf.path, Text: legible(leaf.text)}
		if as, ok := shown[leaf.path]; leaf.text != "" && (!ok || as != leaf.text) {
			value.By = "others"
		}
		all = append(all, value)
	}
	return all
}

// leaf is one value of a JSON document with its path, as citations spell both.
type leaf struct{ path, text string }

// mostLeaves keeps a result that somebody made enormous from making a page that nobody can read.
const mostLeaves = 400

func leaves(doc json.RawMessage) (all []leaf) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	_ = walk(d, "", func(l leaf) bool {
		all = append(all, l)
		return len(all) < mostLeaves
	}) // what cannot be read to its end is shown as far as it can
	return all
}

// walk reads one value after the other in the order of the document.
func walk(d *json.Decoder, path string, see func(leaf) bool) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if err := walk(d, strings.TrimPrefix(path+"."+fmt.Sprint(key), "."), see); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			if err := walk(d, fmt.Sprintf("%s[%d]", path, i), see); err != nil {
				return err
			}
		}
	default:
		if !see(leaf{path, spelled(token)}) {
			return errEnough
		}
		return nil
	}
	_, err = d.Token() // the closing bracket
	return err
}

var errEnough = fmt.Errorf("more than %d values", mostLeaves)

// spelled is a value as JSON spells it, text without its quotes.
func spelled(token json.Token) string {
	if token == nil {
		return "null"
	}
	return fmt.Sprint(token)
}

// at is when a row was recorded.
func at(row store.RecordRow) time.Time { return time.UnixMicro(row.At) }
