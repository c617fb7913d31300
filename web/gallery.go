package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"countersign"
	"countersign/auth"
	"countersign/desk"
	"countersign/pipeline/review"
	"countersign/store"
)

// Sample is one state of one page, drawn from invented data.
type Sample struct {
	Page     string // which page, as people call it: "case"
	State    string // what it shows, in a few words: "in review, a fix to confirm"
	Template string
	Address  string // where the program shows such a page; empty when it has no address of its own
	screen   screen
}

// Path is where GallerySite shows the sample.
func (s Sample) Path() string { return "/sample/" + slug(s.Page) + "/" + slug(s.State) }

// slug is words as an address has them: letters and digits, with a dash for whatever else stands between.
func slug(words string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}

// Render writes the whole page.
func (s Sample) Render(w io.Writer) error {
	return everyPage()[s.Template].ExecuteTemplate(w, "layout", s.screen)
}

var (
	everyPage  = sync.OnceValue(parsePages)
	everyAsset = sync.OnceValue(hashedAssets)
)

// Gallery is every state of every page of a bank's and of a shop's desk, for tests that look at each and for people who want to see them without
// waiting for them to happen. What a sample shows is put together by the functions that do so in the program, as far as those
// need no database; the cases, people and records in it are invented.
func Gallery(bank, shop desk.Desk) []Sample {
	g := &gallery{bank: bank, shop: shop}
	g.bank.Waive, g.shop.Fresh, g.shop.Pack, g.shop.Clauses = g.waive, stillThere, packed, quotes
	for _, room := range []func(){g.wayIn, g.queues, g.openings, g.chargebacks, g.cases, g.orders, g.heard, g.filed, g.hostile, g.decisions, g.records, g.imports, g.settings, g.sources, g.shops, g.models, g.policies, g.troubles} {
		room()
	}
	return g.samples
}

// gallery is the samples so far.
type gallery struct {
	bank    desk.Desk
	shop    desk.Desk
	samples []Sample
}

// galleryTime is when every sample is looked at: a Monday morning.
var galleryTime = time.Date(2026, 11, 30, 8, 10, 0, 0, time.UTC)

// galleryZone is where the invented bank is. It is made here, because a machine need not have the zone in its files.
var galleryZone = time.FixedZone("WAT", 60*60)

// Who looks at the samples. Nobody has signed in where the zero Principal looks.
var (
	anAnalyst  = colleague("usr_amina", "Amina Okafor", auth.Analyst)
	anApprover = colleague("usr_tunde", "Tunde Bello", auth.Approver)
	anAuditor  = colleague("usr_grace", "Grace Effiong", auth.Auditor)
	anAdmin    = colleague("usr_ngozi", "Ngozi Eze", auth.Admin)
	nobodyYet  auth.Principal
)

func colleague(id, name string, role auth.Role) auth.Principal {
	return auth.Principal{Actor: countersign.Actor{Kind: countersign.Person, ID: id}, Role: role, PersonID: id, Name: name, Zone: "Africa/Lagos"}
}

var colleagues = map[string]string{anAnalyst.PersonID: anAnalyst.Name, anApprover.PersonID: anApprover.Name, anAuditor.PersonID: anAuditor.Name, anAdmin.PersonID: anAdmin.Name}

// visit is somebody's, to a program that has no database: what would ask one is answered here.
func (g *gallery) visit(who auth.Principal) *visit {
	v := &visit{dashboard: &dashboard{assets: everyAsset(), pages: everyPage(), Config: Config{
		Store: &store.Store{}, Desks: map[countersign.DeskName]desk.Desk{countersign.Bank: g.bank, countersign.Merchant: g.shop}, Version: "1.4.0",
		Review: review.Review{Desks: map[countersign.DeskName]review.Desk{countersign.Bank: {Justify: asBefore}, countersign.Merchant: {Fresh: stillThere}}},
	}}, who: who, zone: galleryZone, now: galleryTime}
	v.r = &http.Request{}
	return v
}

// recordsSeen is what the facts of a sample were read from. asBefore finds the same rows again, so that only a case whose facts
// saw others has records that changed.
const recordsSeen = "9f3c61d0"

func asBefore(context.Context, store.View, countersign.Case) (*countersign.Fix, string, error) {
	return nil, recordsSeen, nil
}

// hang adds a sample of a page as the visitor sees it.
func (g *gallery) hang(v *visit, template, state, address string, s screen) {
	v.frame(&s)
	g.samples = append(g.samples, Sample{Page: strings.ReplaceAll(template, "_", " "), State: state, Template: template, Address: address, screen: s})
}
