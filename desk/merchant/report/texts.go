package report

import (
	"reflect"
	"strconv"
)

// texts calls found for every text of the content with the path of its field, facts[2].value, in the order of the canonical form.
func (c Content) texts(found func(path, text string)) {
	walk(reflect.ValueOf(c), "", c.Format, found)
}

func walk(v reflect.Value, path string, format int, found func(path, text string)) {
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type(), format) {
			walk(v.Field(f.index), joined(path, f.key), format, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), path+"["+strconv.Itoa(i)+"]", format, found)
		}
	case reflect.String:
		found(path, v.String())
	}
}

func joined(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
