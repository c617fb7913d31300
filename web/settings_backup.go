package web

import (
	"countersign/auth"
	"countersign/store"
)

// backupPanel is when the last backup was made, and whether the next one comes by itself. Where they are is for an admin alone.
type backupPanel struct {
	EveryHours, Keep int // 0 when none is made by itself
	Encrypted        bool
	Folder           string
	By               string // who set that; empty when nobody did
	Since            moment
	Made             bool
	Last             moment
	File             string
	Failed           bool
	Failure          moment
	Why              string
	Late             bool
}

func (v *visit) backups() (p backupPanel, err error) {
	s, err := v.Store.BackupSchedule(v.r.Context())
	if err != nil {
		return p, err
	}
	standing, err := v.Store.BackupStanding(v.r.Context())
	if err != nil {
		return p, err
	}
	names, err := v.Store.Names(v.r.Context())
	if err != nil {
		return p, err
	}
	return v.backupPanel(s, standing, (&file{names: names}).actor(s.By)), nil
}

func (v *visit) backupPanel(s store.BackupScheduled, standing store.BackupStanding, by string) (p backupPanel) {
	p.EveryHours, p.Keep, p.Encrypted = s.EveryHours, s.Keep, len(s.Recipients) > 0
	p.Late = !s.Off() && (standing.Good == nil || v.now.Sub(standing.Good.At) > 2*s.Every())
	if s.By != "" {
		p.By, p.Since = by, v.moment(s.At)
	}
	if good := standing.Good; good != nil {
		p.Made, p.Last = true, v.moment(good.At)
	}
	if failed := standing.Failed; failed != nil {
		p.Failed, p.Failure = true, v.moment(failed.At)
	}
	if !v.may(auth.Manage) {
		return p
	}
	p.Folder = legible(s.Folder)
	if p.Made {
		p.File = legible(standing.Good.Path)
	}
	if p.Failed {
		p.Why = legible(standing.Failed.Why)
	}
	return p
}
