package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
)

// Repack writes an archive anew after somebody edited what is in it; the sums fit a database that was edited.
func Repack(from io.Reader, to io.Writer, edit func(manifest, database []byte) ([]byte, []byte)) error {
	var database bytes.Buffer
	m, err := unpack(from, &database)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	text, content := edit(text, database.Bytes())
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	if !bytes.Equal(content, database.Bytes()) {
		sum := sha256.Sum256(content)
		m.Content.Size, m.Content.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
	}
	return pack(to, m, bytes.NewReader(content))
}
