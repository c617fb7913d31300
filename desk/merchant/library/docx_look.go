package library

import (
	"encoding/xml"
	"maps"
	"slices"
)

// look is what a style, or a run of its own accord, says of whether its text is read: each mark is on, off, or not said. No mark says
// anything of another: text that is hidden stays so where it is said that the web would show it.
type look map[string]bool

var hiding, striking = []string{"vanish", "specVanish", "webHidden"}, []string{"strike", "dstrike"}

// set takes in a mark. One without a value is on.
func (l *look) set(mark, value string) {
	*l = l.with(look{mark: value != "0" && value != "false" && value != "off"})
}

// with is a look over which another was put: what that one says counts.
func (l look) with(over look) look {
	all := maps.Clone(l)
	if all == nil {
		all = look{}
	}
	maps.Copy(all, over)
	return all
}

// unread says why text of this look is left out; empty when it is not.
func (l look) unread() string {
	on := func(mark string) bool { return l[mark] }
	switch {
	case slices.ContainsFunc(hiding, on):
		return concealed
	case slices.ContainsFunc(striking, on):
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
		Vanish     *onOff `xml:"vanish"`
		SpecVanish *onOff `xml:"specVanish"`
		WebHidden  *onOff `xml:"webHidden"`
		Strike     *onOff `xml:"strike"`
		Dstrike    *onOff `xml:"dstrike"`
	} `xml:"rPr"`
}

func (s docxStyle) look() (l look) {
	for name, mark := range map[string]*onOff{"vanish": s.Run.Vanish, "specVanish": s.Run.SpecVanish, "webHidden": s.Run.WebHidden, "strike": s.Run.Strike, "dstrike": s.Run.Dstrike} {
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
