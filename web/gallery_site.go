package web

import (
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"sync"

	"countersign/follow"
)

//go:embed gallery.html
var galleryIndex string

var indexPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("gallery").ParseFS(templates, shared...)).Parse(galleryIndex))
})

// GallerySite serves samples: a list of them, each at its own address, and the first of each kind where the program shows such a
// page, so that links lead on. Styles, script and headers are the program's. Nothing can be done in it.
func GallerySite(samples []Sample) http.Handler {
	s := gallerySite(samples)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /static/{stamp}/{name}", everyAsset().serve)
	mux.HandleFunc("GET /cases/{id}/live", quiet)
	mux.HandleFunc("GET /queue/news", func(http.ResponseWriter, *http.Request) {}) // there are none
	mux.HandleFunc("GET /", s.sample)
	mux.HandleFunc("/", s.done)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		mux.ServeHTTP(w, r)
	})
}

type gallerySite []Sample

// shelf is the samples of one page in the list.
type shelf struct {
	ID, Page string
	Samples  []Sample
}

func (s gallerySite) index(w http.ResponseWriter, _ *http.Request) {
	var shelves []shelf
	for _, one := range s {
		if n := len(shelves); n == 0 || shelves[n-1].Page != one.Page {
			shelves = append(shelves, shelf{ID: slug(one.Page), Page: one.Page})
		}
		last := &shelves[len(shelves)-1]
		last.Samples = append(last.Samples, one)
	}
	page := screen{Title: "Gallery", Page: shelves}
	new(gallery).visit(nobodyYet).frame(&page)
	send(w, http.StatusOK, func() error { return indexPage().ExecuteTemplate(w, "layout", page) })
}

// sample shows the sample of this address, or the first one of the kind that the program shows there.
func (s gallerySite) sample(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(s, func(one Sample) bool { return one.Path() == r.URL.Path })
	if i < 0 {
		i = slices.IndexFunc(s, func(one Sample) bool { return one.Address == r.URL.Path })
	}
	if i < 0 {
		s.say(w, http.StatusNotFound, trouble{"Not in the gallery", "There is no sample of what the program shows at this address.", "", "/", "See all samples"})
		return
	}
	send(w, http.StatusOK, func() error { return s[i].Render(w) })
}

// done answers whoever presses a button.
func (s gallerySite) done(w http.ResponseWriter, _ *http.Request) {
	s.say(w, http.StatusConflict, trouble{"Nothing happened", "This is a gallery of pages: nothing behind them is real, and nothing can be done.", "", "/", "See all samples"})
}

func (s gallerySite) say(w http.ResponseWriter, status int, t trouble) {
	one := Sample{Template: "error", screen: screen{Title: t.Heading, Page: t}}
	new(gallery).visit(nobodyYet).frame(&one.screen)
	send(w, status, func() error { return one.Render(w) })
}

// send answers with a page. One that cannot be drawn is broken off: a gallery is for seeing that.
func send(w http.ResponseWriter, status int, draw func() error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if draw() != nil {
		panic(http.ErrAbortHandler)
	}
}

// quiet is the live trace of a case in which nothing happens any more.
func quiet(w http.ResponseWriter, r *http.Request) {
	if _, err := follow.Open(w, r); err == nil {
		<-r.Context().Done()
	}
}
