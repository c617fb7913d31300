package merchant

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"countersign"
	"countersign/llm"
	"countersign/pipeline/investigate"
	"countersign/pipeline/investigate/fence"
	"countersign/store"
)

const (
	excerptCharacters = 24_000 // of the policies, that a model is shown before its first turn
	searchCharacters  = 6_000  // of one search of its own
	maxQuery          = 300
	mostPassages      = 48 << 10 // bytes: a result has room for so many letters of any script
)

// tools are what the model may ask for itself: to search the policies. The query is the model's and reaches nothing but a text
// index; which versions are searched is settled by the order.
func (c Config) tools(v store.View, of countersign.Case) []investigate.Tool {
	return []investigate.Tool{{
		Tool: llm.Tool{Name: "search_policies", Description: "Passages of the shop's policies, in the versions that were in force when the order was placed.",
			Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"A few words."}},"required":["query"],"additionalProperties":false}`)},
		Run: func(ctx context.Context, args json.RawMessage) (any, error) {
			query, err := queryIn(args)
			if err != nil {
				return nil, err
			}
			return c.reader(ctx, v, of).passages(ctx, query, searchCharacters)
		},
	}}
}

func queryIn(args json.RawMessage) (string, error) {
	var in struct {
		Query any `json:"query"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", err
	}
	query, ok := in.Query.(string)
	if !ok || strings.TrimSpace(query) == "" || len(query) > maxQuery {
		return "", countersign.Errorf(countersign.Invalid, "expected a text of 1 to %d bytes", maxQuery).In("query")
	}
	return query, nil
}

// query is what the policies are searched for by code: what the network's code means, and what the records show. No word of a
// customer's is in it.
func (r reader) query() string {
	words := []string{byReason[r.c.Reason]}
	if c, ok := claimOf(r.c.Terms); ok {
		words = []string{c.terms, c.name}
	}
	records := r.order()
	if len(records.Returns.All) > 0 {
		words = append(words, "return returns returned goods")
	}
	if len(records.Refunds.All) > 0 {
		words = append(words, "refund refunded")
	}
	return strings.Join(words, " ")
}

type passageShown struct {
	Document string        `json:"document"`
	Version  string        `json:"version"`
	Heading  fence.Words   `json:"heading"`
	Page     int           `json:"page"`
	Text     []fence.Words `json:"text"`
}

func (r reader) passages(ctx context.Context, query string, characters int) (any, error) {
	found, err := r.Policies.Search(ctx, r.view, r.placed(), query, characters)
	if err != nil {
		return nil, fmt.Errorf("search the policies: %w", err)
	}
	shown, room := []passageShown{}, mostPassages
	for _, p := range found {
		if room -= len(p.Text) + len(p.Heading) + len(p.Title); room < 0 {
			break
		}
		shown = append(shown, passageShown{Document: p.Title, Version: p.Version, Heading: fence.Words(p.Heading), Page: p.Page, Text: pieces(p.Text)})
	}
	return map[string]any{"passages": shown}, nil
}

// pieces cuts a passage at its paragraphs and, where one is long, at its sentences: one text of somebody else's is shown in no
// more than a few hundred characters.
func pieces(text string) (all []fence.Words) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		all = append(all, sentences(strings.Join(strings.Fields(paragraph), " "))...)
	}
	return all
}

func sentences(text string) (all []fence.Words) {
	const most = 500
	for len(text) > most {
		at := strings.LastIndex(text[:most], ". ")
		if at < most/3 {
			at = strings.LastIndex(text[:most], " ")
		}
		if at <= 0 {
			at = letterBefore(text, most) - 1
		}
		all, text = append(all, fence.Words(text[:at+1])), strings.TrimSpace(text[at+1:])
	}
	if text == "" {
		return all
	}
	return append(all, fence.Words(text))
}

// letterBefore is the last place up to at where a letter begins. Bytes that are no text have none, and may be cut anywhere.
func letterBefore(text string, at int) int {
	for start := at; start > at-utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			return start
		}
	}
	return at
}
