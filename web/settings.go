package web

import (
	"net/http"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/auth"
	"countersign/desk/bank/posting"
	"countersign/llm/roster"
	"countersign/pipeline/policy"
	"countersign/store"
)

// settingsScreen is what a person may set for themselves, what is in force for everybody, and for an admin who is here.
type settingsScreen struct {
	Me     store.Person
	Zones  []string
	Policy policyPanel
	Models []string // who investigates, in words
	Posts  postsPanel
	Load   loadPanel
	Key    keyPanel
	Backup backupPanel
	NoAI   bool
	Manage bool
	People []personLine
	Tokens []tokenLine
	Roles  []roleOption
	New    newPerson
	Secret *secretPanel // shown this once
	Wrong  map[string]string
}

type policyPanel struct {
	Mode      policy.Mode
	Automatic string
	Version   string
}

// postsPanel says who posts fixes.
type postsPanel struct {
	URL, KeyID string // of the bank's own core; empty when the ledger here does
	Signed     bool   // by the core, what it answers
	By         string // who set it; empty when nobody did
	Since      moment
}

// loadPanel is how much is investigated at once, on all machines together.
type loadPanel struct {
	Pools             []poolLine
	LongQueue, Refuse int64
}

type poolLine struct {
	Name                string
	Most, Held, Waiting int64
}

type personLine struct {
	ID, Name, Email, Role string
	Disabled, HasPassword bool
	Self                  bool
	Since                 moment
}

type tokenLine struct {
	ID, Name, Role, By string
	Since              moment
	Revoked            bool
}

type roleOption struct{ Value, Title string }

// newPerson and newToken are what was typed, to be kept when it was wrong.
type newPerson struct{ Email, Name, Role, TokenName, TokenRole, MyName, MyZone string }

// secretPanel is a link or a token that nobody can see again.
type secretPanel struct{ Title, Text, Hint string }

func settings(v *visit) error { return v.showSettings(http.StatusOK, settingsScreen{}) }

func (v *visit) showSettings(status int, p settingsScreen) (err error) {
	ctx := v.r.Context()
	if p.Me, err = v.Store.Person(ctx, v.who.PersonID); err != nil {
		return err
	}
	if p.Wrong["me"] != "" {
		p.Me.Name, p.Me.Zone = p.New.MyName, p.New.MyZone
	}
	limits, err := v.Store.Limits(ctx)
	if err != nil {
		return err
	}
	p.Policy = policyPanel{Mode: limits.Mode, Automatic: automatic(limits)}
	p.Zones = zones
	if p.Models, p.NoAI, err = v.whoInvestigates(); err != nil {
		return err
	}
	if p.Posts, err = v.posts(); err != nil {
		return err
	}
	if p.Load, err = v.workload(); err != nil {
		return err
	}
	if p.Backup, err = v.backups(); err != nil {
		return err
	}
	if p.Wrong == nil {
		p.Wrong = map[string]string{}
	}
	if v.may(auth.Manage) {
		if err := v.manage(&p); err != nil {
			return err
		}
	}
	return v.show(status, "settings", screen{Title: "Settings", Section: "Settings", Page: p})
}

// whoInvestigates is what the environment names, or what the settings say of each desk.
func (v *visit) whoInvestigates() (words []string, noAI bool, err error) {
	if v.Environment != "" {
		return []string{v.Environment}, v.NoAI, nil
	}
	now, _, err := v.rosterNow()
	if err != nil {
		return nil, false, err
	}
	words, noAI = investigators(now)
	return words, noAI, nil
}

func investigators(r roster.Roster) (words []string, noAI bool) {
	if noAI = len(r.Of(countersign.Bank))+len(r.Of(countersign.Merchant)) == 0; noAI {
		return []string{"The offline reviewer: fixed rules, no AI, no network."}, true
	}
	for _, desk := range []countersign.DeskName{countersign.Bank, countersign.Merchant} {
		words = append(words, deskTitles[desk]+": "+inOrderOf(r, desk)+".")
	}
	return words, false
}

// posts is who posts fixes now. Whoever set it is a person, or somebody at the terminal.
func (v *visit) posts() (postsPanel, error) {
	s, r, err := posting.Office{Store: v.Store}.InForce(v.r.Context())
	if err != nil || r.Version == 0 {
		return postsPanel{}, err
	}
	names, err := v.Store.Names(v.r.Context())
	return postsPanel{s.URL, s.KeyID, s.AnswersSigned, (&file{names: names}).actor(r.AppliedBy), v.moment(r.AppliedAt)}, err
}

func (v *visit) workload() (p loadPanel, err error) {
	set, err := v.Store.Workload(v.r.Context())
	if err != nil {
		return p, err
	}
	pools, err := v.Store.Pools(v.r.Context())
	for _, pool := range pools {
		p.Pools = append(p.Pools, poolLine{poolWords(pool.Name), pool.Max, pool.Held, pool.Standing})
	}
	p.LongQueue, p.Refuse = set.LongQueue, set.RefuseAt
	return p, err
}

// poolWords is a pool as people call it.
func poolWords(name string) string {
	kind, which, _ := strings.Cut(name, ":")
	if kind == "desk" {
		return "the " + legible(which) + " desk"
	}
	return "model " + legible(which)
}

// zones are offered where one is typed; any other of the IANA's is taken too.
var zones = []string{"Africa/Accra", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Chicago", "America/Los_Angeles",
	"America/New_York", "America/Sao_Paulo", "Asia/Dubai", "Asia/Kolkata", "Asia/Singapore", "Asia/Tokyo", "Australia/Sydney", "Europe/Berlin",
	"Europe/London", "Europe/Paris", "UTC"}

func (v *visit) manage(p *settingsScreen) error {
	p.Manage = true
	var err error
	if p.Key, err = v.masterKey(); err != nil {
		return err
	}
	people, err := v.Store.People(v.r.Context())
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, one := range people {
		names[one.ID] = one.Name
		p.People = append(p.People, personLine{one.ID, legible(one.Name), one.Email, one.Role, one.Disabled, one.HasPassword, one.ID == v.who.PersonID, v.moment(one.CreatedAt)})
	}
	tokens, err := v.Store.ListTokens(v.r.Context())
	if err != nil {
		return err
	}
	who := &file{names: names}
	for _, t := range tokens {
		p.Tokens = append(p.Tokens, tokenLine{t.ID, legible(t.Name), t.Role, who.actor(t.CreatedBy), v.moment(t.CreatedAt), t.RevokedAt != nil})
	}
	for _, role := range auth.Roles {
		p.Roles = append(p.Roles, roleOption{string(role), roleWords[string(role)]})
	}
	return nil
}

// again shows the settings with what was wrong; an error that is not for the form goes on.
func (v *visit) again(err error, form string, typed newPerson) error {
	e := answer.Told(err)
	if e == nil || e.Kind == countersign.Unavailable && e.Err != nil {
		return err
	}
	return v.showSettings(statusOfTry(e.Kind), settingsScreen{New: typed, Wrong: map[string]string{form: advised(e)}})
}

// postMe changes how a person is called and in which zone they read.
func postMe(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	me, err := v.Store.Person(v.r.Context(), v.who.PersonID)
	if err != nil {
		return err
	}
	me.Name, me.Zone = v.form("name"), v.form("zone")
	if err := auth.ChangePerson(v.r.Context(), v.Store, me, v.who.Actor); err != nil {
		return v.again(err, "me", newPerson{MyName: me.Name, MyZone: me.Zone})
	}
	return v.back("/settings", "Kept.")
}

// postPassword changes a person's own password. Their sessions end with it, this one begins anew.
func postPassword(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	me, err := v.Store.Person(v.r.Context(), v.who.PersonID)
	if err != nil {
		return err
	}
	if me.HasPassword {
		attempt := auth.Attempt{Email: me.Email, Password: v.r.PostFormValue("current"), Address: v.Way.Client(v.r)}
		if _, err := auth.Recognise(v.r.Context(), v.Store.View, v.Throttle, attempt); err != nil {
			if countersign.KindOf(err) == countersign.Unauthorized {
				err = countersign.Errorf(countersign.Invalid, "The current password is not that one")
			}
			return v.again(err, "password", newPerson{})
		}
	}
	if err := auth.ChangePassword(v.r.Context(), v.Store, me.ID, v.r.PostFormValue("password"), v.who.Actor); err != nil {
		return v.again(err, "password", newPerson{})
	}
	if me, err = v.Store.Person(v.r.Context(), me.ID); err != nil {
		return err
	}
	if err := v.Sessions.SignIn(v.r.Context(), me); err != nil {
		return err
	}
	return v.back("/settings", "The password was changed. You were signed out everywhere else.")
}

// postMode switches between shadow and act. The choice is kept with its actor, like every change of the policy.
func postMode(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	mode := policy.Mode(v.form("mode"))
	if mode != policy.Act && mode != policy.Shadow {
		return countersign.Errorf(countersign.Invalid, "%q is not a mode; nothing was changed.", clip(string(mode))).Try("Expected act or shadow.")
	}
	if err := v.setMode(mode, v.who.Actor); err != nil {
		return err
	}
	if mode == policy.Shadow {
		return v.back("/settings", "Shadow mode: nothing is automatic from now on.")
	}
	return v.back("/settings", "From now on what the policy allows is automatic.")
}
