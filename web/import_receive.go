package web

import (
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/desk/bank/records"
)

// What an upload may be. A browser may take as long as it likes for all of it, and so long for the next piece.
const (
	mostFiles   = 50
	mostParts   = mostFiles + 10 // the form's other fields
	mostWaiting = 5              // uploads that one person has not done with
	stillness   = time.Minute
)

// mostUpload is how many bytes an upload may have. It is a variable for tests, which need not send so many.
var mostUpload int64 = 512 << 20

// folders are named after what is in them, so that those of a process which ended can be told from anything else.
const uploadFolder = "upload-"

// postUpload takes the files in and begins to check them.
func postUpload(v *visit) error {
	u, err := v.receive()
	if err != nil {
		return v.notReceived(u, err)
	}
	t := v.begin("import", v.who.Actor.ID, v.work(u))
	t.holds(u)
	return v.back("/import/"+t.ID, "")
}

// holds lets pages see the result while the task is still at it.
func (t *task) holds(result any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result = result
}

// notReceived shows the form again and says why. What was chosen as files is not kept: browsers do not let a page do that.
func (v *visit) notReceived(u *upload, err error) error {
	var e *countersign.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Err != nil {
		v.Log.ErrorContext(v.r.Context(), "an upload could not be kept", "error", e.Err)
	}
	said := sentence(e)
	if e.Hint != "" {
		said += " " + stopped(capital(e.Hint))
	}
	return v.showImport(answer.Status(e.Kind), string(u.array), said)
}

// receive keeps the files of the posted form in a folder of their own. The upload that it returns with an error has none.
func (v *visit) receive() (u *upload, err error) {
	u, body := newUpload(), v.sending()
	v.r.Body = body
	defer func() {
		if err != nil {
			err = refusal(body, err)
			_ = os.RemoveAll(u.folder) // removeLeftovers tries again; RemoveAll of no path does nothing
			body.drop()
		}
	}()
	if v.r.ContentLength > mostUpload {
		body.over = true
		return u, errTooMuch
	}
	if err := v.mayUpload(); err != nil {
		return u, err
	}
	if u.folder, err = os.MkdirTemp(v.Folder, uploadFolder); err != nil {
		return u, err
	}
	parts, err := v.r.MultipartReader()
	if err != nil {
		return u, err
	}
	return u, u.takeIn(parts)
}

// mayUpload refuses to keep any number of files for a person who comes back to none.
func (v *visit) mayUpload() error {
	waiting := 0
	for _, t := range v.tasks.of(v.who.Actor.ID) {
		if u, ok := t.progress(v.now).Result.(*upload); ok && u.look().phase.open() {
			waiting++
		}
	}
	if waiting < mostWaiting {
		return nil
	}
	return countersign.Errorf(countersign.Conflict, "%d uploads of yours wait already.", waiting).Try("Import or throw away one of them first.")
}

// refusal is what to tell whoever sent what could not be received.
func refusal(body *sending, err error) error {
	var said *countersign.Error
	var disk *fs.PathError
	switch {
	case body.over:
		return countersign.Errorf(countersign.TooLarge, "The files have more than %s together, so none was kept.", size(mostUpload)).
			Try("Send them in parts, or import them where the program runs: countersign import records FILE")
	case errors.As(err, &said):
		return said
	case errors.As(err, &disk):
		e := countersign.Errorf(countersign.Unavailable, "The files could not be kept here.").Try("Tell whoever runs this program: its disk may be full.")
		e.Err = err
		return e
	}
	return countersign.Errorf(countersign.Invalid, "The files did not arrive whole, so none was kept.").Try("Choose them again.")
}

// takeIn keeps what is in the parts of a form as they arrive.
func (u *upload) takeIn(parts *multipart.Reader) error {
	for range mostParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return u.complete()
		}
		if err != nil {
			return err
		}
		switch part.FormName() {
		case "files":
			err = u.keep(part.FileName(), part)
		case "array":
			err = u.told(part)
		}
		if err != nil {
			return err
		}
	}
	return tooMany()
}

func tooMany() error {
	return countersign.Errorf(countersign.Invalid, "There are more than %d files, so none was kept.", mostFiles).Try("Send them in parts.")
}

// keep stores one file under its number: what its sender called it is for people to read and never a path.
func (u *upload) keep(name string, in io.Reader) (err error) {
	if len(u.files) == mostFiles {
		return tooMany()
	}
	f := sentFile{path: filepath.Join(u.folder, strconv.Itoa(len(u.files)+1)), name: called(name)}
	out, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, in)
	if err != nil {
		return err
	}
	if n == 0 && name == "" { // what a browser sends when nothing was chosen
		return os.Remove(f.path)
	}
	u.files = append(u.files, f)
	return nil
}

// told is what somebody said that a CSV file holds.
func (u *upload) told(in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, 100))
	if err != nil {
		return err
	}
	u.array, err = arrayCalled(string(text))
	return err
}

// arrayCalled is the array that was chosen in a form, none if none was.
func arrayCalled(text string) (records.Array, error) {
	array := records.Array(strings.TrimSpace(text))
	if array != "" && !slices.Contains(records.Arrays, array) {
		return "", countersign.Errorf(countersign.Invalid, "%q is not something that a file can hold.", clip(text)).Try("Choose one of the list.")
	}
	return array, nil
}

// complete is the end of the form.
func (u *upload) complete() error {
	if len(u.files) == 0 {
		return countersign.Errorf(countersign.Invalid, "No file was chosen.").Try("Choose the files to import.")
	}
	for i := range u.files {
		if f := &u.files[i]; !f.speaks() {
			f.array = u.array
		}
	}
	return nil
}

// called is a file's name for people to read: its last part, on one line, not too long, and with what cannot be seen shown.
func called(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(legible(strings.NewReplacer("\r", " ", "\n", " ", "\t", " ").Replace(name)))
	if name == "" {
		return "unnamed.csv"
	}
	return shortened(name)
}

// shortened is a name of any length without its middle.
func shortened(name string) string {
	const head, tail = 60, 16
	if runes := []rune(name); len(runes) > head+tail {
		return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
	}
	return name
}

// sending is what a browser sends, for as long as it keeps sending and sends no more than an upload may have.
type sending struct {
	io.ReadCloser
	patience func(time.Time) error
	left     int64
	over     bool
}

var errTooMuch = errors.New("more bytes than an upload may have")

func (v *visit) sending() *sending {
	return &sending{v.r.Body, http.NewResponseController(v.w).SetReadDeadline, mostUpload, false}
}

// Read puts off the server's end of reading, which is meant for forms that somebody typed, while bytes arrive.
func (s *sending) Read(b []byte) (int, error) {
	_ = s.patience(time.Now().Add(stillness)) // a connection that takes no deadline has none
	n, err := s.ReadCloser.Read(b)
	if s.left -= int64(n); s.left < 0 {
		s.over = true
		return n, errTooMuch
	}
	return n, err
}

// drop reads what is still to come, within reason: most browsers show an answer only once they have sent everything.
func (s *sending) drop() {
	s.left = 4 * mostUpload
	_, _ = io.Copy(io.Discard, s)
}

// removeLeftovers removes the uploads of a process that ended without doing so. Others may be of a process that shares the folder.
func (d *dashboard) removeLeftovers() {
	if d.Folder == "" {
		return // the system's folder for such files is not ours to clean
	}
	entries, _ := os.ReadDir(d.Folder) // what cannot be read holds nothing of ours
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), uploadFolder) && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(d.Folder, e.Name())) // the next start tries again
		}
	}
}
