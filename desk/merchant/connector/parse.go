package connector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"countersign"
)

// largestMapping is far above any that a person would write.
const largestMapping = 1 << 20

// ParseMapping reads a mapping strictly: a field that is not known, a key that is there twice, a value of the wrong kind and
// whatever Faults finds is an error of the kind invalid that names its field. The DSN may be missing: the store keeps it apart.
func ParseMapping(text []byte) (Mapping, error) {
	if len(text) > largestMapping {
		return Mapping{}, countersign.Errorf(countersign.TooLarge, "a mapping has at most %d bytes, this has %d", largestMapping, len(text))
	}
	r := reader{}
	m := r.mapping(r.tree(text))
	if r.err == nil {
		r.err = slices.Concat(m.Faults(), []*countersign.Error{nil})[0]
	}
	if r.err != nil { // an empty *Error in an error would not be nil
		return Mapping{}, r.err
	}
	return m, nil
}

// reader takes a JSON document apart and keeps the first thing that was wrong with it.
type reader struct{ err *countersign.Error }

func (r *reader) fail(field, format string, args ...any) *countersign.Error {
	problem := countersign.Errorf(countersign.Invalid, format, args...).In(field)
	if r.err == nil {
		r.err = problem
	}
	return problem
}

type object map[string]any

// sorted yields the members by their keys: of one document there is one first complaint, whatever the order of a Go map.
func (o object) sorted() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if !yield(key, o[key]) {
				return
			}
		}
	}
}

// tree decodes what encoding/json would, and refuses keys that are there twice: it would silently take the last.
func (r *reader) tree(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := r.value(d, "")
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("there is more after its end")
		}
	}
	if err != nil {
		r.fail("", "the mapping is not one JSON object: %v", err)
	}
	return v
}

func (r *reader) value(d *json.Decoder, path string) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return r.members(d, path)
	case json.Delim('['):
		return r.items(d, path)
	}
	return token, nil
}

func (r *reader) members(d *json.Decoder, path string) (any, error) {
	all := object{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string) // the decoder gives nothing else here
		if _, twice := all[key]; twice {
			r.fail(below(path, key), "the field is there twice").Try("keep one of them")
		}
		if all[key], err = r.value(d, below(path, key)); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return all, err
}

func (r *reader) items(d *json.Decoder, path string) (any, error) {
	list := []any{}
	for d.More() {
		v, err := r.value(d, fmt.Sprintf("%s[%d]", path, len(list)))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func below(path, key string) string {
	key = shown(key)
	if path == "" {
		return key
	}
	return path + "." + key
}

// object is v, with no field but those that are known.
func (r *reader) object(path string, v any, known ...string) object {
	o, ok := v.(object)
	switch {
	case !ok && path == "":
		r.fail(path, "the mapping is not one JSON object")
	case !ok:
		r.fail(path, "%s stands where an object was expected", spelled(v))
	}
	for key := range o.sorted() {
		if !slices.Contains(known, key) {
			r.fail(below(path, key), "a mapping has no such field here").Try(near(key, known))
		}
	}
	return o
}

func (r *reader) text(path string, v any) string {
	s, ok := v.(string)
	if !ok && v != nil {
		r.fail(path, "%s stands where a text was expected", spelled(v)).Try("write it in quotes")
	}
	return s
}

func (r *reader) texts(path string, v any) (list []string) {
	items, ok := v.([]any)
	if !ok {
		r.fail(path, "%s stands where a list of texts was expected", spelled(v)).Try(`write it as ["…", "…"]`)
	}
	for i, item := range items {
		if item == nil {
			r.fail(fmt.Sprintf("%s[%d]", path, i), "null is no text")
		}
		list = append(list, r.text(fmt.Sprintf("%s[%d]", path, i), item))
	}
	return list
}

// spelled is a value of a document inside a sentence.
func spelled(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case object:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "the text " + fmt.Sprintf("%q", shown(v))
	}
	return fmt.Sprint(v)
}

func (r *reader) mapping(v any) (m Mapping) {
	o := r.object("", v, "name", "driver", "dsn", "zone", "currency", "unit", "entities")
	m.Name, m.Driver, m.DSN = r.text("name", o["name"]), r.text("driver", o["driver"]), DSN(r.text("dsn", o["dsn"]))
	m.Zone, m.Currency, m.Unit = r.text("zone", o["zone"]), r.text("currency", o["currency"]), r.text("unit", o["unit"])
	var kinds []string
	for _, k := range Kinds {
		kinds = append(kinds, string(k))
	}
	m.Entities = map[Kind]Entity{}
	entities := r.object("entities", o["entities"], kinds...)
	for _, k := range Kinds {
		if e, there := entities[string(k)]; there {
			m.Entities[k] = r.entity("entities."+string(k), e)
		}
	}
	return m
}

func (r *reader) entity(path string, v any) (e Entity) {
	o := r.object(path, v, "schema", "table", "key", "order_key", "join", "where", "columns", "states", "unit", "currency", "zone", "sign")
	text := func(field string) string { return r.text(below(path, field), o[field]) }
	e = Entity{Schema: text("schema"), Table: text("table"), Key: text("key"), OrderKey: text("order_key"),
		Unit: text("unit"), Currency: text("currency"), Zone: text("zone"), Sign: text("sign")}
	for at, join := range r.oneOrMore(below(path, "join"), o["join"]) {
		e.Join = append(e.Join, r.join(at, join))
	}
	for at, condition := range r.oneOrMore(below(path, "where"), o["where"]) {
		e.Where = append(e.Where, r.condition(at, condition))
	}
	e.Columns = map[string]string{}
	if columns := below(path, "columns"); o["columns"] != nil {
		for key, column := range r.open(columns, o["columns"]).sorted() {
			e.Columns[key] = r.text(below(columns, key), column)
		}
	}
	if states := below(path, "states"); o["states"] != nil {
		e.States = map[string][]string{}
		for key, values := range r.open(states, o["states"]).sorted() {
			e.States[key] = r.texts(below(states, key), values)
		}
	}
	return e
}

// open is v with whatever fields it has: Faults knows which a kind may have, and so does whoever writes one in Go.
func (r *reader) open(path string, v any) object {
	o, ok := v.(object)
	if !ok {
		r.fail(path, "%s stands where an object was expected", spelled(v))
	}
	return o
}

// oneOrMore yields the items of a list, or the one thing that stands without a list around it, each with its path.
func (r *reader) oneOrMore(path string, v any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		list, ok := v.([]any)
		if !ok && v != nil {
			yield(path, v)
		}
		for i, item := range list {
			if !yield(fmt.Sprintf("%s[%d]", path, i), item) {
				return
			}
		}
	}
}

func (r *reader) join(path string, v any) (j Join) {
	o := r.object(path, v, "schema", "table", "on", "order_key")
	j.Schema, j.Table = r.text(below(path, "schema"), o["schema"]), r.text(below(path, "table"), o["table"])
	j.OrderKey = r.text(below(path, "order_key"), o["order_key"])
	at := below(path, "on")
	if long, ok := o["on"].(object); ok {
		r.object(at, long, "left", "right")
		j.On = On{r.text(below(at, "left"), long["left"]), r.text(below(at, "right"), long["right"])}
		return j
	}
	j.On = onOf(r.text(at, o["on"]))
	return j
}

func (r *reader) condition(path string, v any) (c Condition) {
	o := r.object(path, v, "column", "is_null", "not_null", "equals")
	c.Column = r.text(below(path, "column"), o["column"])
	c.IsNull, c.NotNull = r.yes(below(path, "is_null"), o["is_null"]), r.yes(below(path, "not_null"), o["not_null"])
	switch equals := o["equals"].(type) {
	case nil:
	case json.Number: // as it is spelled: 1 is what a tinyint column shows
		text := equals.String()
		c.Equals = &text
	default:
		text := r.text(below(path, "equals"), equals)
		c.Equals = &text
	}
	return c
}

// yes reads true, the only thing that these fields may be: what false would mean, the other one says.
func (r *reader) yes(path string, v any) bool {
	if v != nil && v != true {
		r.fail(path, "%s stands where true was expected", spelled(v)).Try(strings.NewReplacer("is_null", "not_null", "not_null", "is_null").Replace("write " + path[strings.LastIndex(path, ".")+1:] + " for the opposite"))
	}
	return v == true
}
