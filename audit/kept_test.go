package audit

import (
	"slices"
	"strings"
	"testing"
)

// beside is a story in which a file (step 10), a report (step 11) and their pack (step 12) were sealed, and what is kept of them.
func beside(t *testing.T) *recorded {
	c := record(t, "D-001", append(story(),
		entry(Note, analyst, `{"round":1,"file":"added","id":"file_1","sha256":"f1"}`),
		entry(Note, analyst, `{"round":1,"report":"evidence report a1"}`),
		entry(Note, analyst, `{"round":1,"pack":"b1","pages":3}`),
		entry(Note, analyst, `{"round":2,"report":"not made: the order's currency is not known"}`),
		entry(Note, analyst, `{"round":2,"file":5,"report":[]}`))...)
	c.says.Kept = map[Thing][]Kept{
		ReportThing: {{ReportThing, "1", "a1", "a1"}},
		FileThing:   {{FileThing, "file_1", "f1", "f1"}},
		PackThing:   {{PackThing, "1", "b1", "b1"}},
	}
	return c
}

func TestWhatIsKeptBesideARecord(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*recorded)
		seq    int64
		why    string // empty when it is intact
	}{
		{"what was sealed", func(*recorded) {}, 0, ""},
		{"a kind that nobody looked at", func(c *recorded) { delete(c.says.Kept, FileThing) }, 0, ""},
		{"nothing, where nobody looked, as in an export", func(c *recorded) { c.says.Kept = nil }, 0, ""},
		{"another content", func(c *recorded) { c.says.Kept[ReportThing][0].Hash = "a2" }, 11, "the stored content of the evidence report of round 1 gives the fingerprint a2, but the record sealed a1, in this step"},
		{"another fingerprint", func(c *recorded) { c.says.Kept[ReportThing][0].Says = "a2" }, 11, `the fingerprint stored beside the evidence report of round 1 is "a2", but the record sealed a1`},
		{"another content with its fingerprint", func(c *recorded) { c.says.Kept[ReportThing][0].Hash, c.says.Kept[ReportThing][0].Says = "a2", "a2" }, 11, "gives the fingerprint a2"},
		{"another file", func(c *recorded) { c.says.Kept[FileThing][0].Hash = "f2" }, 10, "the stored content of the file file_1 gives"},
		{"another pack", func(c *recorded) { c.says.Kept[PackThing][0].Hash = "b2" }, 12, "the stored content of the pack of round 1 gives"},
		{"no report", func(c *recorded) { c.says.Kept[ReportThing] = nil }, 11, "the evidence report of round 1, which this step sealed, is not stored any more"},
		{"a report too many", func(c *recorded) {
			c.says.Kept[ReportThing] = append(c.says.Kept[ReportThing], Kept{ReportThing, "2", "a2", "a2"})
		}, 14, "the evidence report of round 2 is stored, and no step of the record ever sealed it"},
		{"a pack too many", func(c *recorded) {
			c.says.Kept[PackThing] = append(c.says.Kept[PackThing], Kept{PackThing, "2", "b2", "b2"})
		}, 14, "the pack of round 2 is stored, and no step of the record ever sealed it"},
		{"a report that a later step seals again", func(c *recorded) {
			c.says.Kept[ReportThing][0] = Kept{ReportThing, "1", "a2", "a2"}
			c.more(t, entry(Note, analyst, `{"round":1,"report":"evidence report a2"}`))
		}, 11, "but the record sealed a1"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := beside(t)
			x.change(c)
			switch got := verify(c, record(t, "D-002", story()...)); {
			case x.why == "" && !got.OK:
				t.Errorf("got %v", got)
			case x.why != "" && (len(got.Breaks) != 1 || got.Breaks[0].Seq != x.seq || !strings.Contains(got.Breaks[0].Why, x.why)):
				t.Errorf("got %v, want step %d: …%s…", got, x.seq, x.why)
			}
		})
	}
}

func TestAReportWhoseSealingWasErasedIsUncheckedNotBroken(t *testing.T) {
	c := beside(t)
	c.payloads[10] = nil
	c.more(t, entry(Erased, worker, `{"erased":[11]}`))
	got := verify(c)
	said := slices.ContainsFunc(got.Unchecked, func(b Break) bool {
		return b.Seq == 11 && strings.Contains(b.Why, "the evidence report of round 1 cannot be checked against the record")
	})
	if !got.OK || !said {
		t.Errorf("got %v", got)
	}
}

// A pack that was kept when no pack was sealed yet is no break, and nobody can say of it that it is intact.
func TestAPackFromBeforePacksWereSealedCannotBeChecked(t *testing.T) {
	c := record(t, "D-001", story()...)
	c.says.Kept = map[Thing][]Kept{PackThing: {{PackThing, "1", "b1", "b1"}}}
	got := verify(c, record(t, "D-002", story()...))
	if !got.OK || len(got.Unchecked) != 1 || !strings.Contains(got.Unchecked[0].Why, "an earlier version kept packs before they were sealed") {
		t.Errorf("got %v", got)
	}
}
