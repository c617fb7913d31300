package events

// From is how a dispute stands, as far as the next event is concerned.
type From string

const (
	Nothing From = "nothing known"
	Asks    From = "needs_response" // an answer is ours to give
	Waits   From = "under_review"   // it is the network's turn
	For     From = "ended for us"
	Against From = "ended against us"
	Ended   From = "ended undecided"
)

// stands is where each status leaves a dispute.
var stands = map[Status]From{NeedsResponse: Asks, UnderReview: Waits, Won: For, Reversed: For, Withdrawn: For, Lost: Against, Accepted: Against,
	Expired: Against, Closed: Ended}

// Ends reports whether the status ends the dispute, for now.
func (s Status) Ends() bool { return stands[s] != Asks && stands[s] != Waits }

// Effect is what an event does.
type Effect string

const (
	Opens   Effect = "opens"   // a case, or joins the one that is there
	Updates Effect = "updates" // deadline, amount and terms of the newer word
	Moves   Effect = "moves"   // it stands differently now; nothing that was decided is touched
	Decides Effect = "decides" // the network's result is kept on the case, beside what was decided here
	Turns   Effect = "turns"   // a case that was closed is opened again, as a new round
	History Effect = "history" // of an earlier round: kept and shown, and changes nothing
)

// Row is one line of the table: a dispute that stands so, and hears that.
type Row struct {
	From From
	To   []From // where the event's status leaves it
	Does Effect
	Why  string // a sentence for whoever reads that a case was opened again; for the others, what it means
}

// Table is every transition within one round. An event of a later round always turns, whatever it says, and one of an earlier round is
// history: see Fold.
var Table = []Row{
	{Nothing, []From{Asks, Waits}, Opens, "a case is opened, with the deadline if there is one"},
	{Nothing, []From{For, Against, Ended}, Opens, "a case is opened, and has the network's result from the start"},

	{Asks, []From{Asks}, Updates, "the same again, or another deadline"},
	{Asks, []From{Waits}, Moves, "the answer has arrived there"},
	{Asks, []From{For, Against, Ended}, Decides, "it ended"},

	{Waits, []From{Waits}, Updates, "the same again"},
	{Waits, []From{Asks}, Turns, "The network asks again, after it had an answer."},
	{Waits, []From{For, Against, Ended}, Decides, "it ended"},

	{For, []From{For}, Decides, "the same way again; the newer word counts"},
	{For, []From{Against, Ended}, Turns, "The network has taken back what it had decided for us."},
	{For, []From{Asks}, Turns, "The network asks again, after it had decided for us."},
	{For, []From{Waits}, Turns, "The network looks again at what it had decided for us."},

	{Against, []From{Against}, Decides, "the same way again; the newer word counts"},
	{Against, []From{For, Ended}, Turns, "The network has taken back what it had decided against us."},
	{Against, []From{Asks}, Turns, "The network asks again, after it had decided against us."},
	{Against, []From{Waits}, Turns, "The network looks again at what it had decided against us."},

	{Ended, []From{Ended}, Decides, "the same again"},
	{Ended, []From{For, Against}, Turns, "It had ended undecided, and was decided after all."},
	{Ended, []From{Asks}, Turns, "It had ended, and the network asks again."},
	{Ended, []From{Waits}, Turns, "It had ended, and the network looks at it again."},
}

// anotherRound is why an event of a later round turns.
const anotherRound = "Another round has begun."

// does looks a transition up.
func does(from, to From) Row {
	for _, row := range Table {
		if row.From != from {
			continue
		}
		for _, word := range row.To {
			if word == to {
				return row
			}
		}
	}
	return Row{from, []From{to}, Updates, ""} // unreachable: a test walks every pair
}

// Capability says whether an act exists at a stage. Not is why it does not; empty when it does.
type Capability struct {
	Stage   Stage
	Network string // of this one alone; empty for every network that has no line of its own
	Contest string
	Accept  string
	Refund  string
}

// Capabilities is what can be done, by stage.
var Capabilities = []Capability{
	{Stage: Inquiry, Network: "klarna", Contest: "An answer to a Klarna inquiry is read by nobody: refund the order in the shop, or wait what becomes of it."},
	{Stage: Inquiry},
	{Stage: Chargeback, Refund: "The money of a chargeback was taken already: a refund as well would pay twice."},
	{Stage: PreArbitration, Refund: "The money was taken with the chargeback: a refund as well would pay twice."},
	{Stage: Arbitration, Refund: "The money was taken with the chargeback: a refund as well would pay twice."},
}

// Can is the line of a stage and a network. A stage that is not known can do everything: a person decides.
func Can(stage Stage, network string) Capability {
	for _, c := range Capabilities {
		if c.Stage == stage && (c.Network == "" || c.Network == network) {
			return c
		}
	}
	return Capability{Stage: stage}
}

// Says is what a status means at a stage, for people. An inquiry's words never speak of money that was taken: none was.
func Says(stage Stage, status Status) string {
	if words, ok := says[stage][status]; ok {
		return words
	}
	return says[Chargeback][status]
}

var says = map[Stage]map[Status]string{
	Inquiry: {
		NeedsResponse: "The cardholder's bank asks. No money was taken.",
		UnderReview:   "The cardholder's bank reads the answer. No money was taken.",
		Won:           "The cardholder's bank is content. No money was taken.",
		Reversed:      "The inquiry was taken back. No money was taken.",
		Withdrawn:     "The inquiry was taken back. No money was taken.",
		Lost:          "The cardholder's bank is not content; a chargeback may follow.",
		Accepted:      "The cardholder was taken to be right.",
		Expired:       "Nobody answered in time; a chargeback may follow.",
		Closed:        "The inquiry is over. No money was taken.",
	},
	Chargeback: {
		NeedsResponse: "The amount was taken back; an answer is due.",
		UnderReview:   "The answer is being looked at.",
		Won:           "Decided for the shop.",
		Reversed:      "The amount was given back, and not for good.",
		Withdrawn:     "The cardholder's bank has withdrawn it.",
		Lost:          "Decided against the shop.",
		Accepted:      "It was accepted.",
		Expired:       "Nobody answered in time.",
		Closed:        "It ended without a decision.",
	},
}
