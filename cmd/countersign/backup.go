package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"countersign"
	"countersign/app"
	"countersign/backup"
)

type backupCommand struct {
	Make  backupMakeCommand  `cmd:"" default:"withargs" help:"Make a backup and check it. This is what backup alone does."`
	Check backupCheckCommand `cmd:"" help:"Read a whole backup, verify the record in it, and hold it against what it says of itself."`

	Schedule backupScheduleCommand `cmd:"" help:"Show or change where serve makes backups by itself, and how often."`
}

type backupMakeCommand struct {
	File           string   `arg:"" optional:"" name:"FILE" help:"The backup; after the time in the folder of --to when not given."`
	To             string   `help:"The folder for it; the working directory when not given." placeholder:"DIR"`
	EncryptTo      []string `name:"encrypt-to" help:"Encrypt for this age recipient; may be given several times." placeholder:"age1…"`
	RecipientsFile string   `name:"recipients-file" help:"Encrypt for the age recipients in this file, one a line." placeholder:"FILE"`
	PassphraseFile string   `name:"passphrase-file" help:"Encrypt with the first line of this file." placeholder:"FILE"`
}

// Run prints the path of the backup alone on standard output, and what is in it on standard error.
func (c backupMakeCommand) Run(s *session) error {
	to, err := c.target()
	if err != nil {
		return err
	}
	return s.with(func(a *app.App) error {
		made, err := a.Backup(s, to)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%s; %d bytes in %s\n", made.Says(), made.Bytes, made.Took.Round(time.Millisecond))
		if made.MasterKey != "" {
			fmt.Fprintf(s.err, "the master key %s is not in it; keep that somewhere else\n", made.MasterKey)
		}
		_, err = fmt.Fprintln(s.out, made.Path)
		return err
	})
}

func (c backupMakeCommand) target() (to backup.Target, err error) {
	if c.File != "" && c.To != "" {
		return to, countersign.Errorf(countersign.Invalid, "is given beside the file %s; expected one of them", c.File).In("--to")
	}
	to.Folder = absolute(c.To)
	if c.File != "" {
		to.Folder, to.Name = filepath.Split(absolute(c.File))
	}
	to.Lock, err = c.lock()
	return to, err
}

func (c backupMakeCommand) lock() (backup.Lock, error) {
	recipients := c.EncryptTo
	if c.RecipientsFile != "" {
		text, err := os.ReadFile(c.RecipientsFile)
		if err != nil {
			return backup.Lock{}, cannotOpen(c.RecipientsFile, err)
		}
		recipients = append(recipients, string(text))
	}
	switch {
	case c.PassphraseFile == "":
		return backup.LockFor(recipients...)
	case len(recipients) > 0:
		return backup.Lock{}, countersign.Errorf(countersign.Invalid, "is given beside recipients; expected one of them").In("--passphrase-file")
	}
	passphrase, err := backup.ReadPassphrase(c.PassphraseFile)
	if err != nil {
		return backup.Lock{}, err
	}
	return backup.LockWith(passphrase)
}

// opening is what opens an encrypted backup.
type opening struct {
	Identity       string `help:"The file of the age identity that opens it." placeholder:"FILE"`
	PassphraseFile string `name:"passphrase-file" help:"The file whose first line is the passphrase that opens it." placeholder:"FILE"`
}

func (o opening) keys() (keys backup.Keys, err error) {
	if o.Identity != "" {
		if keys, err = backup.ReadKeys(o.Identity); err != nil {
			return nil, err
		}
	}
	if o.PassphraseFile == "" {
		return keys, nil
	}
	passphrase, err := backup.ReadPassphrase(o.PassphraseFile)
	if err != nil {
		return nil, err
	}
	more, err := backup.KeyFrom(passphrase)
	return append(keys, more...), err
}

type backupCheckCommand struct {
	File string `arg:"" name:"FILE"`
	Into string `help:"Restore a backup of PostgreSQL into this empty database, and verify it there." placeholder:"URL"`
	opening
}

// Run needs no installation, only room beside the system's other temporary files.
func (c backupCheckCommand) Run(s *session) error {
	keys, err := c.keys()
	if err != nil {
		return err
	}
	tools := backup.Tools{Folder: s.PostgresTools}
	var m backup.Manifest
	if c.Into == "" {
		m, err = backup.Check(s, c.File, keys, os.TempDir(), tools)
	} else {
		var r backup.Restored
		r, err = backup.RestorePostgres(s, c.File, keys, c.Into, os.TempDir(), tools)
		m = r.Manifest
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, "the backup is whole:", m.Says())
	if m.Engine == "postgres" && c.Into == "" {
		fmt.Fprintln(s.out, "its record was verified when it was made; to verify it again, name an empty database with --into")
	}
	if m.MasterKey != "" {
		fmt.Fprintln(s.out, "what is sealed in it needs the master key", m.MasterKey)
	}
	if !m.Record.Intact {
		return exit(1)
	}
	return nil
}
