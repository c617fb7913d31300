package report

import (
	"bytes"
	"compress/zlib"
	"io"
	"strings"
	"unicode/utf16"
)

// embeddedFiles are the files inside a PDF, as far as they stand in it the way most programs write them: a stream of its own,
// deflated. What is damaged is cut where the damage begins.
func embeddedFiles(pdf []byte) (files [][]byte) {
	for rest := pdf; len(files) < mostEmbedded; {
		at := bytes.Index(rest, []byte("/EmbeddedFile"))
		if at < 0 {
			return files
		}
		rest = rest[at+len("/EmbeddedFile"):]
		if len(rest) > 0 && rest[0] == 's' { // the name tree, /EmbeddedFiles
			continue
		}
		if content, ok := streamAfter(rest); ok {
			files = append(files, content)
		}
	}
	return files
}

// A file that was made to fill our memory is not read further than this.
const (
	mostEmbedded = 4
	mostInflated = 4 * maxCanonical
)

// streams are the deflated streams of a PDF, in their order.
func streams(pdf []byte) (all [][]byte) {
	for size := 0; size < mostInflated; {
		_, rest, more := bytes.Cut(pdf, []byte("\nstream\n"))
		if !more {
			break
		}
		content, _ := inflated(rest)
		all, size = append(all, content), size+len(content)
		pdf = rest
	}
	return all
}

func streamAfter(pdf []byte) ([]byte, bool) {
	dictionary, rest, ok := bytes.Cut(pdf, []byte("stream"))
	if !ok || bytes.Contains(dictionary, []byte("endobj")) {
		return nil, false
	}
	rest = bytes.TrimPrefix(rest, []byte("\r"))
	return inflated(bytes.TrimPrefix(rest, []byte("\n")))
}

func inflated(deflated []byte) (content []byte, begun bool) {
	z, err := zlib.NewReader(bytes.NewReader(deflated))
	if err != nil {
		return nil, false
	}
	content, _ = io.ReadAll(io.LimitReader(z, maxCanonical+1))
	return content, true
}

// shown is the text that a line of a page's drawing puts on the page, empty if it puts none.
func shown(drawing string) string {
	begin, end := strings.Index(drawing, "Td ("), strings.LastIndex(drawing, ") Tj")
	if begin < 0 || end < begin {
		return ""
	}
	raw := unescapePDF.Replace(drawing[begin+len("Td (") : end])
	var units []uint16
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	return string(utf16.Decode(units))
}

var unescapePDF = strings.NewReplacer(`\\`, `\`, `\(`, `(`, `\)`, `)`, `\r`, "\r")
