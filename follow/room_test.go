package follow

import (
	"testing"

	"countersign"
)

func TestARoomHasPlacesForAllAndNotAllForOne(t *testing.T) {
	r := &Room{Most: 3, Each: 2}
	take := func(who string, want bool) func() {
		t.Helper()
		leave, err := r.Take(who)
		if (err == nil) != want || !want && countersign.KindOf(err) != countersign.Unavailable {
			t.Fatalf("%s: %v, want a place: %v", who, err, want)
		}
		return leave
	}
	first := take("ada", true)
	take("ada", true)
	take("ada", false)
	last := take("obi", true)
	take("eve", false)
	first()
	first() // who has left cannot leave again
	take("eve", true)
	take("obi", false)
	last()
	if take("ada", true); len(r.by) != 2 || r.all != 3 {
		t.Errorf("%d places are taken, by %v", r.all, r.by)
	}
}
