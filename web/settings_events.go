package web

import (
	"fmt"
	"net/http"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/hook"
	"countersign/store"
)

// eventsScreen is who may send events, and what came of them.
type eventsScreen struct {
	Sources []sourceLine
	Changes []sourceChange
	Secret  *secretPanel // shown this once
	Name    string       // that was typed
	Wrong   string
	Address string // that events go to, without the name
}

type sourceLine struct {
	Name, Window, Skew  string
	Off                 bool // the clocks are far apart
	Lost                bool // its secret needs re-entry: a new one
	Last                moment
	Deliveries, Events  string
	Waiting, Unreadable int64
	Former              moment // until when the secret before is good; empty when there is none
	Refused             []refusedLine
	Kept                []refusedLine
}

// sourceChange is who changed which source, and how.
type sourceChange struct {
	Source, By, What string
	When             moment
}

var sourceChangeWords = map[string]string{
	store.SourceAdded:   "added",
	store.SourceRotated: "given a new secret",
	store.SourceRemoved: "removed",
}

// refusedLine is a delivery that was not taken, or an event that was kept and not understood.
type refusedLine struct {
	When moment
	Why  string
}

func eventSources(v *visit) error { return v.showEventSources(http.StatusOK, eventsScreen{}) }

func (v *visit) showEventSources(status int, p eventsScreen) error {
	sources, err := v.Store.EventSources(v.r.Context())
	if err != nil {
		return err
	}
	for _, s := range sources {
		line, err := v.sourceLine(s)
		if err != nil {
			return err
		}
		p.Sources = append(p.Sources, line)
	}
	if p.Changes, err = v.sourceChanges(); err != nil {
		return err
	}
	p.Address = v.Way.Origin(v.r) + "/hooks/"
	return v.show(status, "events", screen{Title: "Events", Section: "Settings", Page: p})
}

func (v *visit) sourceLine(s store.EventSource) (l sourceLine, err error) {
	counts, err := v.Store.EventCounts(v.r.Context(), s.Name)
	if err != nil {
		return l, err
	}
	l = sourceLine{Name: s.Name, Lost: !v.Sources.Opens(s), Window: windowWords(s.Window), Deliveries: count(counts.Deliveries), Events: count(counts.Events), Waiting: counts.Waiting, Unreadable: counts.Unreadable}
	if !counts.Last.IsZero() {
		l.Last, l.Skew, l.Off = v.moment(counts.Last), skewWords(counts.Skew), counts.Skew > s.Window/2 || counts.Skew < -s.Window/2
	}
	if s.Former != "" && v.now.Before(s.FormerUntil) {
		l.Former = v.moment(s.FormerUntil)
	}
	if v.Hooks != nil {
		for _, r := range v.Hooks.Refused(s.Name) {
			l.Refused = append(l.Refused, refusedLine{v.moment(r.At), legible(r.Why)})
		}
	}
	kept, err := v.Store.UnreadableEvents(v.r.Context(), s.Name, 20)
	for _, e := range kept {
		l.Kept = append(l.Kept, refusedLine{v.moment(e.ReceivedAt), legible(e.Why)})
	}
	return l, err
}

func (v *visit) sourceChanges() (all []sourceChange, err error) {
	changes, err := v.Store.EventSourceChanges(v.r.Context(), 50)
	if err != nil {
		return nil, err
	}
	names, err := v.Store.Names(v.r.Context())
	who := &file{names: names}
	for _, c := range changes {
		all = append(all, sourceChange{c.Source, who.actor(c.Actor), sourceChangeWords[c.What], v.moment(c.At)})
	}
	return all, err
}

// windowWords is how far off a signature may be.
func windowWords(d time.Duration) string {
	if d%time.Minute == 0 {
		return many(int(d/time.Minute), "minute", "minutes")
	}
	return many(int(d/time.Second), "second", "seconds")
}

// skewWords is how far the sender's clock was from ours at the last delivery, the way there included.
func skewWords(d time.Duration) string {
	switch seconds := int64(d / time.Second); {
	case seconds == 0:
		return "the same second"
	case seconds > 0:
		return fmt.Sprintf("%d s behind ours", seconds)
	default:
		return fmt.Sprintf("%d s ahead of ours", -seconds)
	}
}

// postEventSource adds a source. Its secret is on the page that follows, and never again.
func postEventSource(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	name := v.form("name")
	secret, err := v.Sources.Add(v.r.Context(), name, hook.DefaultWindow, v.who.Actor)
	if e := answer.Told(err); e != nil && (e.Kind == countersign.Invalid || e.Kind == countersign.Conflict) {
		return v.showEventSources(answer.Status(e.Kind), eventsScreen{Name: name, Wrong: advised(e)})
	}
	if err != nil {
		return err
	}
	return v.showSourceSecret(name, secret, "It signs what "+name+" sends. It is not shown again.")
}

// postRotateSource gives a source another secret.
func postRotateSource(v *visit) error {
	name := v.r.PathValue("source")
	secret, err := v.Sources.Rotate(v.r.Context(), name, hook.Overlap, v.who.Actor)
	if err != nil {
		return err
	}
	return v.showSourceSecret(name, secret, "It is not shown again. The one before stays good for 24 hours.")
}

func (v *visit) showSourceSecret(name, secret, hint string) error {
	return v.showEventSources(http.StatusOK, eventsScreen{Secret: &secretPanel{"Secret of " + name, secret, hint}})
}

// postRemoveSource takes nothing of a source any more.
func postRemoveSource(v *visit) error {
	if err := v.Sources.Remove(v.r.Context(), v.r.PathValue("source"), v.who.Actor); err != nil {
		return err
	}
	return v.back("/settings/events", "Nothing of "+clip(v.r.PathValue("source"))+" is taken any more. What it sent stays.")
}
