package main

import (
	"fmt"

	"countersign/app"
	"countersign/auth"
)

type tokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Create a token and print it once, alone on standard output."`
}

type tokenCreateCommand struct {
	Name string `required:"" help:"For people; names may repeat." placeholder:"NAME"`
	Role string `required:"" enum:"analyst,approver,auditor,admin" help:"One of analyst, approver, auditor, admin." placeholder:"analyst|approver|auditor|admin"`
}

func (c tokenCreateCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		secret, _, err := auth.NewToken(s, a.Store, c.Name, auth.Role(c.Role), operator())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, secret)
		return err
	})
}
