package openai

import (
	"net/http"
	"strings"
	"testing"

	"countersign/llm"
	"countersign/llm/exchange"
	"countersign/llm/llmtest"
)

// dialect is this one, for the suite that every provider runs.
var dialect = llmtest.Dialect{
	New:    func(s exchange.Server) (llm.Model, error) { return New(Config{Server: s}) },
	Config: func(s exchange.Server) any { return Config{Server: s} },
	Path:   "/chat/completions",
	Says:   func(text string) string { return completion(`{"content":"`+text+`"}`, `"stop"`) },
	Calls: func(args string) string {
		return completion(toolCalls([3]string{`"random"`, `"get_transaction"`, llmtest.Quote(args)}), `"tool_calls"`)
	},
	Key: func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") },
	Plain: func() http.Header {
		return http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Content-Type": {"application/json"}, "User-Agent": {"Go-http-client/1.1"}}
	},
	Begin: `{"choices":[`,
}

func TestTryingAgain(t *testing.T)                                      { llmtest.TryingAgain(t, dialect) }
func TestNobodyListens(t *testing.T)                                    { llmtest.NobodyListens(t, dialect) }
func TestTimeOutsAfterTheRequestWasSentAreNeverTriedAgain(t *testing.T) { llmtest.TimeOuts(t, dialect) }
func TestAConnectionThatNeverStandsIsTriedAgain(t *testing.T)           { llmtest.NoConnection(t, dialect) }
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
