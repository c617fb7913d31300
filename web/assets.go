package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

//go:embed static
var static embed.FS

// assets are our script, styles and what they stand on, each under an address that changes with its content, so that a browser
// may keep it for ever and still gets the new one after an upgrade.
type assets map[string]asset

type asset struct {
	stamp, kind string
	content     []byte
}

func hashedAssets() assets {
	all := assets{}
	for _, name := range []string{"desk.css", "desk.js", "htmx.min.js", "hx-sse.min.js", "icon.svg"} {
		content, err := fs.ReadFile(static, "static/"+name)
		if err != nil {
			panic(err) // unreachable unless the file above was removed: then the program does not start
		}
		sum := sha256.Sum256(content)
		all[name] = asset{hex.EncodeToString(sum[:6]), mime.TypeByExtension(path.Ext(name)), content}
	}
	return all
}

// address is where a page finds the file.
func (a assets) address(name string) string { return "/static/" + a[name].stamp + "/" + name }

func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.PathValue("stamp") == file.stamp {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Del("Vary") // it is the same for everybody, and for whoever signs in anew
	}
	w.Header().Set("Content-Type", file.kind)
	_, _ = w.Write(file.content)
}
