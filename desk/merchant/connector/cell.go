package connector

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cell is one value of a row as text. Empty is what the database calls NULL.
type cell struct {
	text string
	null bool
}

// Scan takes whatever a driver hands over. What is not UTF-8 and a NUL, which no database of ours would keep, become the sign
// for what cannot be shown; what is longer than anything that is understood ends with "…".
func (c *cell) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		c.text, c.null = "", true
		return nil
	case string:
		c.text = v
	case []byte:
		c.text = string(v)
	case int64:
		c.text = strconv.FormatInt(v, 10)
	case float64: // the shortest text that is this float and no other: 49.9 stays 49.9, 0.1+0.2 does not become 0.3
		c.text = strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		c.text = v.Format(time.RFC3339Nano)
	default:
		c.text = fmt.Sprint(v)
	}
	c.text = strings.ReplaceAll(strings.ToValidUTF8(c.text, "�"), "\x00", "�")
	if r := []rune(c.text); len(r) > widest {
		c.text = string(r[:widest]) + "…"
	}
	return nil
}
