package anthropic

import (
	"net/http"
	"testing"

	"countersign/llm"
	"countersign/llm/exchange"
	"countersign/llm/llmtest"
	"countersign/redact"
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

func minded(how Thinking) func(*Config) { return func(c *Config) { c.Thinking = how } }

// dialect is this one, for the suite that every provider runs.
var dialect = llmtest.Dialect{
	New:    func(s exchange.Server) (llm.Model, error) { return New(Config{Server: s}) },
	Config: func(s exchange.Server) any { return Config{Server: s} },
	Path:   "/messages",
	Says:   func(text string) string { return llmtest.Message(`[{"type":"text","text":"`+text+`"}]`, "end_turn") },
	Calls:  func(args string) string { return llmtest.Message(`[`+called("toolu_random", args)+`]`, "tool_use") },
	Begin:  `{"content":[`,
	Key:    func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
	Plain: func() http.Header {
		return http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Anthropic-Version": {"2023-06-01"},
			"Content-Type": {"application/json"}, "User-Agent": {"Go-http-client/1.1"}}
	},
}

func TestTryingAgain(t *testing.T)   { llmtest.TryingAgain(t, dialect) }
func TestNobodyListens(t *testing.T) { llmtest.NobodyListens(t, dialect) }
func TestTimeOutsAfterTheRequestWasSentAreNeverTriedAgain(t *testing.T) {
	llmtest.TimeOuts(t, dialect)
}
func TestAConnectionThatNeverStandsIsTriedAgain(t *testing.T) { llmtest.NoConnection(t, dialect) }
func TestACertificateNobodyVouchesForIsNotTriedAgain(t *testing.T) {
	llmtest.BadCertificate(t, dialect)
}
func TestACallerWhoGivesUp(t *testing.T)                           { llmtest.GivenUp(t, dialect) }
func TestRedirectsCarryNeitherKeyNorConversationAway(t *testing.T) { llmtest.Redirects(t, dialect) }
func TestTheKeyIsNowhere(t *testing.T)                             { llmtest.KeyIsNowhere(t, dialect) }
func TestPrintingSettingsOrModelLeavesTheKeyOut(t *testing.T)      { llmtest.Printed(t, dialect) }
func TestADummyKeyIsNoSecretAndChangesNoText(t *testing.T)         { llmtest.DummyKey(t, dialect) }
func TestWhatAServerComplainsOf(t *testing.T)                      { llmtest.Complaints(t, dialect) }
func TestGzipIsRecordedUnpacked(t *testing.T)                      { llmtest.Gzip(t, dialect) }
func TestHugeAnswersAreNotReadToTheEnd(t *testing.T)               { llmtest.Huge(t, dialect) }
func TestAResumedConversationIsByteEqual(t *testing.T)             { llmtest.Resumed(t, dialect) }
func TestVendorVariablesAreIgnored(t *testing.T)                   { llmtest.Environment(t, dialect) }
func TestSettings(t *testing.T)                                    { llmtest.BadSettings(t, dialect) }

// called is a block that calls get_transaction.
func called(id, args string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"get_transaction","input":` + args + `}`
}

// goOn is the conversation after a reply whose calls were answered.
func goOn(req llm.Request, reply llm.Reply) llm.Request {
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		llm.Message{Role: llm.Assistant, Text: redact.Mask(reply.Text), Calls: reply.Calls, Opaque: reply.Opaque})
	for _, c := range reply.Calls {
		req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: redact.Mask(`{"ok":true}`)})
	}
	return req
}

// nudged is the conversation after a reply that called nothing.
func nudged(req llm.Request, reply llm.Reply) llm.Request {
	req = goOn(req, reply)
	req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: redact.Mask("Call a tool.")})
	return req
}

// last is a conversation at its end: only the decision is offered.
func last(req llm.Request) llm.Request {
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)], llm.Message{Role: llm.User, Text: redact.Mask("There are no turns left.")})
	req.Tools, req.Force = []llm.Tool{llmtest.SubmitDecision}, llmtest.SubmitDecision.Name
	return req
}
