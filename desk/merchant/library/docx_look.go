package library

import "encoding/xml"

// look is what a style, or a run of its own accord, says of whether its text is read: each of the marks is on, off or not said.
type look struct{ vanish, strike, dstrike *bool }

// set takes in a mark. One without a value is on.
func (l *look) set(mark, value string) {
	on := value != "0" && value != "false" && value != "off"
	switch mark {
	case "strike":
		l.strike = &on
	case "dstrike":
		l.dstrike = &on
	default:
		l.vanish = &on
	}
}

// with is a look over which another was put: what that one says counts.
func (l look) with(over look) look {
	for _, mark := range []struct{ under, over **bool }{{&l.vanish, &over.vanish}, {&l.strike, &over.strike}, {&l.dstrike, &over.dstrike}} {
		if *mark.over != nil {
			*mark.under = *mark.over
		}
	}
	return l
}

// unread says why text of this look is left out; empty when it is not.
func (l look) unread() string {
	on := func(mark *bool) bool { return mark != nil && *mark }
	switch {
	case on(l.vanish):
		return concealed
	case on(l.strike) || on(l.dstrike):
		return struckOut
	}
	return ""
}

// onOff is an element that is a mark.
type onOff struct {
	Val string `xml:"val,attr"`
}

// docxStyle is a style of a Word file, as far as it says whether text is read.
type docxStyle struct {
	ID      string `xml:"styleId,attr"`
	Kind    string `xml:"type,attr"`
	Default string `xml:"default,attr"`
	BasedOn onOff  `xml:"basedOn"`
	Run     struct {
		Vanish  *onOff `xml:"vanish"`
		Strike  *onOff `xml:"strike"`
		Dstrike *onOff `xml:"dstrike"`
	} `xml:"rPr"`
}

func (s docxStyle) look() (l look) {
	for name, mark := range map[string]*onOff{"vanish": s.Run.Vanish, "strike": s.Run.Strike, "dstrike": s.Run.Dstrike} {
		if mark != nil {
			l.set(name, mark.Val)
		}
	}
	return l
}

// looksOf reads the looks of all styles, with what they are based on. That of a paragraph without a style stands under no name.
func looksOf(styles []byte) map[string]look {
	var sheet struct {
		Styles []docxStyle `xml:"style"`
	}
	if xml.Unmarshal(styles, &sheet) != nil {
		return nil
	}
	named, looks := map[string]docxStyle{}, map[string]look{}
	for _, s := range sheet.Styles {
		named[s.ID] = s
	}
	for _, s := range sheet.Styles {
		looks[s.ID] = based(s, named)
		if s.Kind == "paragraph" && s.Default != "" && s.Default != "0" && s.Default != "false" {
			looks[""] = looks[s.ID]
		}
	}
	return looks
}

// based is the look of a style over that of the styles below it, of which a file that goes round in a circle has no end.
func based(s docxStyle, named map[string]docxStyle) look {
	l := s.look()
	for range deepestStyle {
		under, ok := named[s.BasedOn.Val]
		if !ok {
			break
		}
		l, s = under.look().with(l), under
	}
	return l
}

const deepestStyle = 20
