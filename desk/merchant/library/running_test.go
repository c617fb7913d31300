package library

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeadersAndFooters(t *testing.T) {
	for _, row := range []struct {
		sentence    string
		pages, want []string
		notes       int
	}{
		{"are taken off when most pages have them", []string{"Shop\nA.\n1", "Shop\nB.\n2", "Shop\nC.\n3", "D.\nE."}, []string{"A.", "B.", "C.", "D.\nE."}, 2},
		{"of several lines too", []string{"Shop\nTerms 1/3\nA.\nB.", "Shop\nTerms 2/3\nC.\nD.", "Shop\nTerms 3/3\nE.\nF."}, []string{"A.\nB.", "C.\nD.", "E.\nF."}, 2},
		{"stay on two pages, where nobody can tell", []string{"Shop\nA.", "Shop\nB."}, []string{"Shop\nA.", "Shop\nB."}, 0},
		{"stay when only some pages have them", []string{"Shop\nA.", "Shop\nB.", "Shop\nC.", "D.\nd", "E.\ne", "F.\nf"}, []string{"Shop\nA.", "Shop\nB.", "Shop\nC.", "D.\nd", "E.\ne", "F.\nf"}, 0},
		{"stay where nothing else is on the page", []string{"Shop\nA.", "Shop\nB.", "Shop\nC.", "Shop"}, []string{"A.", "B.", "C.", "Shop"}, 1},
		{"are not found on pages without a text", []string{"Shop\nA.", "", "Shop\nB.", "", "Shop\nC."}, []string{"A.", "", "B.", "", "C."}, 1},
		{"are none where every page begins with words of its own", []string{"A.\nx", "B.\ny", "C.\nz"}, []string{"A.\nx", "B.\ny", "C.\nz"}, 0},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			got, notes := withoutRunning(row.pages)
			if diff := cmp.Diff(row.want, got); diff != "" || len(notes) != row.notes {
				t.Errorf("%q (-want +got):\n%s", notes, diff)
			}
		})
	}
}
