package probe

import (
	"context"
	"encoding/json"
	"strings"

	"countersign/llm"
	"countersign/redact"
)

// The questions are about invented payments with the names of trees, so that nothing of a case is in them and no word is
// masked on its way out.

var (
	readPayment = llm.Tool{Name: "read_payment", Description: "Reads one payment by its name.",
		Schema: json.RawMessage(`{"type":"object","properties":{"payment":{"type":"string","description":"the name of one payment"}},"required":["payment"],"additionalProperties":false}`)}
	report = llm.Tool{Name: "report", Description: "Reports one word to the user.",
		Schema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"],"additionalProperties":false}`)}
	sortLetter = llm.Tool{Name: "sort_letter", Description: "Files a customer's letter.",
		Schema: json.RawMessage(`{"type":"object","properties":{"mood":{"type":"string","enum":["calm","tense","unclear"]},` +
			`"urgency":{"type":"integer","minimum":1,"maximum":3},"answered":{"type":"boolean"}},"required":["mood","urgency","answered"],"additionalProperties":false}`)}
)

// moods are the list in the schema of sortLetter.
var moods = []string{"calm", "tense", "unclear"}

// room is enough for a model that thinks before it calls, and a bound on one that does not stop.
const room = 4000

func question(text string, tools ...llm.Tool) llm.Request {
	return llm.Request{
		System:    redact.Mask("You test a connection. Do what the user asks with the tools that you have, at once, and ask nothing back."),
		Messages:  []llm.Message{user(text)},
		Tools:     tools,
		MaxOutput: room,
	}
}

func user(text string) llm.Message { return llm.Message{Role: llm.User, Text: redact.Mask(text)} }

func callQuestion() llm.Request { return question("Read the payment maple.", readPayment, report) }

func forcedQuestion() llm.Request {
	q := question("Greet me.", readPayment, report)
	q.Force = report.Name
	return q
}

// strictQuestion has a word in it that fits the field and not its list.
func strictQuestion() llm.Request {
	q := question("File this letter: I am furious, this is the ninth time that I write, and nobody has answered me.", sortLetter)
	q.Force = sortLetter.Name
	return q
}

// codes are what the payments hold; the model can only know them from the results.
var codes = map[string]string{"maple": "amber", "birch": "copper", "cedar": "violet"}

func severalQuestion() llm.Request {
	return question("Read the payments maple, birch and cedar: all three now, each by a call of its own, in one reply. "+
		"Once you have their results, call report with the code of the payment cedar.", readPayment, report)
}

// goOn answers the calls of a reply and asks again, as an investigation would.
func (i *interview) goOn(ctx context.Context, h heard) heard {
	if !h.answered() || len(h.reply.Calls) == 0 {
		return heard{why: "there was no tool call to answer"}
	}
	q := h.asked
	r := h.reply
	q.Messages = append(q.Messages[:1:1], llm.Message{Role: llm.Assistant, Text: redact.Mask(r.Text), Calls: r.Calls, Opaque: r.Opaque})
	for _, c := range r.Calls {
		q.Messages = append(q.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: redact.Mask(result(c))})
	}
	return i.put(ctx, q)
}

func result(c llm.Call) string {
	code, known := codes[argument(c, "payment")]
	if !known {
		return `{"ok":false,"error":"there is no such payment; the payments are maple, birch and cedar"}`
	}
	return `{"ok":true,"code":"` + code + `"}`
}

// longQuestion is a conversation of at least that many tokens by our low estimate. The word stands in its first message,
// which a server that cuts off what does not fit drops first.
func longQuestion(tokens int64, word string) llm.Request {
	q := question("The word to remember is "+word+". Notes follow, one at a time; nothing is to be done about them.", report)
	for n := 0; llm.Estimate(q) < tokens; n++ {
		q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Text: redact.Mask("Noted.")}, user("Note: "+note(n)))
	}
	q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Text: redact.Mask("Noted.")},
		user("Now call report with the word to remember. It stood in my first message."))
	q.Force = report.Name
	return q
}

var noteWords = strings.Fields("river window carpet morning engine garden letter market winter bridge candle silver doctor orange " +
	"travel summer kitchen paper station village music pocket mirror forest bottle corner animal ticket planet basket " +
	"ladder button helmet thunder cotton pepper rocket saddle tunnel walnut")

// note is three hundred words that are the same for the same number and repeat nothing that a vocabulary would shorten.
func note(n int) string {
	words := make([]string, 300)
	at := uint32(n)*2654435761 + 1
	for i := range words {
		at = at*1664525 + 1013904223
		words[i] = noteWords[int(at>>16)%len(noteWords)]
	}
	return strings.Join(words, " ") + "."
}

// argument is one text of a call's arguments, empty when there is none.
func argument(c llm.Call, name string) string {
	object, err := c.Object()
	if err != nil {
		return ""
	}
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(object, &fields) != nil || json.Unmarshal(fields[name], &text) != nil {
		return ""
	}
	return text
}
