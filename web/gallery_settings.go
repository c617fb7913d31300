package web

import (
	"time"

	"countersign/auth"
	"countersign/pipeline/policy"
	"countersign/store"
)

// setting is the settings page of somebody, who has a password and may not manage anybody.
func (g *gallery) setting(who auth.Principal, email string) settingsScreen {
	return settingsScreen{Me: store.Person{ID: who.PersonID, Name: who.Name, Email: email, Role: string(who.Role), Zone: who.Zone, HasPassword: true}, Zones: zones,
		Policy: policyPanel{Mode: policy.Act, Automatic: automatic(inventedLimits())}, Load: loadPanel{LongQueue: 10_000}, Models: []string{"The bank's desk: hosted, then local, then the offline reviewer.", "The merchant's desk: the offline reviewer: fixed rules, no AI."}, Wrong: map[string]string{}}
}

// managing is the settings page of an admin, with everybody who is here.
func (g *gallery) managing(v *visit) settingsScreen {
	p := g.setting(anAdmin, "ngozi@bank.example")
	p.Manage, p.Policy.Mode, p.NoAI, p.Models = true, policy.Shadow, true, []string{"The offline reviewer: fixed rules, no AI, no network."}
	p.Key = keyPanel{ID: "8f31c2d07ab94e15", In: "/var/lib/countersign/master.key", Sealed: 4}
	p.Load = loadPanel{[]poolLine{{poolWords("desk:bank"), 40, 40, 1312}, {poolWords("model:desk-model-1"), 8, 3, 0}}, 10_000, 50_000}
	since := v.moment(galleryTime.AddDate(0, -2, 0))
	p.People = []personLine{
		{"usr_amina", "Amina Okafor", "amina@bank.example", "analyst", false, true, false, since},
		{"usr_grace", "Grace Effiong", "grace@bank.example", "auditor", false, false, false, since},
		{"usr_ngozi", "Ngozi Eze", "ngozi@bank.example", "admin", false, true, true, since},
		{"usr_peter", "Peter-Christopher Oluwatobiloba Adeyemi-Williams", "peter-christopher.adeyemi-williams@disputes.lagos.bank.example", "analyst", true, true, false, since},
		{"usr_tunde", "Tunde Bello", "tunde@bank.example", "approver", false, true, false, since},
	}
	p.Tokens = []tokenLine{
		{"tok_core", "core banking", "analyst", "Ngozi Eze", since, false},
		{"tok_old", "the chat bot of last year", "analyst", "root on the command line", v.moment(galleryTime.Add(-300 * 24 * time.Hour)), true},
	}
	for _, role := range auth.Roles {
		p.Roles = append(p.Roles, roleOption{string(role), roleWords[string(role)]})
	}
	return p
}

// backedUp is how backups stand for somebody: all is well, or nothing is.
func (g *gallery) backedUp(v *visit, well bool) backupPanel {
	s := store.BackupScheduled{BackupSchedule: store.BackupSchedule{Folder: "/srv/backups/countersign", EveryHours: 24, Keep: 14, Recipients: []string{"age1"}},
		By: "person:usr_ngozi", At: galleryTime.AddDate(0, -1, 0)}
	good := store.BackupDone{At: galleryTime.Add(-7 * time.Hour), Path: "/srv/backups/countersign/countersign-20261201T020000Z.tar.gz.age", Bytes: 48_211_306}
	standing := store.BackupStanding{Good: &good}
	if !well {
		good.At = galleryTime.AddDate(0, 0, -4)
		standing.Failed = &store.BackupFailed{At: galleryTime.Add(-7 * time.Hour), Why: "cannot write in /srv/backups/countersign; no file was left there (it takes room for the database and for the backup; free some, or name a folder on another disk)"}
	}
	return v.backupPanel(s, standing, "Ngozi Eze")
}

func (g *gallery) settings() {
	analyst, admin := g.visit(anAnalyst), g.visit(anAdmin)
	g.setUp(analyst, "of an analyst", "/settings", g.setting(anAnalyst, "amina@bank.example"))
	byLink := g.setting(anAnalyst, "amina@bank.example")
	byLink.Me.HasPassword = false
	g.setUp(analyst, "of somebody who has no password yet", "", byLink)
	g.setUp(admin, "of an admin, with people and tokens", "", g.managing(admin))
	alone := g.managing(admin)
	alone.People, alone.Tokens, alone.Key.Sealed = alone.People[2:3], nil, 0
	g.setUp(admin, "of an admin who is alone", "", alone)
	other := g.managing(admin)
	other.Key.Wrong = "This database is kept under master key 02d4be6671f0a39c, and another one is here."
	other.Key.Lost = []string{"Connection string of version 3 of the shop mapping", "Key of the model connection hosted at https://models.example.com/v1", "Secrets of version 2 of where fixes are posted", "Secret of the event source till"}
	g.setUp(admin, "of an admin, with another master key than the database's", "", other)
	backed, unbacked, waiting := g.managing(admin), g.managing(admin), g.setting(anAnalyst, "amina@bank.example")
	backed.Backup, unbacked.Backup, waiting.Backup = g.backedUp(admin, true), g.backedUp(admin, false), g.backedUp(analyst, false)
	g.setUp(admin, "with backups", "", backed)
	g.setUp(admin, "with a backup that failed", "", unbacked)
	g.setUp(analyst, "of an analyst, with a backup that failed", "", waiting)
	missing := g.managing(admin)
	missing.Backup = admin.backupPanel(store.BackupScheduled{BackupSchedule: store.BackupSchedule{Folder: "/srv/backups", EveryHours: 6, Keep: 28}}, store.BackupStanding{}, "")
	g.setUp(admin, "with backups that are to be made and were not", "", missing)

	link := g.managing(admin)
	link.Secret = &secretPanel{"A link for Grace Effiong", "https://disputes.bank.example/link/GHDM6Z2KQ4TNXW7RPBYJ5VCA3E",
		"It lets them in once, until Wed 2 Dec 2026 09:10 WAT. Send it to them; it is not shown again."}
	g.setUp(admin, "a link, shown once", "", link)
	token := g.managing(admin)
	token.Secret = &secretPanel{"Token core banking", "ct_4WQ7ZK2M9XN5RPT3VBYJ6DHCAG8E4WQ7ZK2M9XN5RPT3VBYJ6DHC", "Programs send it as Authorization: Bearer. It is not shown again."}
	g.setUp(admin, "a token, shown once", "", token)

	wrong := g.managing(admin)
	wrong.New = newPerson{Email: "grace@bank", Name: "Grace Effiong", Role: "auditor", TokenName: "two\nlines", TokenRole: "approver"}
	wrong.Wrong = map[string]string{"me": "Zone \"Lagos\" is not a time zone. Expected an IANA name like Africa/Lagos or UTC.", "password": "The current password is not that one.",
		"person": "Email \"grace@bank\" is not an e-mail address. Expected one like ada@bank.example.", "token": "Name \"two\\nlines\" is not one line of text."}
	g.setUp(admin, "wrong input", "", wrong)
}

func (g *gallery) setUp(v *visit, state, address string, p settingsScreen) {
	g.hang(v, "settings", state, address, screen{Title: "Settings", Section: "Settings", Page: p})
}
