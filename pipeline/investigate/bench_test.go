package investigate

import (
	"context"
	"testing"

	"countersign/llm"
)

// BenchmarkRun is the loop's own cost: three model calls and eight tool calls that take no time.
func BenchmarkRun(b *testing.B) {
	eight := llm.Reply{Stop: llm.StopTools}
	for range 8 {
		eight.Calls = append(eight.Calls, call("get_settlement_status", "{}"))
	}
	replies := []llm.Reply{eight, looks.reply, decides.reply}
	w := &world{}
	c := w.conversation(modelFunc(func(_ context.Context, r llm.Request) (llm.Reply, error) {
		reply := replies[r.Turn()-1]
		reply.Calls = append([]llm.Call(nil), reply.Calls...)
		r.Number(reply.Calls)
		return reply, nil
	}))
	c.Record = func(context.Context, Turn) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		w.ran = w.ran[:0]
		if o, err := Run(context.Background(), c); err != nil || o.Proposal.Failure != "" {
			b.Fatal(err, o.Proposal.Summary)
		}
	}
}
