package report

import "testing"

// fifty is a report of 50 pages.
func fifty(b *testing.B) Report {
	r := sealed(b, long(1180))
	if n := len(layOut(r.compose())); n < 48 || n > 52 {
		b.Fatalf("the report has %d pages", n)
	}
	return r
}

func BenchmarkFiftyPages(b *testing.B) {
	r := fifty(b)
	for _, f := range formats {
		b.Run(string(f), func(b *testing.B) {
			for b.Loop() {
				file, err := r.Render(f)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(file)))
			}
		})
	}
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			if _, err := Seal(r.Content()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify a pdf", func(b *testing.B) {
		file, err := r.PDF()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if v, err := Verify(file); err != nil || v.State != Intact {
				b.Fatal(v, err)
			}
		}
	})
}
