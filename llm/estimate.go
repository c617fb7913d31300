package llm

// Bytes per token, chosen too high so that the estimate comes out too low. English prose is about 4.4 bytes a token in the
// vocabularies in use, JSON with ids about 3, other scripts less.
const (
	bytesPerToken     = 5
	toolBytesPerToken = 8 // servers rewrite schemas into a shorter form before the model sees them
)

// Estimate is how many input tokens a server that read all of r would at least report. It is meant to be low: a server
// that reports clearly fewer has not read the whole conversation, while one that reports more proves nothing.
//
// It counts bytes and knows no vocabulary. Text that compresses unusually well, such as long runs of spaces, can honestly
// cost less than the estimate, so compare with a margin.
func Estimate(r Request) int64 {
	text := len(r.System.String())
	for _, m := range r.Messages {
		text += len(m.Text.String())
		for _, c := range m.Calls {
			text += len(c.Name) + len(c.Args)
		}
	}
	tools := 0
	for _, t := range r.Tools {
		tools += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return int64(text/bytesPerToken + tools/toolBytesPerToken)
}

// EstimateReply is how many output tokens a reply would at least be, for a server that does not say.
func EstimateReply(r Reply) int64 {
	text := len(r.Text)
	for _, c := range r.Calls {
		text += len(c.Name) + len(c.Args)
	}
	return int64(text/bytesPerToken) + 1
}
