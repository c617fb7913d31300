package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// What goes to a model or into a log has been masked. For a model the type says so: a request holds redact.Text and no other
// free text, and nobody but package redact can make one. For a log the handler does, so there is no other handler.

// makers are the functions of package redact that make a Text; each masks.
var makers = strings.Fields("Mask JSON Join")

// plain are the strings in a message to a model that are ours: names and ids, never words of a record or a person.
var plain = map[string][]string{"Request": {"Force"}, "Message": {"CallID"}}

func onlyRedactMakesText(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		switch s.dir() {
		case "redact":
			n, complaints := closedText(s)
			checked, broken = checked+n, append(broken, complaints...)
		case "llm":
			n, complaints := maskedMessages(s)
			checked, broken = checked+n, append(broken, complaints...)
		}
		for _, way := range []string{"unsafe", "C"} { // ways round a field that is not exported
			if slices.Contains(imported(s), way) {
				broken = append(broken, s.path+": imports "+way+", with which anything can be made of anything")
			}
		}
		if strings.Contains(s.text, "//go:linkname") {
			broken = append(broken, s.path+": a linkname reaches what a package keeps to itself")
		}
	}
	return checked, broken
}

// closedText finds what would let somebody else make a Text: an exported field, another function that returns one, or a
// method that fills one.
func closedText(s source) (checked int, broken []string) {
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if n.Name.Name != "Text" {
				return true
			}
			checked++
			structure, ok := n.Type.(*ast.StructType)
			if !ok || n.Assign.IsValid() || slices.ContainsFunc(fieldNames(structure.Fields), func(name string) bool { return name == "" || ast.IsExported(name) }) {
				broken = append(broken, s.at(n)+": Text must be a struct that nobody else can fill")
			}
		case *ast.FuncDecl:
			if n.Recv != nil && ast.IsExported(n.Name.Name) && isPointerTo(n.Recv.List[0].Type, "Text") {
				broken = append(broken, s.at(n)+": "+n.Name.Name+" could fill a Text")
			}
			if ast.IsExported(n.Name.Name) && returns(n.Type, "Text") && (n.Recv != nil || !slices.Contains(makers, n.Name.Name)) {
				broken = append(broken, s.at(n)+": "+n.Name.Name+" makes a Text: say in this test that it masks")
			}
		}
		return true
	})
	return checked, broken
}

func isPointerTo(e ast.Expr, name string) bool {
	star, ok := e.(*ast.StarExpr)
	return ok && isName(star.X, name)
}

func returns(f *ast.FuncType, name string) bool {
	return f.Results != nil && slices.ContainsFunc(f.Results.List, func(r *ast.Field) bool {
		return isName(r.Type, name) || isPointerTo(r.Type, name)
	})
}

// maskedMessages finds free text in what is sent to a model.
func maskedMessages(s source) (checked int, broken []string) {
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || plain[spec.Name.Name] == nil {
			return true
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		checked++
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				if text := isName(field.Type, "string") || isName(field.Type, "any"); text && !slices.Contains(plain[spec.Name.Name], name.Name) {
					broken = append(broken, s.at(field)+": "+spec.Name.Name+"."+name.Name+" goes to a model and is no redact.Text")
				}
			}
		}
		return true
	})
	return checked, broken
}

// What writes to a log without the handler that masks: the default logger, package log, and a handler used bare.
var (
	bareLogs = map[string][]string{
		"slog": strings.Fields("Debug DebugContext Info InfoContext Warn WarnContext Error ErrorContext Log LogAttrs Default SetDefault With"),
		"log":  strings.Fields("Print Printf Println Fatal Fatalf Fatalln Panic Panicf Panicln New Default SetOutput"),
	}
	handlers = strings.Fields("NewJSONHandler NewTextHandler")
)

func onlyMaskedLogs(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		if layerOf(s.dir()) == fixtures {
			continue
		}
		masked := map[ast.Node]bool{} // the handlers that redact was given
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch x := receiver(f); {
			case x == "redact" && f.Sel.Name == "NewHandler":
				masked[call.Args[0]] = true
			case x == "slog" && slices.Contains(handlers, f.Sel.Name):
				if checked++; !masked[call] {
					broken = append(broken, s.at(call)+": a log handler that redact.NewHandler does not wrap")
				}
			case slices.Contains(bareLogs[x], f.Sel.Name):
				broken = append(broken, s.at(call)+": "+x+"."+f.Sel.Name+" writes past the handler that masks")
			}
			return true
		})
	}
	return checked, broken
}

func TestNothingLeavesUnmasked(t *testing.T) {
	t.Run("only package redact makes text for a model", func(t *testing.T) { holds(t, onlyRedactMakesText) })
	t.Run("only a handler that masks writes a log", func(t *testing.T) { holds(t, onlyMaskedLogs) })

	for _, row := range []struct{ sentence, file, code, want string }{
		{"a Text that anybody can fill", "redact/x.go", "package redact; type Text struct{ S string }", "nobody else can fill"},
		{"a Text that is a string", "redact/x.go", "package redact; type Text string", "nobody else can fill"},
		{"a Text that embeds another type", "redact/x.go", "package redact; type Text struct{ string }", "nobody else can fill"},
		{"a way to make one without masking", "redact/x.go", "package redact; func Raw(s string) Text { return Text{s} }", "Raw makes a Text"},
		{"a method that makes one of another", "redact/x.go", "package redact; func (t Text) JSON(s string) Text { return Text{s} }", "JSON makes a Text"},
		{"a Text that is read from outside", "redact/x.go", "package redact; func (t *Text) UnmarshalJSON(b []byte) error { return nil }", "UnmarshalJSON could fill"},
		{"a message with a plain string", "llm/x.go", "package llm; type Message struct{ Text redact.Text; Note string }", "Message.Note goes to a model"},
		{"a request whose system text is plain", "llm/x.go", "package llm; type Request struct{ System string }", "Request.System goes to a model"},
		{"a way round the type", "llm/openai/x.go", "package openai; import \"unsafe\"; var p unsafe.Pointer", "imports unsafe"},
	} {
		t.Run("seen: "+row.sentence, func(t *testing.T) { refuses(t, onlyRedactMakesText, row.want, row.file, row.code) })
	}
	t.Run("allowed: what masks, and what only package redact can call", func(t *testing.T) {
		allows(t, onlyRedactMakesText, "redact/x.go", "package redact; type Text struct{ s string }; func Mask(s string) Text { return Text{s} }; func raw(s string) Text { return Text{s} }")
	})
	t.Run("allowed: ids, roles and replies", func(t *testing.T) {
		allows(t, onlyRedactMakesText, "llm/x.go", "package llm; type Message struct{ Role Role; Text redact.Text; CallID string }; type Reply struct{ Text string }")
	})
	for _, code := range []string{`slog.New(slog.NewJSONHandler(os.Stderr, nil))`, `slog.Info("x")`, `slog.SetDefault(l)`, `log.Printf("x")`} {
		t.Run("seen: "+code, func(t *testing.T) {
			refuses(t, onlyMaskedLogs, "handler", "app/x.go", "package app; func f() { "+code+" }")
		})
	}
	t.Run("allowed: the handler inside the one that masks, and a logger that was handed in", func(t *testing.T) {
		allows(t, onlyMaskedLogs, "app/x.go", "package app; func f(a App) { l := slog.New(redact.NewHandler(slog.NewJSONHandler(os.Stderr, nil))); a.Log.Info(\"x\") }")
	})
}
