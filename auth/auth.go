// Package auth knows who may call: people, by password or one-time link, and programs, by API token; the role of each, and
// what a role may do. That a browser stays somebody's is known below, in package session.
//
// It promises that a secret is shown once and kept only as a hash, that nothing of a credential that was refused is repeated
// in an error or a log, that a credential it cannot read is refused like a wrong one, and that nobody learns from it, by words
// or by time, whether somebody is here. What it refuses, it refuses with an error of kind Unauthorized (nobody we know),
// Forbidden (somebody who may not) or Unavailable (too many who tried).
package auth

import (
	"context"
	"strings"

	"countersign"
	"countersign/store"
)

// Principal is who makes a request.
type Principal struct {
	Actor    countersign.Actor // recorded with every change
	Role     Role
	TokenID  string // of a program, empty for a person
	PersonID string // of a person, empty for a program
	Name     string // of a person
	Zone     string // the time zone that a person reads in, by its IANA name
}

// Authenticate reads an Authorization header ("Bearer ct_…") and finds the token it names. Without a header, with one it
// cannot read and with a token that does not exist or was revoked the error is Unauthorized; any other error means that the
// database did not answer.
//
// Finding a token takes no secret-dependent time that helps anybody: what is compared is the SHA-256 of a secret of 260
// random bits, by an index, and a guess cannot be steered toward a hash.
func Authenticate(ctx context.Context, v store.View, header string) (Principal, error) {
	if header == "" {
		return Principal{}, countersign.Errorf(countersign.Unauthorized, "this call needs a token").In(headerName).
			Try("send the header Authorization: Bearer ct_…")
	}
	secret, ok := bearer(header)
	if !ok {
		return Principal{}, refused()
	}
	token, ok, err := v.TokenByHash(ctx, hash(secret))
	if err != nil {
		return Principal{}, err
	}
	if !ok {
		return Principal{}, refused()
	}
	return Principal{Actor: countersign.Actor{Kind: countersign.Token, ID: token.ID}, Role: Role(token.Role), TokenID: token.ID}, nil
}

// Needs returns nil if the principal has the right, else a Forbidden error that names the roles that do.
func (p Principal) Needs(r Right) error {
	if p.Role.May(r) {
		return nil
	}
	if p.PersonID != "" {
		return countersign.Errorf(countersign.Forbidden, "your role, %s, may not %s", p.Role, r).
			Try("ask somebody with the role " + r.holders())
	}
	return countersign.Errorf(countersign.Forbidden, "this token's role may not %s", r).
		Try("use a token with the role " + r.holders())
}

const headerName = "Authorization"

// refused says the same of a token that is malformed, unknown or revoked, so that nobody learns which.
func refused() error {
	return countersign.Errorf(countersign.Unauthorized, "the token is not valid").In(headerName).
		Try("send the header Authorization: Bearer ct_… with a token that was created here and not revoked")
}

// bearer cuts the secret out of a header. The length is looked at first: what follows costs nothing however much was sent.
func bearer(header string) (secret string, ok bool) {
	const scheme = "Bearer "
	if len(header) != len(scheme)+secretLength || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	secret = header[len(scheme):]
	return secret, strings.HasPrefix(secret, prefix) && !strings.ContainsFunc(secret[len(prefix):], outsideAlphabet)
}
