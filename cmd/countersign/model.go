package main

import (
	"fmt"

	"countersign/app"
	"countersign/llm/roster"
)

type modelCommand struct {
	Show  modelShowCommand  `cmd:"" help:"Print the model connections, who asks them and what they may cost, as JSON without keys."`
	Apply modelApplyCommand `cmd:"" help:"Put the model connections of a JSON file into force; - reads standard input. A connection without a key keeps the one it has."`
}

type modelShowCommand struct{}

func (modelShowCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		v, ok, err := a.Roster.Latest(s)
		if err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(s.err, "no model is connected in the settings: countersign model apply FILE, or the dashboard's settings, connect one")
			return exit(1)
		}
		fmt.Fprintf(s.err, "version %d, made by %s\n", v.Number, v.CreatedBy)
		for _, c := range v.Connections {
			if c.Lost != nil {
				fmt.Fprintf(s.err, "! %s is passed over: %v\n", c.Name, c.Lost)
			}
		}
		s.sayEnvironment()
		return indented(s.out, v.Roster)
	})
}

// sayEnvironment says that the settings are not what is used.
func (s *session) sayEnvironment() {
	if s.ModelProvider != "" {
		fmt.Fprintln(s.err, "COUNTERSIGN_MODEL_PROVIDER is set here, and wins over these settings where it is set for the program that works cases")
	}
}

type modelApplyCommand struct {
	File string `arg:"" name:"FILE"`
}

// Run checks the file before anything changes, and keeps who changed it.
func (c modelApplyCommand) Run(s *session) error {
	return apply(s, c.File, roster.Parse, func(a *app.App, entered roster.Entered) error {
		version, err := a.Roster.Save(s, roster.Apply(entered), operator())
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "version %d of the model connections is in force for every case from now on; if the file holds keys, keep it as you would a password\n", version)
		s.sayEnvironment()
		return nil
	})
}
