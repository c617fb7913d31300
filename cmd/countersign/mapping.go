package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"countersign"
	"countersign/app"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
)

type mappingCommand struct {
	Apply mappingApplyCommand `cmd:"" help:"Read the shop's own database through the mapping of a JSON file from now on; - reads standard input."`
	Show  mappingShowCommand  `cmd:"" help:"Print the mapping in force as JSON, without its connection string."`
}

type mappingShowCommand struct{}

func (mappingShowCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		versions, err := shopOf(a).Versions(s)
		if err != nil {
			return err
		}
		if len(versions) == 0 {
			fmt.Fprintln(s.err, "no shop is connected: countersign mapping apply FILE, or the dashboard's settings, connect one")
			return exit(1)
		}
		last := versions[0]
		fmt.Fprintf(s.err, "version %d, made by %s, %s\n", last.Version, last.CreatedBy, confirmation(last))
		return indented(s.out, last.Mapped)
	})
}

// confirmation says who has looked at the rows. Nobody has at a mapping that was applied here: printing is not looking.
func confirmation(v setup.Version) string {
	if by := countersign.ParseActor(v.ConfirmedBy); by.Kind == countersign.CLI {
		return "applied on the command line by " + by.ID + "; nobody has looked at the rows"
	}
	return "rows confirmed by " + v.ConfirmedBy
}

type mappingApplyCommand struct {
	File   string `arg:"" name:"FILE"`
	DryRun bool   `help:"Connect, check and print what would be read, and keep nothing."`
}

// Run tries the mapping on the live shop and prints a few rows as the product reads them, each with its order. Whoever applies a
// file is on record as the one who put it in force, and as nobody who has confirmed the rows.
func (c mappingApplyCommand) Run(s *session) error {
	return apply(s, c.File, connector.ParseMapping, func(a *app.App, m connector.Mapping) error {
		trial, err := setup.Try(s, m)
		if err != nil {
			return err
		}
		unknown, err := setup.Unknown(s, m)
		if err != nil {
			return err
		}
		if err := printTrial(s.out, m, trial, unknown); err != nil {
			return err
		}
		if c.DryRun {
			fmt.Fprintln(s.err, "dry run: nothing was kept")
			return nil
		}
		before, _, _ := shopOf(a).Latest(s) // one that cannot be opened leads to no copy that we could remove
		version, err := shopOf(a).Save(s, m, operator(), operator())
		if err != nil {
			return err
		}
		if err := shopOf(a).RemoveCopy(s, s.dataFolder(), before.Mapped.DSN); err != nil {
			fmt.Fprintf(s.err, "the copy of exported files that the version before reads could not be removed, and nothing reads it any more: %v\n", err)
		}
		fmt.Fprintf(s.err, "version %d of the shop mapping is in force; the file still holds the connection string, so keep it as you would a password\n", version)
		return nil
	})
}

func shopOf(a *app.App) setup.Setup { return setup.Setup{Store: a.Store, Key: a.Key} }

func printTrial(out io.Writer, m connector.Mapping, t setup.Trial, unknown []string) error {
	role := ""
	if t.Rights.Role != "" {
		role = " as " + t.Rights.Role
	}
	fmt.Fprintf(out, "%s%s: may read and nothing else\n", t.Rights.Server, role)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range m.Kinds() {
		fmt.Fprintf(w, "%s, from %s\n", k, m.Entities[k].Table)
		for _, l := range setup.Lines(k, t.Rows[k]) {
			fmt.Fprintln(w, "  "+strings.Join(rowOf(l), "\t"))
		}
	}
	for _, lost := range t.Lost {
		fmt.Fprintln(w, "! "+lost)
	}
	if t.Shared != "" {
		fmt.Fprintln(w, "! "+t.Shared)
	}
	for _, what := range unknown {
		fmt.Fprintln(w, "! "+what)
	}
	for _, slow := range t.Slow {
		fmt.Fprintln(w, "slow: "+slow)
	}
	return w.Flush()
}

// rowOf is a row in columns: its order, its id, what the shop calls its state and what that means here, amount and time.
func rowOf(l setup.Line) []string {
	meaning := l.Status
	if l.Meaning != "" && string(l.Meaning) != l.Status {
		meaning = strings.TrimSpace(l.Status + " = " + string(l.Meaning))
	}
	amount := l.Amount.Text
	if l.Amount.Money != nil {
		amount = l.Amount.Money.String()
	}
	row := []string{l.Order, l.ID, meaning, amount, l.When.When.String()}
	if problem := l.Problem(); problem != "" {
		row = append(row, "! "+problem)
	}
	return row
}
