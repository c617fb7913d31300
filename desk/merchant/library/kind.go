package library

import (
	"bytes"
	"path"
	"strings"

	"countersign"
)

// Kind is how a file is written.
type Kind string

const (
	Markdown Kind = "Markdown"
	Plain    Kind = "plain text"
	HTML     Kind = "HTML"
	DOCX     Kind = "DOCX"
	PDF      Kind = "PDF"
)

// extensions says what a file's name promises.
var extensions = map[string]Kind{
	".md": Markdown, ".markdown": Markdown, ".txt": Plain, ".text": Plain, ".html": HTML, ".htm": HTML, ".xhtml": HTML, ".docx": DOCX, ".pdf": PDF,
}

// Extensions are the endings of the file names that are known, for a page to ask for.
const Extensions = ".md,.markdown,.txt,.text,.html,.htm,.xhtml,.docx,.pdf"

// kindOf says how a file is written by what is in it. The name only tells Markdown from plain text, which nothing in them does; a
// name that promises something else than the file holds is an error: somebody would look at the one and have us read the other.
// So is one whose ending nobody here knows: any bytes that happen to be letters are plain text, and a policy is what a shop prints.
func kindOf(name string, file []byte) (Kind, error) {
	kind, err := sniff(name, file)
	if err != nil {
		return "", err
	}
	switch promised, ok := extensions[extension(name)]; {
	case !ok && extension(name) != "":
		return "", refused("%s ends in %s, which is not known here", name, extension(name)).Try("expected a policy whose name ends in " + strings.ReplaceAll(Extensions, ",", ", ") + ", or in nothing")
	case ok && promised != kind:
		return "", refused("%s is called %s and holds %s", name, extension(name), kind).Try("give it the name of what it is, or save it as what it is called")
	}
	return kind, nil
}

func extension(name string) string { return strings.ToLower(path.Ext(name)) }

func sniff(name string, file []byte) (Kind, error) {
	switch {
	case len(bytes.TrimSpace(file)) == 0:
		return "", refused("%s is empty", name).Try("expected Markdown, text, HTML, DOCX or PDF")
	case bytes.Contains(file[:min(len(file), 1024)], []byte("%PDF-")):
		return PDF, nil
	case bytes.HasPrefix(file, []byte("PK\x03\x04")):
		return DOCX, nil // or another archive, which whoever opens it will say
	}
	for _, other := range others {
		if bytes.HasPrefix(file, []byte(other.beginning)) {
			return "", refused("%s is %s, expected Markdown, text, HTML, DOCX or PDF", name, other.what).Try(other.hint)
		}
	}
	if asksForBrowser(file) {
		return HTML, nil
	}
	switch kind := extensions[extension(name)]; kind {
	case Markdown, HTML:
		return kind, nil
	}
	return Plain, nil
}

// others are files that people try, by how they begin.
var others = []struct{ beginning, what, hint string }{
	{"\xD0\xCF\x11\xE0", "an old Word file, or a new one with a password", "save it as .docx without a password"},
	{"{\\rtf", "RTF", "save it as .docx or PDF"},
	{"\x89PNG", "a picture, which has no text to quote", "upload the document that the picture shows"},
	{"\xFF\xD8\xFF", "a picture, which has no text to quote", "upload the document that the picture shows"},
	{"GIF8", "a picture, which has no text to quote", "upload the document that the picture shows"},
	{"\x1F\x8B", "a compressed file", "unpack it and upload what is in it"},
}

// asksForBrowser reports whether a file begins as only a web page does.
func asksForBrowser(file []byte) bool {
	text, _, err := decode("", file[:min(len(file), 2048)&^1])
	if err != nil {
		return false
	}
	text = strings.ToLower(strings.TrimSpace(text))
	for strings.HasPrefix(text, "<!--") || strings.HasPrefix(text, "<?xml") {
		_, rest, ok := strings.Cut(text, ">")
		if !ok {
			return false
		}
		text = strings.TrimSpace(rest)
	}
	return strings.HasPrefix(text, "<!doctype html") || strings.HasPrefix(text, "<html")
}

// refused is the error of a file that cannot be a policy.
func refused(format string, args ...any) *countersign.Error {
	return countersign.Errorf(countersign.Invalid, format, args...).In("file")
}
