package openai

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"countersign/llm"
	"countersign/llm/llmtest"
	"countersign/redact"
)

// BenchmarkConversation holds three requests against a local server that does not think: ours, and the bare library with
// the same messages and the same kind of connection pool. What differs is recording, checking and numbering. The third
// run takes turns and reports the ratio, which a busy machine moves less than it moves the figures.
func BenchmarkConversation(b *testing.B) {
	answers := []string{
		completion(toolCalls([3]string{`"a"`, `"get_transaction"`, `"{}"`}, [3]string{`"b"`, `"get_transaction"`, `"{}"`}), `"tool_calls"`),
		completion(toolCalls([3]string{`"c"`, `"get_transaction"`, `"{}"`}), `"tool_calls"`),
		completion(toolCalls([3]string{`"d"`, `"submit_decision"`, `"{\"summary\":\"done\"}"`}), `"tool_calls"`),
	}
	url := newPlainServer(b, answers)
	result := `{"ref":"S1","ok":true,"result":{"memo":"` + strings.Repeat("x", 400) + `"}}`
	ours, bare := ourConversation(b, url, len(answers), result), bareConversation(b, url, len(answers), result)

	b.Run("countersign", func(b *testing.B) { concurrently(b, ours) })
	b.Run("bare library", func(b *testing.B) { concurrently(b, bare) })
	b.Run("ratio", func(b *testing.B) {
		var took [2]time.Duration
		for b.Loop() {
			for i, run := range []func(){ours, bare} {
				from := time.Now()
				run()
				took[i] += time.Since(from)
			}
		}
		b.ReportMetric(float64(took[0])/float64(took[1]), "ours/bare")
	})
}

func concurrently(b *testing.B, run func()) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			run()
		}
	})
}

func ourConversation(b *testing.B, url string, turns int, result string) func() {
	m := model(b, url)
	text := redact.Mask(result)
	return func() {
		req := first()
		for range turns {
			reply, err := m.Complete(b.Context(), req)
			if err != nil {
				b.Error(err)
				return
			}
			req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Calls: reply.Calls})
			for _, c := range reply.Calls {
				req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: text})
			}
		}
	}
}

func bareConversation(b *testing.B, url string, turns int, result string) func() {
	m := model(b, url)
	cfg := openai.DefaultConfig(llmtest.Key)
	cfg.BaseURL, cfg.HTTPClient = m.cfg.BaseURL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	c := openai.NewClientWithConfig(cfg)
	return func() {
		wire := m.request(first())
		for range turns {
			resp, err := c.CreateChatCompletion(b.Context(), wire)
			if err != nil {
				b.Error(err)
				return
			}
			said := resp.Choices[0].Message
			wire.Messages = append(wire.Messages, said)
			for _, call := range said.ToolCalls {
				wire.Messages = append(wire.Messages, openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: result})
			}
		}
	}
}

// newPlainServer answers by how many answers a request already holds and keeps nothing.
func newPlainServer(b *testing.B, answers []string) string {
	s := serve(b, func(http.ResponseWriter, *http.Request, int) {})
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, answers[min(bytes.Count(body, []byte(`"role":"assistant"`)), len(answers)-1)])
	})
	return s.URL
}
