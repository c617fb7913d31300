package investigate

import (
	"strings"
	"testing"

	"countersign"
	"countersign/llm"
)

func TestPartial(t *testing.T) {
	submits := func(args string) line { return calls(call("submit_decision", args)) }
	tests := []struct {
		name  string
		model []line
		want  []string // parts of Proposal.Partial; none means that there is no doubt
	}{
		{"the canary comes back and the tokens add up", []line{looks, decides}, nil},
		{"the canary comes back with white space around it", []line{submits(with(`"canary":" blue-heron\n"`))}, nil},
		{"the canary comes back and no tokens are reported", []line{looks.usage(noUsage), decides.usage(noUsage)}, nil},
		{"no canary", []line{submits(without("canary"))}, []string{"does not repeat the canary"}},
		{"no canary and no tokens reported", []line{submits(without("canary")).usage(noUsage)}, []string{"does not repeat the canary"}},
		{"another canary", []line{submits(with(`"canary":"red-heron"`))}, []string{"repeats another canary"}},
		{"an empty canary", []line{submits(with(`"canary":""`))}, []string{"repeats another canary"}},
		{"the whole canary line instead of its value", []line{submits(with(`"canary":"canary: blue-heron"`))}, []string{"repeats another canary"}},
		{"a canary that is no text", []line{submits(with(`"canary":["blue-heron"]`))}, []string{"repeats another canary"}},
		{"far fewer tokens read than sent", []line{looks, decides.usage(&llm.Usage{Input: 3})},
			[]string{"on turn 2 the server read 3 tokens of a request of at least"}},
		{"far fewer tokens read than sent in an earlier turn", []line{looks.usage(&llm.Usage{Input: 3}), decides},
			[]string{"on turn 1 the server read 3 tokens"}},
		{"cached tokens are a part of those read", []line{looks, decides.usage(&llm.Usage{Input: 5000, Cached: 4990})}, nil},
		{"both signs", []line{submits(without("canary")).usage(&llm.Usage{Input: 3})}, []string{"on turn 1", "does not repeat"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{}
			o := run(t, w.conversation(script(tt.model...)))
			if o.Proposal.Failure != "" {
				t.Fatalf("failure %q: %s", o.Proposal.Failure, o.Proposal.Summary)
			}
			if tt.want == nil && o.Proposal.Partial != "" {
				t.Errorf("doubt %q, want none", o.Proposal.Partial)
			}
			for _, part := range tt.want {
				if !strings.Contains(o.Proposal.Partial, part) {
					t.Errorf("doubt %q, want %q in it", o.Proposal.Partial, part)
				}
			}
		})
	}
}

func TestAConversationWithoutACanaryIsInDoubt(t *testing.T) {
	w := &world{}
	c := w.conversation(script(calls(call("submit_decision", with(`"canary":""`)))))
	c.Canary = ""
	if o := run(t, c); o.Proposal.Partial == "" {
		t.Error("no doubt")
	}
}

func TestAFailedModelIsInDoubtToo(t *testing.T) {
	w := &world{}
	o := run(t, w.conversation(script(say("hm").usage(&llm.Usage{Input: 3}))))
	if o.Proposal.Failure != countersign.NoDecision || !strings.Contains(o.Proposal.Partial, "on turn 1") {
		t.Errorf("failure %q, doubt %q", o.Proposal.Failure, o.Proposal.Partial)
	}
}

func TestNewCanary(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		c := NewCanary()
		if len(c) != 20 || strings.Trim(c, "abcdefghijklmnopqrstuvwxyz") != "" || seen[c] {
			t.Fatalf("canary %q", c)
		}
		seen[c] = true
	}
}
