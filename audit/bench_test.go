package audit

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"
)

func sha(b []byte) Hash { return sha256.Sum256(b) }

// load is the benchmarks' input: 64 cases like story, with payloads padded to about size bytes.
func load(b *testing.B, size int) (cases []*recorded, bytes int64) {
	for i := range 64 {
		entries := story()
		for j := range entries {
			p := string(entries[j].Payload)
			pad := max(0, size-len(p)-len(`,"x":""`))
			p = p[:len(p)-1] + `,"x":"` + strings.Repeat(`a \"quoted\" word. `, pad/19) + `"}`
			entries[j] = entry(entries[j].Kind, entries[j].Actor, p)
		}
		c := record(b, caseName(i), entries...)
		for j := range c.rows {
			bytes += int64(len(stored(c, j)))
		}
		cases = append(cases, c)
	}
	return cases, bytes
}

// stored is a row with its payload as plain bytes: every field the verifier answers for, without any framing.
func stored(c *recorded, i int) []byte {
	r, p := c.rows[i], c.payloads[i]
	b := append([]byte(r.Case), r.Kind...)
	b = append(b, r.Actor...)
	b = append(b, make([]byte, 8+8)...) // seq, at
	b = append(b, r.Commitment[:]...)
	b = append(b, r.Prev[:]...)
	b = append(b, p.Salt...)
	return append(b, p.Bytes...)
}

func raw(cases []*recorded) (rows [][]byte) {
	for _, c := range cases {
		for i := range c.rows {
			rows = append(rows, stored(c, i))
		}
	}
	return rows
}

var sizes = []int{300, 1 << 10, 8 << 10}

func report(b *testing.B, rows int) {
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkVerify and BenchmarkSHA256 are to be read together: MB/s of the same stored bytes. The goal is a verifier that
// costs at most twice what hashing those bytes once costs.
func BenchmarkVerify(b *testing.B) {
	for _, size := range sizes {
		cases, bytes := load(b, size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				if r := verify(cases...); !r.OK {
					b.Fatal(r)
				}
			}
			report(b, 9*len(cases))
		})
	}
}

func BenchmarkSHA256(b *testing.B) {
	for _, size := range sizes {
		cases, bytes := load(b, size)
		rows := raw(cases)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				for _, row := range rows {
					sha(row)
				}
			}
			report(b, len(rows))
		})
	}
}

// BenchmarkVerifyOverSHA256 takes turns between the two, so that a busy machine slows both, and reports how many times the
// cost of hashing the verifier costs: the figure to hold against the goal of 2.
func BenchmarkVerifyOverSHA256(b *testing.B) {
	for _, size := range sizes {
		cases, _ := load(b, size)
		rows := raw(cases)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var verifying, hashing time.Duration
			for b.Loop() {
				start := time.Now()
				verify(cases...)
				half := time.Now()
				for _, row := range rows {
					sha(row)
				}
				verifying, hashing = verifying+half.Sub(start), hashing+time.Since(half)
			}
			b.ReportMetric(float64(verifying)/float64(hashing), "x-sha256")
		})
	}
}

// BenchmarkVerifyEveryCore gives each goroutine a verifier of its own, as the store does.
func BenchmarkVerifyEveryCore(b *testing.B) {
	cases, bytes := load(b, 1<<10)
	b.SetBytes(bytes)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if r := verify(cases...); !r.OK {
				b.Error(r)
			}
		}
	})
	report(b, 9*len(cases))
}
