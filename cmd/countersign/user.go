package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"countersign"
	"countersign/app"
	"countersign/auth"
)

type userCommand struct {
	Add userAddCommand `cmd:"" help:"Add a person who may sign in. The password is asked for, or read from standard input."`
}

type userAddCommand struct {
	Email string `arg:"" name:"EMAIL"`
	Role  string `required:"" enum:"analyst,approver,auditor,admin" help:"One of analyst, approver, auditor, admin." placeholder:"analyst|approver|auditor|admin"`
	Name  string `help:"What the others read; what stands before the @ when left out." placeholder:"NAME"`
	Zone  string `help:"The time zone that they read in." placeholder:"Africa/Lagos" default:"UTC"`
}

// Run prints the person's id, alone on standard output. Whatever is wrong with the rest is said before a password is asked for.
func (c userAddCommand) Run(s *session) (err error) {
	n := auth.NewPerson{Email: c.Email, Name: c.Name, Role: auth.Role(c.Role), Zone: c.Zone}
	if err := n.Check(); err != nil {
		return err
	}
	if n.Password, err = s.newPassword(); err != nil {
		return err
	}
	if err := auth.CheckPassword(n.Password, n.Email); err != nil {
		return err
	}
	return s.with(func(a *app.App) error {
		p, err := auth.AddPerson(s, a.Store, n, operator())
		if err != nil {
			return err
		}
		a.Inhabited(s)
		_, err = fmt.Fprintln(s.out, p.ID)
		return err
	})
}

// newPassword asks for a password twice where somebody types, and reads one line where nobody does.
func (s *session) newPassword() (string, error) {
	terminal, ok := s.in.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		return passwordLine(s.in)
	}
	first, err := s.unseen(terminal, "Password: ")
	if err != nil {
		return "", err
	}
	second, err := s.unseen(terminal, "Once more: ")
	if err == nil && first != second {
		err = countersign.Errorf(countersign.Invalid, "was not typed the same twice").In("password")
	}
	return first, err
}

// passwordLine reads the only line there is: of two, one would be lost without a word.
func passwordLine(in io.Reader) (string, error) {
	lines := bufio.NewReader(io.LimitReader(in, 1<<10))
	line, err := lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	if _, err := lines.ReadByte(); err == nil {
		return "", countersign.Errorf(countersign.Invalid, "has more than one line").In("password")
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// unseen asks for a line that the terminal does not show. Whoever gives up gets a terminal back that shows what is typed.
func (s *session) unseen(terminal *os.File, prompt string) (string, error) {
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("ask for the password: %w", err)
	}
	fmt.Fprint(s.err, prompt)
	defer fmt.Fprintln(s.err)
	typed := make(chan typedLine, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		typed <- typedLine{string(line), err}
	}()
	select {
	case <-s.Done():
		_ = term.Restore(fd, before)
		return "", s.Err()
	case t := <-typed:
		if errors.Is(t.err, io.EOF) {
			return "", nil // as if an empty line had been typed
		}
		return t.line, t.err
	}
}

type typedLine struct {
	line string
	err  error
}
