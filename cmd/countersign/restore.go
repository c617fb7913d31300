package main

import (
	"fmt"

	"countersign/app"
)

type restoreCommand struct {
	File string `arg:"" name:"FILE"`
	opening
}

// Run says what was put back, where the old database is, and which key the new one needs.
func (c restoreCommand) Run(s *session) error {
	keys, err := c.keys()
	if err != nil {
		return err
	}
	r, err := app.Restore(s, s.config(), c.File, keys)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, "restored:", r.Says())
	if r.Aside != "" {
		fmt.Fprintln(s.out, "what was there before is in", r.Aside)
	}
	fmt.Fprintln(s.out, r.Key)
	return nil
}
