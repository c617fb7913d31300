package events

import (
	"fmt"
	"strings"
)

// Transitions is the table of transitions in Markdown, as docs/events.md shows it.
func Transitions() string {
	var b strings.Builder
	b.WriteString("| stands as | hears | what the event does | why |\n|---|---|---|---|\n")
	for _, row := range Table {
		var to []string
		for _, word := range row.To {
			to = append(to, string(word))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.From, strings.Join(to, ", "), row.Does, row.Why)
	}
	fmt.Fprintf(&b, "| anything | a later round, whatever it says | %s | %s |\n| anything | an earlier round | %s | it was so once |\n", Turns, anotherRound, History)
	return b.String()
}

// StatusWords is what each status means at each stage, in Markdown.
func StatusWords() string {
	var b strings.Builder
	b.WriteString("| status | leaves it | of an inquiry | of a chargeback, and what follows it |\n|---|---|---|---|\n")
	for _, status := range Statuses {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", status, stands[status], Says(Inquiry, status), Says(Chargeback, status))
	}
	return b.String()
}

// CapabilityTable is what can be done at each stage, in Markdown.
func CapabilityTable() string {
	var b strings.Builder
	b.WriteString("| stage | network | contest | accept | refund in the shop |\n|---|---|---|---|---|\n")
	for _, c := range Capabilities {
		network := c.Network
		if network == "" {
			network = "any"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Stage, network, yes(c.Contest), yes(c.Accept), yes(c.Refund))
	}
	return b.String()
}

func yes(not string) string {
	if not == "" {
		return "yes"
	}
	return "no: " + not
}
