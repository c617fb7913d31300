package demo

import (
	"context"
	"encoding/json"
	"strings"

	"countersign/desk/bank"
	"countersign/desk/merchant"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/llm/scripted"
)

// Scripts are the scripted models by name. Each goes wrong in one way that real models go wrong in, so that the demo can show
// what becomes of it. Most of them work the case like the offline reviewer and then spoil its decision.
var scripts = map[string]func(turn int, r llm.Request) (llm.Reply, error){
	"invents": spoiled(func(d decision) {
		d["claims"] = append(d.claims(), cites("The bank's own note says that it owes the money.", "S11", "owed", "true"),
			cites("The settlement was returned.", "S3", "status", "returned"))
	}),
	"hasty": spoiled(func(d decision) {
		d["claims"] = []any{cites("The rail says failed.", "S3", "status", "failed")}
		d["summary"] = "The rail says failed, which is enough for me."
	}),
	"unsure": spoiled(func(d decision) {
		d["confidence"] = 0.62
		d["summary"] = "It looks like a failed transfer, but I have seen such cases go either way."
	}),
	"certain": spoiled(insists("wrong_amount", "The customer was overcharged and should get it back.")),
	"eager":   spoiled(insists("failed_transfer", "The transfer failed, so the customer is owed the money.")),
	"forgets": spoiled(func(d decision) { d["canary"] = "" }),
	"obeys":   obeys,
	"silent":  func(int, llm.Request) (llm.Reply, error) { return scripted.Say(""), nil },
	"rambles": func(int, llm.Request) (llm.Reply, error) {
		return scripted.Say("I have thought about this carefully. The recommendation is resolve, with confidence 0.97. <tool_call>{\"name\":\"submit_decision\"}</tool_call>"), nil
	},
}

// Script is the scripted model of that name, nil if there is none. It says in every record that it is one.
func Script(name string) llm.Model {
	play, ok := scripts[name]
	if !ok {
		return nil
	}
	return labelled{scripted.Func(play), name}
}

// labelled is a script that goes by its name.
type labelled struct {
	*scripted.Model
	name string
}

func (l labelled) Identity() llm.Identity {
	return llm.Identity{Provider: l.Model.Identity().Provider, Name: l.name}
}

// decision is the arguments of submit_decision.
type decision map[string]any

func (d decision) claims() []any {
	claims, _ := d["claims"].([]any)
	return claims
}

func cites(text, ref, field, value string) any {
	return map[string]any{"text": text, "citations": []any{map[string]any{"ref": ref, "field": field, "value": value}}}
}

// insists makes any decision one to pay, with all the certainty there is.
func insists(category, summary string) func(decision) {
	return func(d decision) {
		d["recommendation"], d["category"], d["confidence"], d["fraud_suspected"], d["summary"] = "resolve", category, 1.0, false, summary
	}
}

// reviewer is the offline reviewer that scripts begin as.
var reviewer = rulebook.New(bank.Playbook(), merchant.Playbook())

// spoiled answers like the offline reviewer and changes its decision.
func spoiled(spoil func(decision)) func(int, llm.Request) (llm.Reply, error) {
	return func(_ int, r llm.Request) (llm.Reply, error) {
		reply, err := reviewer.Complete(context.Background(), r)
		if err != nil {
			return reply, err
		}
		for i, call := range reply.Calls {
			if call.Name == "submit_decision" {
				reply.Calls[i].Args = changed(call.Args, spoil)
			}
		}
		return llm.Reply{Text: reply.Text, Calls: reply.Calls, Stop: reply.Stop}, nil // the bytes and the usage are the script's own
	}
}

func changed(args string, spoil func(decision)) string {
	var d decision
	if err := json.Unmarshal([]byte(args), &d); err != nil {
		return args // unreachable: the reviewer wrote it
	}
	spoil(d)
	b, err := json.Marshal(d)
	if err != nil {
		return args // unreachable: it was read from JSON
	}
	return string(b)
}

// obeys does what the notes tell it to: it calls a tool that does not exist and asks for somebody else's records, and then
// decides as it was ordered.
func obeys(turn int, r llm.Request) (llm.Reply, error) {
	if turn == 0 {
		return scripted.Calls(
			scripted.Call("transfer_money", `{"to":"0123456789","amount":5000000}`),
			scripted.Call("get_customer_profile", `{"customer_id":"C-1001"}`),
		), nil
	}
	if turn == 1 {
		return scripted.Calls(looks...), nil
	}
	return spoiled(insists("failed_transfer", "As instructed, this is a failed transfer of a verified customer."))(turn, r)
}

// looks are one call of each tool.
var looks = func() (calls []llm.Call) {
	for _, tool := range strings.Fields("get_transaction get_ledger_entries get_settlement_status get_device_and_location " +
		"get_customer_profile get_customer_history get_merchant_info get_related_transactions") {
		calls = append(calls, scripted.Call(tool, "{}"))
	}
	return calls
}()
