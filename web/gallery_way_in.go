package web

import (
	"strings"

	"countersign"
	"countersign/pipeline/policy"
	"countersign/store"
)

// demoNotice stands above pages of a demo.
const demoNotice = "This is a demo: the bank, its customers and its payments are invented, and no AI is connected. Nothing here moves money."

func (g *gallery) wayIn() {
	for _, s := range []struct {
		state, address string
		page           signInScreen
	}{
		{"as it first is", "/sign-in", signInScreen{Next: "/queue"}},
		{"a form was sent after the session had ended", "/sign-in", signInScreen{Next: "/cases/D-1042/override", Unsent: true}},
		{"wrong password", "", signInScreen{Email: "amina@bank.example", Next: "/queue", Wrong: "E-mail or password is wrong. Look at both and try again."}},
		{"too many have failed", "", signInScreen{Email: "amina@bank.example", Wrong: "Too many sign-ins have failed. Try again in 14 minutes, or ask an admin for a link."}},
		{"a one-time link", "", signInScreen{Link: &linkScreen{"Amina Okafor", "amina@bank.example", "n4k2m"}}},
		{"a link that is used up", "", signInScreen{Wrong: "This link is not valid. Links work once and for two days: ask for a new one."}},
	} {
		g.hang(g.visit(nobodyYet), "sign_in", s.state, s.address, screen{Title: "Sign in", Page: s.page})
	}
	v := g.visit(nobodyYet)
	v.Notice = demoNotice
	g.hang(v, "sign_in", "of a demo", "", screen{Title: "Sign in", Page: signInScreen{}})
	g.welcomes()
}

// invented limits, for what may be automatic.
func inventedLimits() policy.Limits {
	return policy.Limits{Mode: policy.Shadow, AllowedTypes: []string{string(countersign.FailedTransfer), string(countersign.DuplicateCharge)}, MinConfidence: 0.9, MinEvidence: 2,
		Caps: map[string]int64{"NGN": 5_000_000, "USD": 12_000}}
}

func (g *gallery) welcomes() {
	fresh := welcomeScreen{Secret: "n4k2m", Zone: "UTC", Mode: policy.Shadow, Automatic: automatic(inventedLimits())}
	g.hang(g.visit(nobodyYet), "welcome", "as it first is", "/welcome/n4k2m", screen{Title: "Welcome", Page: fresh})
	wrong := fresh
	wrong.Email, wrong.Name, wrong.Zone, wrong.Mode = "ngozi@bank", "Ngozi Eze", "Lagos", policy.Act
	wrong.Wrong = map[string]string{"email": "Email \"ngozi@bank\" is not an e-mail address. Expected one like ada@bank.example.", "password": "Password has 8 characters, expected at least 12.",
		"zone": "Zone \"Lagos\" is not a time zone. Expected an IANA name like Africa/Lagos or UTC."}
	g.hang(g.visit(nobodyYet), "welcome", "wrong input", "", screen{Title: "Welcome", Page: wrong})
}

func (g *gallery) troubles() {
	v := g.visit(anAnalyst)
	for _, s := range []struct {
		state string
		err   *countersign.Error
	}{
		{"no such case", countersign.Errorf(countersign.NotFound, "There is no case %q.", "D-9999").Try("Look for it in the queue: by its number, the transaction, the customer or the amount.")},
		{"not allowed", countersign.Errorf(countersign.Forbidden, "your role, analyst, may not manage people").Try("ask somebody with the role admin")},
		{"cannot be done now", countersign.Errorf(countersign.Conflict, "case D-1042 does not wait for a person: it is closed")},
		{"something went wrong here", countersign.Errorf(countersign.Internal, "Something went wrong here, and nothing was changed.").Try("Try again; if it happens again, tell whoever runs this program, and name request k3vq7m2xj4pa.")},
		{"sent by another site", sentFrom("cross-site")},
		{"sent by an old browser through a proxy that nobody told of", sentFrom("")},
		{"a report that was changed since it was sealed", countersign.Errorf(countersign.Altered, "nothing of what is kept beside the record of case C-2037 is served: the stored content of the evidence report of round 1 gives the fingerprint %s, but the record sealed %s", strings.Repeat("07aa", 16), strings.Repeat("4be1", 16)).Try(store.Restore)},
		{"the database does not answer", countersign.Errorf(countersign.Unavailable, "the database does not answer").Try("try again in a moment")},
	} {
		g.trouble(v, s.state, s.err)
	}
	g.trouble(g.visit(nobodyYet), "signed out", countersign.Errorf(countersign.NotFound, "There is no page at this address.").Try("Go to the queue, or check the link."))
	g.hang(v, "keys", "the list", "/keys", screen{Title: "Keys"})
}

func (g *gallery) trouble(v *visit, state string, err *countersign.Error) {
	t := v.trouble(err)
	g.hang(v, "error", state, "", screen{Title: t.Heading, Page: t})
}
