package bank

import (
	"fmt"
	"strings"
)

// opinion is what the offline reviewer makes of a case.
type opinion struct {
	recommendation string
	category       string
	confidence     float64
	fraud          bool
	lead           string // the first sentence of the summary; the claims are the others
	claims         []claim
	message        string
}

// How sure the reviewer says it is. It has no sense of probability: these are grades.
const (
	sure     = 0.95 // every record that bears on it was there and says the same
	nearly   = 0.85 // something that would make it certain was not recorded
	halfway  = 0.5  // the records leave it open
	hardly   = 0.3  // records could not be read
	rejected = 0.9  // the records speak against the customer
)

// standing is what the records say of one kind of claim: that it holds, that it does not, or neither.
type standing int

const (
	open standing = iota
	holds
	fails
)

// view is what the reviewer thinks of one kind of claim, and why.
type view struct {
	standing standing
	claims   []claim
}

func viewed(s standing, claims ...claim) view { return view{s, claims} }

// opinion weighs what was seen. Whatever it cannot tell ends with a person.
func (s *sight) opinion() opinion {
	signals, failed, double := s.signals(), s.failedTransfer(), s.doubleCharge()
	switch {
	case len(s.unread) > 0:
		return s.blind()
	case len(signals) > 0:
		o := s.escalation(halfway, "The payment may not have been the customer's own doing.", signals)
		o.fraud = true
		return o
	case s.reason == "unauthorised":
		return s.escalation(halfway, "The customer says that somebody else made this payment; the records show nothing unusual, which does not settle it.", s.familiar())
	case failed.standing == holds && double.standing == holds:
		return s.escalation(halfway, "The records support two different corrections.", append(failed.claims, double.claims...))
	case failed.standing == holds:
		return s.resolution("failed_transfer", "The transfer failed and the money was not given back.", failed.claims, failedMessage)
	case double.standing == holds:
		return s.resolution("duplicate_charge", "The same payment was taken twice and neither was given back.", double.claims, doubleMessage)
	case s.reason == "failed_transfer":
		return s.unfounded(failed, "The records do not show a failed transfer.")
	case s.reason == "duplicate_charge":
		return s.unfounded(double, "The records do not show a second charge that is still owed.")
	}
	return s.escalation(halfway, "The bank's records alone do not settle this kind of dispute.", s.railSays())
}

// blind is the opinion when records could not be read: it says which, and nothing about what might stand in them.
func (s *sight) blind() opinion {
	return opinion{recommendation: escalate, category: s.reason, confidence: hardly,
		lead: "Not every record could be read, so a person should look.", claims: s.unreadable(), message: s.letter(waitingMessage)}
}

func (s *sight) resolution(category, lead string, claims []claim, message string) opinion {
	gaps := s.gaps()
	o := opinion{recommendation: resolve, category: category, confidence: sure, lead: lead, claims: append(claims, s.familiar()...)}
	if len(gaps) > 0 {
		o.confidence, o.claims = nearly, append(claims, gaps...)
	}
	o.message = s.letter(fmt.Sprintf(message, s.transaction.Amount))
	return o
}

// unfounded rejects what the records contradict and hands on what they leave open.
func (s *sight) unfounded(v view, lead string) opinion {
	if v.standing != fails {
		return s.escalation(halfway, "The records leave it open.", v.claims)
	}
	return opinion{recommendation: reject, category: s.reason, confidence: rejected, lead: lead,
		claims: append(v.claims, s.whatHappened()...), message: s.letter(rejectedMessage)}
}

func (s *sight) escalation(confidence float64, lead string, claims []claim) opinion {
	return opinion{recommendation: escalate, category: s.reason, confidence: confidence, lead: lead,
		claims: append(claims, s.whatHappened()...), message: s.letter(waitingMessage)}
}

const (
	failedMessage = "your transfer of %s did not arrive at the other bank, and the money had not come back to you. " +
		"We are putting it back into your account. You do not need to do anything."
	doubleMessage = "you were charged twice for the same payment of %s. We are giving the second charge back to your account. " +
		"You do not need to do anything."
	rejectedMessage = "we looked into the payment you asked about. From our records it went through as it should, or was already " +
		"put right, so we do not see anything we still owe you for it. If you know something that we do not, please reply and tell us."
	waitingMessage = "thank you for telling us about this payment. A colleague is looking into it and will come back to you. " +
		"You do not need to do anything for now."
)

// letter is a draft to the customer. It takes nothing from the records but a first name and an amount.
func (s *sight) letter(body string) string {
	name, _, _ := strings.Cut(s.profile.Name, " ")
	if name == "" {
		name = "there"
	}
	return "Hello " + name + ", " + body
}
