package main

import (
	"fmt"
	"strings"
	"testing"

	"countersign/internal/testdb"
	"countersign/llm/llmtest"
)

// newMessagesServer is a model server that proposes what newModelServer does, in the other dialect: it thinks before it calls,
// signs its thinking, and answers 400 to a turn that breaks a rule of the protocol or does not bring the thinking back.
func newMessagesServer(t *testing.T) (*modelServer, *llmtest.Messages) {
	m := &modelServer{asked: map[string]int{}}
	s := llmtest.ServeMessages(t, llmtest.Newer, func(r llmtest.MessagesRequest) (string, string) {
		canary := canaryOf(r.Messages[0].Blocks[0].Text)
		held, _ := m.count(r.Turn, canary, r.Body)
		<-held
		content := fmt.Sprintf(`{ "type":"thinking", "thinking":"%s: <b>hm\u2026</b>", "signature":"%[1]s/%d==" },{"type":"redacted_thinking","data":"%[1]s%[2]d"}`, canary, r.Turn)
		for i, c := range wanted(r.Turn, canary) {
			content += fmt.Sprintf(`,{"type":"tool_use","id":"toolu_%d_%d","name":%q,"input":%s}`, r.Turn, i, c.name, c.args)
		}
		return "[" + content + "]", "tool_use"
	})
	s.Insists, m.Server = true, s.Server
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the model server refused %q", s.Refused())
		}
	})
	return m, s
}

// A case is worked over the Messages API as over any other, and a process that is killed in the middle of it takes up the
// model's own thinking out of the record, byte for byte.
func TestACaseIsWorkedOverTheMessagesAPI(t *testing.T) {
	t.Parallel()
	const cases = 4
	model, strict := newMessagesServer(t)
	p := newProgram(t, testdb.SQLite(t), "COUNTERSIGN_MODEL_PROVIDER=anthropic", "COUNTERSIGN_MODEL=test-model",
		"COUNTERSIGN_MODEL_BASE_URL="+model.URL+"/v1", "COUNTERSIGN_MODEL_API_KEY="+apiKey)
	p.imports(failedTransfers(cases))
	token := p.admin()

	release := model.holdTurn(2)
	s := p.serve(token)
	s.disputes(cases)
	p.until("every case waits for its second turn", model.waiting(2, cases))
	s.kill()
	release()
	s = p.serve(token)
	p.until("every case is closed", func() bool { return len(s.closed()) == cases })
	if conversations, most := model.counts(1); conversations != cases || most != 1 {
		t.Errorf("the first turn was asked for by %d conversations, up to %d times; want %d and once", conversations, most, cases)
	}
	if refused := strict.Refused(); len(refused) > 0 {
		t.Errorf("the server refused %q", refused)
	}
	s.stop()
	p.intact(cases)
	if export := p.must("audit", "export"); strings.Contains(export, apiKey) || !strings.Contains(export, "anthropic") {
		t.Error("the record holds the model's key, or does not say which provider it was")
	}
}
