package openai

import (
	"encoding/json"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"countersign/llm"
)

// request is the conversation on the wire. The same conversation gives the same bytes, in whichever process.
//
// No temperature is sent: some models accept only their own.
func (m *Model) request(req llm.Request) openai.ChatCompletionRequest {
	wire := openai.ChatCompletionRequest{
		Model:           m.cfg.Model,
		Messages:        messages(req),
		Tools:           tools(req.Tools),
		ReasoningEffort: m.cfg.ReasoningEffort,
	}
	if req.Force != "" {
		wire.ToolChoice = openai.ToolChoice{Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: req.Force}}
	}
	m.limit(&wire, req.MaxOutput)
	return wire
}

// limit caps the output in the field that this model takes: hosted reasoning models refuse max_tokens, and many local
// servers know nothing else.
func (m *Model) limit(wire *openai.ChatCompletionRequest, tokens int) {
	if tokens == 0 {
		tokens = m.cfg.MaxOutput
	}
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(m.cfg.Model, family) {
			wire.MaxCompletionTokens = tokens
			return
		}
	}
	wire.MaxTokens = tokens
}

func messages(req llm.Request) []openai.ChatCompletionMessage {
	out := make([]openai.ChatCompletionMessage, 0, len(req.Messages)+1)
	if system := req.System.String(); system != "" {
		out = append(out, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: system})
	}
	for _, msg := range req.Messages {
		out = append(out, message(msg))
	}
	return out
}

func message(msg llm.Message) openai.ChatCompletionMessage {
	text := msg.Text.String()
	switch msg.Role {
	case llm.ToolRole:
		return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: text, ToolCallID: msg.CallID}
	case llm.Assistant:
		if text == "" && len(msg.Calls) == 0 {
			text = llm.NoAnswer
		}
		return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: text, ToolCalls: calls(msg.Calls)}
	}
	return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text}
}

// calls replays earlier calls in a form that every server can parse again, whatever the model had written.
func calls(history []llm.Call) []openai.ToolCall {
	var out []openai.ToolCall
	for _, c := range history {
		f := openai.FunctionCall{Name: c.ReplayableName(), Arguments: c.Replayable()}
		out = append(out, openai.ToolCall{ID: c.ID, Type: openai.ToolTypeFunction, Function: f})
	}
	return out
}

func tools(offered []llm.Tool) []openai.Tool {
	var out []openai.Tool
	for _, t := range offered {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		f := &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: schema}
		out = append(out, openai.Tool{Type: openai.ToolTypeFunction, Function: f})
	}
	return out
}
