package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"visible": visible, "short": Short, "mono": func(k ColumnKind) bool { return k == IDColumn },
}).Parse(page))

// HTML is one self-contained page: no script, nothing to load, and the canonical content inside. It carries every text, in any
// script.
func (r Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	data := struct {
		composition
		Content template.JS
	}{r.compose(), template.JS(embedded(r.canonical))}
	if err := pageTemplate.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("draw the report as HTML: %w", err)
	}
	return b.Bytes(), nil
}

// embedded is JSON that may stand in a script element: what could end the element, or begin a comment in it, is escaped. Whoever
// reads it as JSON and writes it in the canonical form has the canonical bytes.
func embedded(canonical []byte) string { return escapeScript.Replace(string(canonical)) }

var escapeScript = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)

const (
	contentBegins = `<script type="application/json" id="countersign-report">`
	contentEnds   = `</script>`
)
