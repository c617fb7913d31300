package arch

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a document tells its reader to type, set or look up is there: prose drifts where nothing holds it.

var (
	makeTarget  = regexp.MustCompile(`(?m)^([a-z-]+):`)
	makeCommand = regexp.MustCompile("(?:`|^|&& )make ([a-z-]+)")
)

func commands(all tree) (checked int, broken []string) {
	var targets []string
	for _, s := range all.only(func(s source) bool { return s.path == "Makefile" }) {
		for _, m := range makeTarget.FindAllStringSubmatch(s.text, -1) {
			targets = append(targets, m[1])
		}
	}
	for _, s := range all.only(isDocument) {
		for _, line := range strings.Split(s.text, "\n") {
			for _, m := range makeCommand.FindAllStringSubmatch(line, -1) {
				checked++
				if !slices.Contains(targets, m[1]) {
					broken = append(broken, s.path+": there is no target for make "+m[1])
				}
			}
		}
	}
	return checked, broken
}

// A document names a test by its name, with or without what it was called for: `TestRules`, `TestRules/open return`.
var (
	quotedTest   = regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Z]\\w*)[`/]")
	testFunction = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark|Example)[A-Z]`)
)

func testsNamed(all tree) (checked int, broken []string) {
	exists := map[string]bool{}
	for _, s := range all.only(func(s source) bool { return s.syntax != nil && s.isTest() }) {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && testFunction.MatchString(f.Name.Name) {
				exists[f.Name.Name] = true
			}
		}
	}
	for _, s := range all.only(isDocument) {
		for _, m := range quotedTest.FindAllStringSubmatch(s.text, -1) {
			checked++
			if !exists[m[1]] {
				broken = append(broken, s.path+" names "+m[1]+", which is no test")
			}
		}
	}
	return checked, broken
}

// Every threat is answered by a test, or by a limit that is written down. A row of the model is a line of a table with three
// cells: the threat, what stands against it, what shows it.
var (
	threatRow = regexp.MustCompile(`(?m)^\|([^|]+)\|([^|]+)\|([^|]*)\|$`)
	answer    = regexp.MustCompile("`(?:Test|Fuzz)|\\(limits\\.md")
)

func threatsAnswered(all tree) (checked int, broken []string) {
	for _, s := range all.only(func(s source) bool { return s.path == "docs/threat-model.md" }) {
		for _, m := range threatRow.FindAllStringSubmatch(s.text, -1) {
			threat := strings.TrimSpace(m[1])
			if threat == "threat" || strings.Trim(threat, "-") == "" {
				continue
			}
			checked++
			if strings.TrimSpace(m[2]) == "" || !answer.MatchString(m[3]) {
				broken = append(broken, s.path+": nothing shows that this is answered: "+threat)
			}
		}
	}
	return checked, broken
}

// variable is a setting that a document names; the program must read one of that name.
var variable = regexp.MustCompile(`\bCOUNTERSIGN_[A-Z_]+\b`)

func variablesRead(all tree) (checked int, broken []string) {
	read := map[string]bool{}
	for _, s := range all.product() {
		for _, name := range variable.FindAllString(s.text, -1) {
			read[name] = true
		}
	}
	for _, s := range all.only(isDocument) {
		for _, name := range variable.FindAllString(s.text, -1) {
			checked++
			if !read[name] {
				broken = append(broken, s.path+" names "+name+", which nothing reads")
			}
		}
	}
	return checked, broken
}

// A document gives a command as one would type it; its words are fields of the command line's structs, in small letters.
var (
	typed   = regexp.MustCompile("(?m)(?:^ *|`|\\| |go run \\./cmd/)countersign ([a-z]+)")
	command = regexp.MustCompile("(?m)^\t([A-Z]\\w*)\\s+\\w+\\s+`cmd:\"\"")
)

func commandsTyped(all tree) (checked int, broken []string) {
	known := map[string]bool{}
	for _, s := range all.product().only(func(s source) bool { return s.dir() == "cmd/countersign" }) {
		for _, m := range command.FindAllStringSubmatch(s.text, -1) {
			known[strings.ToLower(m[1])] = true
		}
	}
	for _, s := range all.only(isDocument) {
		for _, m := range typed.FindAllStringSubmatch(s.text, -1) {
			checked++
			if !known[m[1]] {
				broken = append(broken, s.path+": there is no command countersign "+m[1])
			}
		}
	}
	return checked, broken
}

func TestClaims(t *testing.T) {
	t.Run("every make command that a document gives is a target", func(t *testing.T) { holds(t, commands) })
	t.Run("every command that a document types exists", func(t *testing.T) { holds(t, commandsTyped) })
	t.Run("every variable that a document names is read", func(t *testing.T) { holds(t, variablesRead) })
	t.Run("every test that a document names exists", func(t *testing.T) { holds(t, testsNamed) })
	t.Run("every threat is answered by a test or a written limit", func(t *testing.T) { holds(t, threatsAnswered) })

	t.Run("a command without a target is named", func(t *testing.T) {
		refuses(t, commands, "make tset", "Makefile", "test: ## Test\n\tgo test\n", "README.md", "Run `make tset`.")
		allows(t, commands, "Makefile", "test: ## Test\n\tgo test\n", "README.md", "We make sure. Run `make test`.")
	})
	t.Run("a test that is gone is named", func(t *testing.T) {
		refuses(t, testsNamed, "names TestGone, which is no test", "docs/x.md", "shown by `TestGone`")
		refuses(t, testsNamed, "names TestGone", "docs/x.md", "shown by `TestGone/a row of it`")
		refuses(t, testsNamed, "names FuzzDecision", "docs/x.md", "`FuzzDecision`", "x.go", "package x; func FuzzDecision() {}")
		allows(t, testsNamed, "docs/x.md", "`TestHere/a row`, `Testing`", "x_test.go", "package x; func TestHere(t *testing.T) {}")
	})
	threat := func(row string) []string {
		return []string{"docs/threat-model.md", "| threat | what stands against it | shown by |\n|---|---|---|\n" + row + "\n"}
	}
	t.Run("a threat without an answer is named", func(t *testing.T) {
		refuses(t, threatsAnswered, "answered: A stranger asks", threat("| A stranger asks | we refuse | |")...)
		refuses(t, threatsAnswered, "answered: A stranger asks", threat("| A stranger asks | we refuse | hope |")...)
		refuses(t, threatsAnswered, "answered: A stranger asks", threat("| A stranger asks | | `TestAsk` |")...)
		allows(t, threatsAnswered, threat("| A stranger asks | we refuse | `TestAsk` |")...)
		allows(t, threatsAnswered, threat("| The owner asks | nothing | [limits](limits.md) |")...)
	})
	t.Run("a variable that nothing reads is named", func(t *testing.T) {
		refuses(t, variablesRead, "COUNTERSIGN_MODLE", "README.md", "Set `COUNTERSIGN_MODLE`.", "cmd/countersign/x.go", "package main; const v = \"COUNTERSIGN_MODEL\"")
		allows(t, variablesRead, "README.md", "Set COUNTERSIGN_MODEL=x.", "cmd/countersign/x.go", "package main; const v = \"COUNTERSIGN_MODEL\"")
	})
	cli := []string{"cmd/countersign/main.go", "package main\ntype cli struct {\n\tDemo demoCommand `cmd:\"\"`\n}\n", "README.md"}
	t.Run("a command that does not exist is named", func(t *testing.T) {
		for _, text := range []string{"`countersign dmo --once`", "go run ./cmd/countersign dmo", "    countersign dmo | head"} {
			refuses(t, commandsTyped, "no command countersign dmo", append(cli, text)...)
		}
		allows(t, commandsTyped, append(cli, "`countersign demo --once`, and countersign wonders")...)
	})
}
