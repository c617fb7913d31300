package library

import (
	"html"
	"regexp"
	"strings"
)

// plainMarkdown is a Markdown file as its reader sees it: what marks bold words, links and code is gone, and headings, lists and
// tables stand as they are written. Lines stay lines, so that a text can be found in the file. What is struck out, hidden or a
// comment is left out.
func plainMarkdown(text string) (plain string, left omissions, look []string) {
	text, left, look = seen(withoutPreface(text), true)
	var lines []string
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		switch bare := strings.TrimSpace(line); {
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fenced = !fenced
			lines = append(lines, "")
		case fenced:
			lines = append(lines, line)
		case underline.MatchString(bare) && len(lines) > 0 && isParagraph(lines[len(lines)-1]):
			lines[len(lines)-1] = map[byte]string{'=': "# ", '-': "## "}[bare[0]] + lines[len(lines)-1]
		case tableRule.MatchString(bare), rule.MatchString(bare), bareMark.MatchString(bare):
			lines = append(lines, "")
		default:
			lines = append(lines, inline(blockquote.ReplaceAllString(line, "")))
		}
	}
	return strings.Join(lines, "\n"), left, look
}

// plainText is a text file as it is, but for what somebody struck out in it as one does in Markdown.
func plainText(text string) (plain string, left omissions, look []string) { return seen(text, false) }

var (
	underline  = regexp.MustCompile(`^(=+|--+)$`)
	tableRule  = regexp.MustCompile(`^\|?( *:?-+:? *\|)+( *:?-+:? *)?$`)
	bareMark   = regexp.MustCompile(`^([-*+]|\d+[.)]|#+)$`) // of an item or a heading whose text is left out
	rule       = regexp.MustCompile(`^([-*_] *){3,}$`)
	blockquote = regexp.MustCompile(`^ {0,3}(> ?)+`)
)

// isParagraph reports whether a line under it would make a heading of a line.
func isParagraph(line string) bool {
	return strings.TrimSpace(line) == line && line != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "#")
}

// withoutPreface drops the settings that some put in front, between two lines of dashes.
func withoutPreface(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if settings, body, ok := strings.Cut(rest, "\n---\n"); ok && strings.Contains(settings, ":") {
			return body
		}
	}
	return text
}

// inlines are taken away in this order; what a pattern keeps is its groups. What stands for a picture is read by nobody who sees it.
var inlines = []*regexp.Regexp{
	regexp.MustCompile("`+([^`]+)`+"),
	regexp.MustCompile(`()!\[[^\]]*\](?:\([^()]*\)|\[[^\]]*\])`),
	regexp.MustCompile(`\[([^\]]*)\]\([^()\s]*(?: "[^"]*")?\)`),
	regexp.MustCompile(`<(https?://[^>\s]+)>`),
	regexp.MustCompile(`()</?(?:a|abbr|b|br|code|em|i|ins|kbd|mark|p|small|span|strong|sub|sup|u)(?: [^<>]*)?/?>`),
	regexp.MustCompile(`\*\*(\S(?:[^*]*\S)?)\*\*`),
	regexp.MustCompile(`\b__(\S(?:.*?\S)?)__\b`),
	regexp.MustCompile(`(^|[^\pL\pN*])\*(\S(?:[^*]*[^\s*])?)\*`),
	regexp.MustCompile(`\b_(\S(?:[^_]*\S)?)_\b`),
}

var escape = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)

func inline(line string) string {
	for _, pattern := range inlines {
		line = pattern.ReplaceAllString(line, "$1$2")
	}
	return html.UnescapeString(escape.ReplaceAllString(line, "$1"))
}
