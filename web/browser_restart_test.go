package web_test

import (
	"fmt"
	"net"
	"net/http/httptest"
	"testing"

	"countersign"
	"countersign/app"
	"countersign/auth"
	chromium "countersign/internal/browser"
	"countersign/internal/testdb"
	"countersign/pipeline/review"
)

// restart stops the program, whatever it is doing, and starts it on the same address once the page has asked for it in vain.
func (s *seat) restart(change ...func(*app.Config)) {
	o := s.office
	o.t.Helper()
	s.Eval("document.addEventListener('htmx:sse:error', e => { window.missed ||= e.detail.error.message === 'Failed to fetch' })", nil)
	address := o.server.Listener.Addr().String()
	o.must(o.Close()) // first, since it ends the event streams that a closing server waits for
	o.server.Close()
	s.Until("window.missed === true")
	o.open(change...)
	server := httptest.NewUnstartedServer(o.Handler())
	o.must(server.Listener.Close())
	var err error
	server.Listener, err = net.Listen("tcp", address)
	o.must(err)
	server.Start()
	o.server = server
}

// whileAway is what a console says of a program that is not there.
var whileAway = []string{"ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "htmx:sse:error: Failed to fetch"}

// A watcher's page stays open while the program is stopped in the middle of an investigation and started again.
func TestATraceGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	reviewer, database := make(leash), on(testdb.SQLite(t))
	o := newOffice(t, reviewer.models, database)
	c := o.dispute("T-1")
	s := o.sits(auth.Analyst, chromium.Options{})
	s.comesIn()
	s.opens("/cases/" + string(c.ID))
	s.stays()
	reviewer.answers(t)
	s.See("S2 Read the ledger")

	s.restart(reviewer.models, database)
	s.See("Investigation taken up again after turn 1")
	reviewer.answers(t)
	s.See("S4 Read device and place")
	s.traced(len(o.kinds(c.ID)))
	for range 3 {
		reviewer.answers(t)
	}
	s.See("Post reversal of NGN 24,500.00")
	s.stayed()
	s.traced(len(o.kinds(c.ID)))
	s.opens("/queue") // which lets the stream go, that the server would wait for
	s.quiet(whileAway...)
	o.verified()
}

// The same for a page of a case that waits for a person, which is not drawn anew: what happened before the stop is not told again,
// and what happens after it is.
func TestATraceThatIsReadGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	database := on(testdb.SQLite(t))
	o := newOffice(t, database)
	c := o.inReview("T-1")
	s := o.sits(auth.Auditor, chromium.Options{})
	s.comesIn()
	s.opens("/cases/" + string(c.ID))
	s.stays()
	before := len(o.kinds(c.ID))
	s.traced(before)
	o.drafts(c.ID, "Dear Adaeze, we look at it.")
	s.traced(before + 1)
	s.See("This case has changed since you opened it.")

	s.restart(database)
	o.drafts(c.ID, "Dear Adaeze, it is done.")
	s.traced(before + 2)
	s.stayed()
	s.opens("/queue")
	s.quiet(whileAway...)
	o.verified()
}

// drafts is what somebody else does meanwhile: another draft to the customer.
func (o *office) drafts(id countersign.CaseID, text string) {
	o.t.Helper()
	colleague := countersign.Actor{Kind: countersign.Person, ID: o.people[auth.Analyst].ID}
	_, err := o.Review.Message(o.t.Context(), review.Act{Case: id, Revision: o.latest(id).Revision, Actor: colleague}, text)
	o.must(err)
}

// traced waits until the trace has the first n rows of the record, each once and in their order.
func (s *seat) traced(n int) {
	s.office.t.Helper()
	var want string
	for seq := 1; seq <= n; seq++ {
		want += fmt.Sprintf(" t%d", seq)
	}
	s.Until(fmt.Sprintf("[...document.querySelectorAll('#trace > li')].map(line => ' ' + line.id).join('') === %s", spelled(want)))
}
