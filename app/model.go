package app

import (
	"countersign"
	"countersign/desk/bank"
	"countersign/llm"
	"countersign/llm/openai"
	"countersign/llm/rulebook"
)

// ModelConfig says which model investigates.
type ModelConfig struct {
	Provider string // rulebook (default) or openai
	Name     string
	BaseURL  string
	APIKey   string
}

// openModel makes the model. The offline reviewer needs nothing and is what runs until somebody connects another.
func openModel(c ModelConfig) (llm.Model, error) {
	switch c.Provider {
	case "", "rulebook":
		return rulebook.New(bank.Playbook()), nil
	case "openai":
		return openai.New(openai.Config{BaseURL: c.BaseURL, Model: c.Name, APIKey: c.APIKey})
	case "anthropic":
		return nil, countersign.Errorf(countersign.Invalid, "the anthropic provider is not in this version").In("COUNTERSIGN_MODEL_PROVIDER").
			Try("use openai with a compatible server, or rulebook")
	}
	return nil, countersign.Errorf(countersign.Invalid, "%q is not one of rulebook, openai", c.Provider).In("COUNTERSIGN_MODEL_PROVIDER")
}
