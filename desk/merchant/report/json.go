package report

import "bytes"

// JSON is the content with its fingerprint: {"content":…,"fingerprint":"…"} and a line break, the content in canonical form.
func (r Report) JSON() []byte {
	var b bytes.Buffer
	b.WriteString(`{"content":`)
	b.Write(r.canonical)
	b.WriteString(`,"fingerprint":"` + r.fingerprint + `"}` + "\n")
	return b.Bytes()
}
