package openai

import (
	"strings"
	"testing"

	"countersign/llm/llmtest"
)

var (
	serve, says, first             = llmtest.Serve, llmtest.Says, llmtest.First
	getTransaction, submitDecision = llmtest.GetTransaction, llmtest.SubmitDecision
)

func model(t testing.TB, url string, edit ...func(*Config)) *Model {
	t.Helper()
	settings, _ := llmtest.Settings(url)
	cfg := Config{Server: settings}
	for _, e := range edit {
		e(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// completion is an answer with one choice.
func completion(message, finish string) string {
	return `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish +
		`}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`
}

// toolCalls is an assistant message with these calls, each {id, name, arguments as JSON}.
func toolCalls(calls ...[3]string) string {
	var parts []string
	for _, c := range calls {
		parts = append(parts, `{"id":`+c[0]+`,"type":"function","function":{"name":`+c[1]+`,"arguments":`+c[2]+`}}`)
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(parts, ",") + `]}`
}
