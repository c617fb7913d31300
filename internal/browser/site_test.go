package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The site of these tests has what the real pages have: a form that works with and without script, steps that arrive one by
// one, keys, a dark scheme, and a policy under which nothing inline runs.
const (
	front = `<!doctype html><html lang="en"><head><title>Disputes</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/site.css"><script src="/site.js" defer></script></head><body>
<main><h1>The queue</h1>
<nav aria-label="Pages"><a href="/queue?state=review">Queue</a> <a href="/slow">Slowly</a></nav>
<noscript><p>Nothing here needs a script.</p></noscript>
<form method="post" action="/said" enctype="multipart/form-data">
<label for="note">Note</label> <input id="note" name="note" value="old words">
<label for="fix">Fix</label> <select id="fix" name="fix"><option value="none">No fix</option><option value="reversal">Reverse the transfer</option></select>
<label>Records <input type="file" name="records" id="records"></label>
<label><input type="checkbox" name="sure" id="sure"> I am sure</label>
<button>Post reversal of NGN 24,500.00</button>
</form>
<button id="later" disabled>Later</button> <button id="covered">Covered</button><div id="cover"></div>
<details><summary>Steps</summary><p>read the ledger</p></details>
<ul id="steps" aria-label="Steps"></ul>
<p id="hidden" hidden>nowhere to be seen</p>
</main></body></html>`

	style = `body { background: #fff; color: #111; } h1 { text-transform: uppercase; }
#covered { position: absolute; left: 0; bottom: 0; } #cover { position: absolute; left: 0; bottom: 0; width: 300px; height: 60px; }
@media (prefers-color-scheme: dark) { body { background: #101418; color: #eee; } a { color: #9cf; } }
@media print { nav { display: none; } }`

	script = `
document.addEventListener('keydown', e => {
  if (e.target.matches('input')) return
  if (e.key === 'a') document.title = 'approved'
  if (e.key === '?' ) document.title = 'keys'
  if (e.key === 'k' && e.ctrlKey) document.getElementById('note').focus()
})
new EventSource('/steps').addEventListener('step', e => {
  const li = document.createElement('li'); li.textContent = e.data; document.getElementById('steps').append(li)
})
setTimeout(() => { document.getElementById('later').disabled = false }, 300)
document.getElementById('later').addEventListener('click', () => document.querySelector('h1').textContent = 'Later it is')`

	careless = `<!doctype html><html><head><title>Careless</title><script>document.title = 'ran'</script></head>
<body><img src="http://elsewhere.example/pixel.png"><p style="color:#999;background:#fff">pale</p><input name="nameless">
<script src="/broken.js"></script></body></html>`
)

func site(t *testing.T) string {
	mux := http.NewServeMux()
	page := func(pattern, kind, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src * data:; style-src 'self'")
			io.WriteString(w, body)
		})
	}
	page("GET /{$}", "text/html; charset=utf-8", front)
	page("GET /site.css", "text/css", style)
	page("GET /site.js", "text/javascript", script)
	page("GET /careless", "text/html; charset=utf-8", careless)
	page("GET /broken.js", "text/javascript", "console.error('the cause is', 7); confirm('really?'); throw new Error('out of paper')")
	page("GET /queue", "text/html; charset=utf-8", "<!doctype html><title>Queue</title><p>Nobody waits. ₦ → ±")
	mux.HandleFunc("GET /steps", steps)
	mux.HandleFunc("GET /slow", slow)
	mux.HandleFunc("POST /said", said)
	mux.HandleFunc("GET /cookie", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Cookie")) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// steps is a stream that says two things and then stays open, as a case that is being worked on does.
func steps(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: step\ndata: read the books\n\nevent: step\ndata: proposed a fix\n\n")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// slow sends its first half at once and the second after a while.
func slow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!doctype html><title>Slow</title><p>first half %2000s", "")
	w.(http.Flusher).Flush()
	wait(r.Context())
	fmt.Fprint(w, "<p id=second>second half")
}

// said answers a form with a status that browsers complain of, as for a form that must be corrected.
func said(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnprocessableEntity)
	attached := "nothing"
	if file, head, err := r.FormFile("records"); err == nil {
		content, _ := io.ReadAll(file)
		attached = head.Filename + " with " + string(content)
	}
	fmt.Fprintf(w, `<!doctype html><title>Said</title><link rel="icon" href="data:,"><p>You said %s, chose %s, were sure: %s, attached %s.`,
		r.FormValue("note"), r.FormValue("fix"), r.FormValue("sure"), attached)
}
