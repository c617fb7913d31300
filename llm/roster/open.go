package roster

import (
	"errors"

	"countersign"
	"countersign/llm"
	"countersign/llm/anthropic"
	"countersign/llm/exchange"
	"countersign/llm/openai"
)

// Open makes the model of a connection, and connects to nothing.
func Open(c Connection) (llm.Model, error) {
	server := exchange.Server{BaseURL: c.BaseURL, Model: c.Model, APIKey: string(c.Key), Connect: c.Connect, FirstByte: c.FirstByte, Total: c.Total}
	switch c.Provider {
	case "openai":
		return opened(openai.New(openai.Config{Server: server}))
	case "anthropic":
		return opened(anthropic.New(anthropic.Config{Server: server}))
	}
	return nil, wrong("provider", "%q is no provider; expected openai or anthropic", clip(c.Provider))
}

// opened keeps a provider that could not be made from being one that is not nil.
func opened[M llm.Model](m M, err error) (llm.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// openable refuses a connection that no model could be made of, with the field in its place.
func openable(c Connection, at string) error {
	_, err := Open(c)
	var e *countersign.Error
	if errors.As(err, &e) {
		field := e.Field
		if field == "api_key" {
			field = "key"
		}
		moved := *e
		moved.Field = at + "." + field
		return &moved
	}
	return err
}
