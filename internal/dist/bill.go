package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const billTool = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// bill writes the bill of materials of a target's program, in CycloneDX: every module in it, with its sum and the licences that the
// tool believes to see. It is read out of the program itself and not from the sources, so it names what is there; and the sources
// need no git around them.
func (r *release) bill(ctx context.Context, t target) error {
	file := filepath.Join(r.stage(t), "bill.json")
	err := r.tool(ctx, nil, billTool, "bin", "-json", "-std", "-licenses", "-noserial", "-notimestamp", "-version", r.version,
		"-output", file, filepath.Join(r.stage(t), t.program()))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if text, err = settled(text, r.at); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return r.keep(fmt.Sprintf("countersign_%s_%s_%s.cdx.json", r.version, t.os, t.arch), text)
}

// settled is a bill that says the time of the release, and nothing of the tool as it was compiled here.
func settled(text []byte, at time.Time) ([]byte, error) {
	var bill map[string]any
	if err := json.Unmarshal(text, &bill); err != nil {
		return nil, err
	}
	about, _ := bill["metadata"].(map[string]any)
	tools, _ := about["tools"].([]any)
	if len(tools) != 1 {
		return nil, fmt.Errorf("metadata.tools: expected the one tool that wrote it but got %d", len(tools))
	}
	tool, _ := tools[0].(map[string]any)
	delete(tool, "hashes")
	about["timestamp"] = at.Format(time.RFC3339)
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	w.SetIndent("", "  ")
	err := w.Encode(bill)
	return b.Bytes(), err
}
