package store

import (
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"time"

	"countersign/audit"
)

// scanText reads a text column into anything that has a text form.
type scanText struct{ to encoding.TextUnmarshaler }

func (s scanText) Scan(src any) error {
	switch v := src.(type) {
	case string:
		return s.to.UnmarshalText([]byte(v))
	case []byte:
		return s.to.UnmarshalText(v)
	}
	return fmt.Errorf("cannot read %T as text", src)
}

// scanHash reads a hash for verification. What is not a hash becomes the zero one: it will not match what is recomputed, and
// is then named as a changed field at its case and step, instead of ending the walk over all the others.
type scanHash struct{ to *audit.Hash }

func (s scanHash) Scan(src any) error {
	if err := (scanText{s.to}).Scan(src); err != nil {
		*s.to = audit.Hash{}
	}
	return nil
}

// asJSON keeps a value as JSON text. Reading the empty string leaves the value as it is.
type asJSON struct{ value any }

func (j asJSON) Value() (driver.Value, error) {
	b, err := json.Marshal(j.value)
	return string(b), err
}

func (j asJSON) Scan(src any) error {
	s, ok := src.(string)
	if b, isBytes := src.([]byte); isBytes {
		s, ok = string(b), true
	}
	if !ok {
		return fmt.Errorf("cannot read %T as JSON", src)
	}
	if s == "" {
		return nil
	}
	return json.Unmarshal([]byte(s), j.value)
}

// scanMicros reads microseconds since 1970 into an instant.
type scanMicros struct{ to *time.Time }

func (m scanMicros) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("cannot read %T as microseconds", src)
	}
	*m.to = time.UnixMicro(v).UTC()
	return nil
}

// wrap says what was being done; it keeps nil nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
