package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"countersign"
	"countersign/desk/bank"
	"countersign/desk/merchant"
	"countersign/llm"
	"countersign/llm/anthropic"
	"countersign/llm/exchange"
	"countersign/llm/openai"
	"countersign/llm/rulebook"
)

// ModelConfig says which model investigates.
type ModelConfig struct {
	Provider string // rulebook (default), openai or anthropic
	Name     string
	BaseURL  string
	APIKey   string
}

// The variables that the settings come from, as an error names them.
const (
	providerVariable = "COUNTERSIGN_MODEL_PROVIDER"
	nameVariable     = "COUNTERSIGN_MODEL"
	baseURLVariable  = "COUNTERSIGN_MODEL_BASE_URL"
	apiKeyVariable   = "COUNTERSIGN_MODEL_API_KEY"
)

// openModel makes the model and connects to nothing. The offline reviewer needs nothing and is what runs until somebody
// connects another.
func openModel(c ModelConfig) (llm.Model, error) {
	switch c.Provider {
	case "", "rulebook":
		return offlineReviewer(), nil
	case "openai":
		return fromVariables(openai.New(openai.Config{Server: c.server()}))
	case "anthropic":
		return fromVariables(anthropic.New(anthropic.Config{Server: c.server()}))
	}
	return nil, countersign.Errorf(countersign.Invalid, "%q is no provider", c.Provider).In(providerVariable).
		Try("expected rulebook, openai or anthropic")
}

func offlineReviewer() llm.Model { return rulebook.New(bank.Playbook(), merchant.Playbook()) }

func (c ModelConfig) server() exchange.Server {
	return exchange.Server{BaseURL: c.BaseURL, Model: c.Name, APIKey: c.APIKey}
}

// fromVariables names in an error the variable that the setting comes from.
func fromVariables[M llm.Model](m M, err error) (llm.Model, error) {
	if err == nil {
		return m, nil
	}
	var e *countersign.Error
	if errors.As(err, &e) {
		e.Field = map[string]string{"base_url": baseURLVariable, "model": nameVariable, "api_key": apiKeyVariable}[e.Field]
	}
	return nil, err
}

// reach asks a model server for its list of models, which costs nothing. Any answer at all will do, since many servers have
// no such list or want another key for it; only silence is an error.
func (c ModelConfig) reach(ctx context.Context) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(strings.TrimSpace(c.BaseURL), "/")+"/models", nil)
	if err != nil {
		return 0, err
	}
	switch {
	case c.Provider == "anthropic":
		req.Header = anthropic.Headers(c.APIKey)
	case c.APIKey != "":
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(c.APIKey))
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// answered says what a status means to somebody who waits for a model.
func answered(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("the server answers, and refuses the key for its list of models (%d)", status)
	case status >= 300:
		return fmt.Sprintf("the server answers (%d to its list of models)", status)
	}
	return "the server answers"
}
