package report

import (
	"fmt"
	"slices"
	"strings"
)

// Profile is what a provider or a network takes as evidence. Zero means that no limit is known, which is not that there is none.
type Profile struct {
	Name     string           // "Stripe", or "Stripe for Mastercard"
	MaxTotal int64            // bytes of all files together
	MaxFile  map[string]int64 // bytes of one file, by type; what is not in it is not taken. Nil takes all that we make
	MaxFiles int
	MaxPages int // of all files together
	// PageFee is what a page beyond FreePages costs, in words: no reason against a pack, but a person should know before.
	FreePages int
	PageFee   string
	MaxName   int // characters of a file's name; above zero only letters and digits are taken
	// Unnamed is set while nobody has named the provider that passes the files on: it sets limits of its own.
	Unnamed bool
}

// Pack is what would be sent: the report, and the files that go with it.
type Pack struct{ Files []PackFile }

// PackFile is one file of a pack, as it was measured.
type PackFile struct {
	Name  string
	Type  string // application/pdf, image/png, image/jpeg
	Size  int64
	Pages int
}

// Problem is one thing that a receiver would not take, or would charge for.
type Problem struct {
	Text    string
	Try     string
	Refused bool // they would not take it; otherwise it only costs
}

const (
	pdfType, pngType, jpegType, gifType, tiffType = "application/pdf", "image/png", "image/jpeg", "image/gif", "image/tiff"

	// megabyte is the smaller reading of a limit that somebody wrote as MB.
	megabyte = 1_000_000
)

func all(size int64, types ...string) map[string]int64 {
	limits := map[string]int64{}
	for _, t := range types {
		limits[t] = size
	}
	return limits
}

// providers and networks hold the limits that could be read in public, with where. They change without notice, so a pack that
// passes may still be refused, and what is not listed has no limit that we know.
var (
	providers = map[string]Profile{
		// docs.stripe.com/disputes: combined size 4.5 MB, fewer than 50 pages; PDF, JPEG or PNG. One file per slot.
		"stripe": {Name: "Stripe", MaxTotal: 4_500_000, MaxPages: 49, MaxFile: all(4_500_000, pdfType, jpegType, pngType)},
		// docs.adyen.com, Disputes API: JPG and TIFF 10 MB, PDF 2 MB.
		"adyen": {Name: "Adyen", MaxFile: map[string]int64{pdfType: 2 * megabyte, jpegType: 10 * megabyte, tiffType: 10 * megabyte}},
		// developer.paypal.com, supported file types and sizes: less than 10 MB a file, 50 MB a call.
		"paypal": {Name: "PayPal", MaxTotal: 50 * megabyte, MaxFile: all(10*megabyte-1, pdfType, jpegType, pngType, gifType)},
	}
	networks = map[string]Profile{
		// Visa publishes no limit outside its member-only system.
		"visa": {Name: "Visa"},
		// developer.mastercard.com, Mastercom: JPEG, TIFF, PDF; 18,000,000 bytes a transaction, 14.5 MB advised; names of at most 16
		// letters and digits. checkout.com, Mastercard documentation requirements: EUR 1 for each page beyond 19.
		"mastercard": {Name: "Mastercard", MaxTotal: 14_500_000, MaxFile: all(14_500_000, pdfType, jpegType, tiffType), FreePages: 19, PageFee: "EUR 1", MaxName: 16},
		// checkout.com, dispute evidence file requirements: 5 files, 5 MB each, 25 MB together, 20 pages.
		"amex": {Name: "American Express", MaxTotal: 25 * megabyte, MaxFiles: 5, MaxPages: 20, MaxFile: all(5*megabyte, pdfType, jpegType, pngType)},
		// the same page: 3 MB together.
		"discover": {Name: "Discover", MaxTotal: 3 * megabyte},
		"diners":   {Name: "Diners Club", MaxTotal: 3 * megabyte},
	}
	// together holds what a provider asks for one network beyond both.
	together = map[string]Profile{
		"stripe mastercard": {MaxPages: 19},        // docs.stripe.com/disputes
		"adyen mastercard":  {MaxPages: 19},        // docs.adyen.com; for a request for information it is 4
		"adyen discover":    {MaxTotal: 3_000_000}, // docs.adyen.com
		"adyen diners":      {MaxTotal: 3_000_000},
	}
	// cautious is for a provider that nobody has named: the smallest of what we know that they ask for (Finix, 2 MB and 17 pages).
	cautious = Profile{Name: "the strictest provider known here", MaxTotal: 2 * megabyte, MaxPages: 17, MaxFile: all(2*megabyte, pdfType, jpegType)}
)

// ProfileFor is the limits of a dispute: those of the provider that passes the files on, of the network that it passes them to,
// and of both together, each as strict as the strictest. Names are as a case has them. A provider that nobody has named, or that is not
// known here, is Unnamed: what the strictest one known would not take is to be known then, and is no refusal.
func ProfileFor(provider, network string) Profile {
	provider, network = strings.ToLower(provider), strings.ToLower(network)
	p, known := providers[provider]
	n, direct := networks[network]
	switch {
	case !known && direct:
		n.Unnamed = true
		return n
	case !known:
		return Profile{Name: "A provider that is not known here", Unnamed: true}
	case !direct:
		return p
	}
	both := p.and(n).and(together[provider+" "+network])
	both.Name = p.Name + " for " + n.Name
	return both
}

func (p Profile) and(q Profile) Profile {
	both := Profile{
		Name: p.Name, MaxTotal: stricter(p.MaxTotal, q.MaxTotal), MaxFiles: stricter(p.MaxFiles, q.MaxFiles), MaxPages: stricter(p.MaxPages, q.MaxPages),
		FreePages: stricter(p.FreePages, q.FreePages), PageFee: p.PageFee + q.PageFee, MaxName: stricter(p.MaxName, q.MaxName),
	}
	if p.MaxFile == nil && q.MaxFile == nil {
		return both
	}
	both.MaxFile = map[string]int64{}
	for _, t := range []string{pdfType, pngType, jpegType, gifType, tiffType} {
		a, inP := p.limit(t)
		b, inQ := q.limit(t)
		if inP && inQ {
			both.MaxFile[t] = stricter(a, b)
		}
	}
	return both
}

// limit is the limit of one type, zero for none; false when the type is not taken.
func (p Profile) limit(fileType string) (int64, bool) {
	if p.MaxFile == nil {
		return 0, true
	}
	limit, taken := p.MaxFile[fileType]
	return limit, taken
}

func stricter[N int | int64](a, b N) N {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Limits are what is known of how much one PDF may be, in words; empty when nothing is.
func (p Profile) Limits() (all []string) {
	largest, _ := p.limit(pdfType)
	if most := stricter(p.MaxTotal, largest); most > 0 {
		all = append(all, "at most "+Size(most))
	}
	if p.MaxPages > 0 {
		all = append(all, fmt.Sprintf("at most %d pages", p.MaxPages))
	}
	if p.FreePages > 0 {
		all = append(all, fmt.Sprintf("%s for each page beyond %d", p.PageFee, p.FreePages))
	}
	return all
}

// Check says what the receiver would not take, before anybody approves, and what should be known before.
func (p Profile) Check(pack Pack) []Problem {
	problems := p.against(pack)
	refused := slices.ContainsFunc(problems, func(p Problem) bool { return p.Refused })
	if p.Unnamed && !refused { // what the network itself would not take is enough to know
		problems = append(problems, unsure(pack)...)
	}
	return problems
}

// unsure is what somebody should know of a pack while the provider that passes it on is not named. That a pack is too much for one says
// nothing of the one that it will be.
func unsure(pack Pack) []Problem {
	problems := cautious.against(pack)
	for i := range problems {
		problems[i].Refused = false
		problems[i].Try = "nobody has named the provider that passes it on: look up what yours takes"
	}
	return problems
}

// Free says what the absence of problems comes to. Of a pack that goes to a provider nobody has named, nothing more is known than that the
// strictest one would take it.
func (p Profile) Free() string {
	if p.Unnamed {
		return fmt.Sprintf("It is within the smallest limits that are known of any provider: %s. Nobody has named the one that passes it on.", strings.Join(cautious.Limits(), ", "))
	}
	return "Nothing is known against it."
}

func (p Profile) against(pack Pack) (problems []Problem) {
	refused := func(try, format string, args ...any) {
		problems = append(problems, Problem{Text: fmt.Sprintf(format, args...), Try: try, Refused: true})
	}
	var size int64
	var pages int
	for _, f := range pack.Files {
		size, pages = size+f.Size, pages+f.Pages
		if limit, taken := p.limit(f.Type); !taken {
			refused("convert it to "+p.takes(), "%s does not take %s: it is %s", p.Name, f.Name, typeName(f.Type))
		} else if limit > 0 && f.Size > limit {
			refused("make it smaller, or leave out what the first page does not need", "%s has %s; %s takes %s of this type", f.Name, Size(f.Size), p.Name, Size(limit))
		}
		if p.MaxName > 0 && !plainName(f.Name, p.MaxName) {
			problems = append(problems, Problem{Text: fmt.Sprintf("%s wants file names of at most %d letters and digits, not %s", p.Name, p.MaxName, f.Name), Try: "rename it before it is sent"})
		}
	}
	if p.MaxTotal > 0 && size > p.MaxTotal {
		refused("leave out attachments, or rows that the facts do not cite", "the files have %s together; %s takes %s", Size(size), p.Name, Size(p.MaxTotal))
	}
	if p.MaxFiles > 0 && len(pack.Files) > p.MaxFiles {
		refused("send one merged PDF", "there are %d files; %s takes %d", len(pack.Files), p.Name, p.MaxFiles)
	}
	if p.MaxPages > 0 && pages > p.MaxPages {
		refused("leave out what the first page does not need: short beats long", "there are %d pages; %s takes %d", pages, p.Name, p.MaxPages)
	}
	if p.FreePages > 0 && pages > p.FreePages {
		problems = append(problems, Problem{Text: fmt.Sprintf("%s charges %s for each page beyond %d, and there are %d", p.Name, p.PageFee, p.FreePages, pages), Try: "leave out pages that cost more than they prove"})
	}
	return problems
}

func (p Profile) takes() string {
	var names []string
	for t := range p.MaxFile {
		names = append(names, typeName(t))
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}

func typeName(fileType string) string {
	_, name, _ := strings.Cut(fileType, "/")
	return strings.ToUpper(name)
}

func plainName(name string, most int) bool {
	stem, _, _ := strings.Cut(name, ".")
	return len(name) <= most && strings.IndexFunc(stem, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') }) < 0
}

// Size is a number of bytes in words.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < megabyte:
		return fmt.Sprintf("%.0f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.2f MB", float64(n)/megabyte)
}
