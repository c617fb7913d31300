package audit

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
)

const (
	changed = "a stored field was changed: the row no longer matches its own hash"
)

// tampering is every way we know to falsify a record of nine rows, and what is said about it. Each leaves the case D-002
// broken at seq, and nothing else.
var tampering = []struct {
	name   string
	tamper func(t *testing.T, c *recorded)
	seq    int64
	why    string
}{
	{"the case of a row is another one that does not exist", func(t *testing.T, c *recorded) {
		c.rows[8].Case = "D-002x"
	}, 9, "the end was cut off: the record stops at step 8, the head of the case is at step 9"},
	{"the kind of a row is changed", func(t *testing.T, c *recorded) { c.rows[6].Kind = Note }, 7, changed},
	{"the actor of a row is changed", func(t *testing.T, c *recorded) { c.rows[7].Actor = "person:eve@example.com" }, 8, changed},
	{"the time of a row is moved by a microsecond", func(t *testing.T, c *recorded) { c.rows[2].At++ }, 3, changed},
	{"the commitment of a row is changed", func(t *testing.T, c *recorded) { c.rows[3].Commitment[31] ^= 1 }, 4, changed},
	{"the previous hash of a row is changed", func(t *testing.T, c *recorded) { c.rows[3].Prev[0] ^= 1 }, 4, changed},
	{"the hash of a row is changed", func(t *testing.T, c *recorded) { c.rows[3].Hash[0] ^= 1 }, 4, changed},
	{"the hash of the last row and of the head are changed alike", func(t *testing.T, c *recorded) {
		c.rows[8].Hash[0] ^= 1
		c.head.Hash = c.rows[8].Hash
	}, 9, changed},
	{"the version of a row is one nobody knows", func(t *testing.T, c *recorded) { c.rows[4].Version = 2 }, 5,
		"it is written in format version 2, which nothing here can read"},
	{"the number of a row is changed", func(t *testing.T, c *recorded) { c.rows[4].Seq = 12 }, 5,
		"a stored field was changed: the row in this place carries the number 12 and was sealed with another"},

	{"a payload is edited", func(t *testing.T, c *recorded) {
		c.payloads[3].Bytes = bytes.Replace(c.payloads[3].Bytes, []byte("failed"), []byte("settled"), 1)
	}, 4, "its payload was changed: what is stored is not what the row was sealed over"},
	{"a payload means the same and has one space more", func(t *testing.T, c *recorded) {
		c.payloads[4].Bytes = append(c.payloads[4].Bytes, ' ')
	}, 5, "its payload was changed: what is stored is not what the row was sealed over"},
	{"a salt is changed", func(t *testing.T, c *recorded) { c.payloads[4].Salt[0] ^= 1 }, 5,
		"its payload was changed: what is stored is not what the row was sealed over"},
	{"two payloads are exchanged", func(t *testing.T, c *recorded) {
		c.payloads[4], c.payloads[5] = c.payloads[5], c.payloads[4]
	}, 5, "its payload was changed: what is stored is not what the row was sealed over"},
	{"a payload and its commitment are replaced, and the hash is not", func(t *testing.T, c *recorded) {
		c.payloads[5].Bytes = []byte(`{"recommendation":"reject"}`)
		c.rows[5].Commitment = Commit(c.payloads[5].Salt, c.payloads[5].Bytes)
	}, 6, changed},
	{"a row is rewritten with a hash of its own", func(t *testing.T, c *recorded) {
		c.payloads[5].Bytes = []byte(`{"recommendation":"reject"}`)
		c.reseal(5)
	}, 7, "it does not continue from step 6 as that is stored now: one of the two was replaced"},
	{"the last row is rewritten with a hash of its own", func(t *testing.T, c *recorded) {
		c.payloads[8].Bytes = []byte(`{"status":"closed","outcome":"resolved","by":"nobody"}`)
		c.reseal(8)
	}, 9, "the head of the case names another row as this step: the last row or the head was replaced"},
	{"the whole chain is written anew from some row on", func(t *testing.T, c *recorded) {
		for i := 5; i < len(c.rows); i++ {
			c.rows[i].At++
			c.rows[i].Prev = c.rows[i-1].Hash
			c.reseal(i)
		}
	}, 9, "the head of the case names another row as this step: the last row or the head was replaced"},

	{"a row in the middle is removed", func(t *testing.T, c *recorded) { c.remove(4) }, 4,
		"the step is missing: step 3 is followed by step 5"},
	{"three rows in the middle are removed", func(t *testing.T, c *recorded) { c.remove(4); c.remove(4); c.remove(4) }, 4,
		"steps 4 to 6 are missing: step 3 is followed by step 7"},
	{"the first row is removed", func(t *testing.T, c *recorded) { c.remove(1) }, 1,
		"the step is missing: the record begins with step 2"},
	{"a row is removed and the others are counted anew", func(t *testing.T, c *recorded) {
		c.remove(4)
		for i := 3; i < len(c.rows); i++ {
			c.rows[i].Seq--
		}
	}, 4, "the steps are out of order: the row in this place was written as step 5"},
	{"a row is removed and the others are counted and sealed anew", func(t *testing.T, c *recorded) {
		c.remove(4)
		for i := 3; i < len(c.rows); i++ {
			c.rows[i].Seq--
			c.reseal(i)
		}
	}, 4, "it does not continue from step 3 as that is stored now: one of the two was replaced"},
	{"two rows exchange their numbers", func(t *testing.T, c *recorded) {
		c.rows[3].Seq, c.rows[4].Seq = 5, 4
		c.rows[3], c.rows[4] = c.rows[4], c.rows[3]
		c.payloads[3], c.payloads[4] = c.payloads[4], c.payloads[3]
	}, 4, "the steps are out of order: the row in this place was written as step 5"},
	{"two rows exchange their places", func(t *testing.T, c *recorded) {
		c.rows[3], c.rows[4] = c.rows[4], c.rows[3]
		c.payloads[3], c.payloads[4] = c.payloads[4], c.payloads[3]
	}, 4, "the steps are out of order: this one comes later than its number says"},
	{"a row is moved to the end", func(t *testing.T, c *recorded) {
		r, p := c.rows[1], c.payloads[1]
		c.remove(2)
		c.insert(len(c.rows), r, p)
	}, 2, "the steps are out of order: this one comes later than its number says"},
	{"a row carries the number 0", func(t *testing.T, c *recorded) {
		c.rows[0].Seq = 0
		c.rows[0].Prev[3] = 1
		c.reseal(0)
	}, 1, "the row in this place carries the number 0, and steps are counted from 1"},

	{"a row is there twice", func(t *testing.T, c *recorded) { c.insert(5, c.rows[4], c.payloads[4]) }, 5,
		"the history forks: more than one row claims to be this step"},
	{"two different rows are the same step", func(t *testing.T, c *recorded) {
		c.insert(5, c.rows[4], c.payloads[4])
		c.rows[5].At++
		c.reseal(5)
	}, 5, "the history forks: more than one row claims to be this step"},
	{"two rows continue from the same row", func(t *testing.T, c *recorded) {
		c.rows[5].Prev = c.rows[4].Prev
		c.reseal(5)
	}, 6, "the history forks: this row and the one before it continue from the same row"},
	{"the first row names a row before it", func(t *testing.T, c *recorded) {
		c.rows[0].Prev = c.rows[8].Hash
		c.reseal(0)
	}, 1, "the first step names a row before it, and there can be none"},

	{"the last three rows are removed", func(t *testing.T, c *recorded) { c.remove(9); c.remove(8); c.remove(7) }, 7,
		"the end was cut off: the record stops at step 6, the head of the case is at step 9"},
	{"every row is removed", func(t *testing.T, c *recorded) { c.rows, c.payloads = nil, nil }, 1,
		"the whole record is missing: the head of the case is at step 9"},
	{"a case was stored without any record", func(t *testing.T, c *recorded) {
		c.rows, c.payloads, c.head = nil, nil, Head{Case: c.head.Case}
	}, 1, "the case has no record at all, not even of its opening"},
	{"a row is added after the head", func(t *testing.T, c *recorded) {
		head := c.head
		c.more(t, entry(Note, analyst, `{"text":"all fine"}`))
		c.head = head
	}, 10, "it was added after the end of the record: the head of the case is at step 9"},
	{"the head is set back", func(t *testing.T, c *recorded) { c.head.Seq, c.head.Hash = 7, c.rows[6].Hash }, 8,
		"it was added after the end of the record: the head of the case is at step 7"},
	{"the head is set forward", func(t *testing.T, c *recorded) { c.head.Seq++ }, 10,
		"the end was cut off: the record stops at step 9, the head of the case is at step 10"},
	{"the hash in the head is changed", func(t *testing.T, c *recorded) { c.head.Hash[0] ^= 1 }, 9,
		"the head of the case names another row as this step: the last row or the head was replaced"},

	{"the case says another status than its record", func(t *testing.T, c *recorded) { c.says.Status = countersign.InReview }, 9,
		`the case says its status is "in_review", but the record last said "closed", in this step`},
	{"the case says another outcome than its record", func(t *testing.T, c *recorded) { c.says.Outcome = countersign.Rejected }, 9,
		`the case says its outcome is "rejected", but the record last said "resolved", in this step`},
	{"the case lost its outcome", func(t *testing.T, c *recorded) { c.says.Outcome = "" }, 9,
		`the case says its outcome is "", but the record last said "resolved", in this step`},
	{"the end is cut off, the head is set back, and the case is not", func(t *testing.T, c *recorded) {
		c.remove(9)
		c.head.Seq, c.head.Hash = 8, c.rows[7].Hash
	}, 7, `the case says its status is "closed", but the record last said "in_review", in this step`},
	{"the case says something that no row ever said", func(t *testing.T, c *recorded) {
		*c = *record(t, string(c.head.Case), entry(Opened, analyst, `{"round":1}`))
	}, 1, `the case says its status is "closed", and no step of the record ever said so`},

	{"a payload is gone and nothing says so", func(t *testing.T, c *recorded) { c.payloads[2] = nil }, 3,
		"its payload is gone, and no later step says that it was erased"},
	{"another payload is gone than the one that was erased", func(t *testing.T, c *recorded) {
		c.payloads[2], c.payloads[3] = nil, nil
		c.more(t, entry(Erased, worker, `{"erased":[4]}`))
	}, 3, "its payload is gone, and no later step says that it was erased"},
	{"a payload was erased and came back", func(t *testing.T, c *recorded) {
		c.payloads[2] = nil
		c.more(t, entry(Erased, worker, `{"erased":[3,4]}`))
	}, 4, "step 10 says that this step's payload was erased, but it is still there"},
	{"the payload that says what was erased is gone itself", func(t *testing.T, c *recorded) {
		c.payloads[2] = nil
		c.more(t, entry(Erased, worker, `{"erased":[3]}`))
		c.payloads[9] = nil
	}, 10, "its payload, which said whose payloads were erased, is gone: that one is never erased"},
	{"what says that payloads were erased does not say which", func(t *testing.T, c *recorded) {
		c.more(t, entry(Erased, worker, `{"erased":[3]}`))
		c.payloads[9].Bytes = []byte(`{"erased":"all"}`)
		c.reseal(9)
		c.head.Hash = c.rows[9].Hash
	}, 10, `it says that payloads were erased, but not which: the payload "{\"erased\":\"all\"}" does not list erased steps, expected {"erased":[3,4]}`},

	{"the record begins with something else than the opening", func(t *testing.T, c *recorded) {
		c.rows[0].Kind = Note
		c.reseal(0)
	}, 1, `the record begins with kind "note", and every record begins with "opened"`},
	{"a row was sealed without an actor", func(t *testing.T, c *recorded) {
		c.rows[4].Actor = ""
		c.reseal(4)
	}, 5, `it says that "" did it, which names nobody`},
}

// TestTampering puts the falsified case between two that are not, so that a break that leaks into a neighbour is seen too.
func TestTampering(t *testing.T) {
	for _, x := range tampering {
		t.Run(x.name, func(t *testing.T) {
			c := record(t, "D-002", story()...)
			x.tamper(t, c)
			got := verify(record(t, "D-001", story()...), c, record(t, "D-003", story()...))
			want := []Break{{"D-002", x.seq, x.why}}
			if diff := cmp.Diff(want, slices.DeleteFunc(got.Breaks, func(b Break) bool { return b.Case == "D-002x" })); diff != "" {
				t.Errorf("breaks (-want +got):\n%s", diff)
			}
			if got.OK || got.Cases != 3 {
				t.Errorf("ok %v, %d cases; want a broken one of 3", got.OK, got.Cases)
			}
		})
	}
}

func TestTamperingIsFoundInAnExportToo(t *testing.T) {
	for _, x := range tampering {
		t.Run(x.name, func(t *testing.T) {
			c := record(t, "D-002", story()...)
			x.tamper(t, c)
			got, err := VerifyExport(bytes.NewReader([]byte(exported(t, Header{}, record(t, "D-001", story()...), c))))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Breaks) == 0 || got.Breaks[0] != (Break{"D-002", x.seq, x.why}) {
				t.Errorf("breaks %v, want step %d: %s", got.Breaks, x.seq, x.why)
			}
		})
	}
}

func TestRowsWithoutACaseAreABreak(t *testing.T) {
	v := NewVerifier()
	record(t, "D-001", story()...).walk(v)
	record(t, "D-002", story()...).walkRows(v)
	got := v.Report()
	want := Report{Cases: 1, Rows: 18, Breaks: []Break{{"D-002", 1, "there are record rows for this case, but no such case"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHonestRecordsAreIntact(t *testing.T) {
	for _, x := range []struct {
		name string
		grow func(c *recorded)
		want Report
	}{
		{"nothing special", func(c *recorded) {}, Report{Rows: 9}},
		{"a payload was erased and a later row says so", func(c *recorded) {
			c.payloads[2] = nil
			c.more(t, entry(Erased, worker, `{"erased":[3]}`))
		}, Report{Rows: 10, Erased: 1}},
		{"payloads were erased at different times, one of them twice", func(c *recorded) {
			c.payloads[0], c.payloads[2], c.payloads[3] = nil, nil, nil
			c.more(t, entry(Erased, worker, `{"erased":[3]}`), entry(Erased, worker, `{"erased":[1,4,3]}`))
		}, Report{Rows: 11, Erased: 3}},
		{"the case was brought back and its outcome taken back", func(c *recorded) {
			c.more(t, entry(Decision, analyst, `{"status":"in_review","outcome":null}`))
			c.says = Projection{Status: countersign.InReview}
		}, Report{Rows: 10}},
		{"a tool answers with a status, a decision names an outcome that waits for a second person", func(c *recorded) {
			c.more(t, entry(ToolCall, worker, `{"result":{"status":"in_review"},"status_of":"x"}`),
				entry(Decision, analyst, `{"wanted":{"status":"in_review"},"outcome":"rejected"}`))
		}, Report{Rows: 11}},
		{"a kind from a later version", func(c *recorded) {
			c.rows[7].Kind = "handed_over"
			for i := 7; i < 9; i++ {
				c.rows[i].Prev = c.rows[i-1].Hash
				c.reseal(i)
			}
			c.head.Hash = c.rows[8].Hash
		}, Report{Rows: 9}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := record(t, "D-001", story()...)
			x.grow(c)
			x.want.OK, x.want.Cases, x.want.Breaks = true, 1, []Break{}
			if diff := cmp.Diff(x.want, verify(c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAnErasedPayloadMayHaveSaidIsUncheckedNotBroken(t *testing.T) {
	c := record(t, "D-001", story()...)
	c.payloads[8] = nil
	c.more(t, entry(Erased, worker, `{"erased":[9]}`))
	c.says = Projection{Status: countersign.Closed, Outcome: countersign.Rejected}
	got := verify(c)
	want := Report{OK: true, Cases: 1, Rows: 10, Erased: 1, Breaks: []Break{}, Unchecked: []Break{
		{"D-001", 9, `the case says its status is "closed"; the payload of this step may have said so, and it is erased`},
		{"D-001", 9, `the case says its outcome is "rejected"; the payload of this step may have said so, and it is erased`},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNothingToVerifyIsIntact(t *testing.T) {
	if diff := cmp.Diff(Report{OK: true, Breaks: []Break{}}, NewVerifier().Report()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAVerifierReportsTheSameTwiceAndGoesOn(t *testing.T) {
	v := NewVerifier()
	record(t, "D-001", story()...).walk(v)
	first, second := v.Report(), v.Report()
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("asked twice (-first +second):\n%s", diff)
	}
	record(t, "D-002", story()...).walk(v)
	if got := v.Report(); !got.OK || got.Cases != 2 || got.Rows != 18 {
		t.Errorf("after a second case: %v", got)
	}
}

// TestShardsFindWhatOneVerifierFinds gives the cases to four goroutines and compares with one.
func TestShardsFindWhatOneVerifierFinds(t *testing.T) {
	var cases []*recorded
	for i := range 40 {
		c := record(t, caseName(i), story()...)
		if i%7 == 3 {
			c.remove(2 + i%5)
		}
		cases = append(cases, c)
	}
	reports := make([]Report, 4)
	var group sync.WaitGroup
	for i := range reports {
		group.Go(func() {
			v := NewVerifier()
			for j := i; j < len(cases); j += len(reports) {
				cases[j].walk(v)
			}
			reports[i] = v.Report()
		})
	}
	group.Wait()
	if diff := cmp.Diff(verify(cases...), Merge(reports...)); diff != "" {
		t.Errorf("(-one +sharded):\n%s", diff)
	}
	if len(Merge(reports...).Breaks) != 6 {
		t.Errorf("%d breaks, want 6", len(Merge(reports...).Breaks))
	}
}

func TestAMatchingRowCostsNoAllocation(t *testing.T) {
	c := record(t, "D-001", story()...)
	v := NewVerifier()
	c.walk(v)
	if n := testing.AllocsPerRun(100, func() { c.walk(v) }); n > 0 {
		t.Errorf("%v allocations for nine rows, want none", n)
	}
}
