package web_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/app"
	"countersign/auth"
	"countersign/desk/bank/records"
	"countersign/web"
)

func TestAnUploadThatIsNotTakenIn(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	web.LimitUploads(t, 64<<10)
	large := strings.Repeat("x", 100<<10)
	b.upload("").is(http.StatusBadRequest, "No file was chosen", "Check the files")
	b.upload("", document{"", ""}).is(http.StatusBadRequest, "No file was chosen")
	b.upload("", document{"customers.csv", large}).is(http.StatusRequestEntityTooLarge, "The files have more than 64 KB together, so none was kept")
	b.upload("", slices.Repeat([]document{{"customers.csv", "id,name\n"}}, 51)...).is(http.StatusBadRequest, "There are more than 50 files")
	b.upload("", slices.Repeat([]document{{"customers.csv", "id,name\n"}}, 100)...).is(http.StatusBadRequest, "There are more than 50 files")
	b.upload("shoes", document{"customers.csv", "id,name\n"}).is(http.StatusBadRequest, `"shoes" is not something that a file can hold`)
	b.post("/import", map[string][]string{"files": {"x"}}).is(http.StatusBadRequest, "did not arrive whole")
	b.sendBody("multipart/form-data; boundary=x", strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"customers.csv\"\r\n\r\nid,na")).
		is(http.StatusBadRequest, "did not arrive whole")
	t.Run("whose length nobody told", func(t *testing.T) {
		b.sendBody("multipart/form-data; boundary=x", io.MultiReader(strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"customers.csv\"\r\n\r\n"),
			strings.NewReader(large), strings.NewReader("\r\n--x--\r\n"))).is(http.StatusRequestEntityTooLarge, "more than 64 KB")
	})
	if left := o.uploadFolders(); len(left) > 0 {
		t.Errorf("%v stay behind", left)
	}
	t.Run("that would be one too many", func(t *testing.T) {
		var path string
		for range 5 {
			path, _ = b.checks("", document{"customers.csv", "id,name\nC-1,Ada\n"})
		}
		b.upload("", document{"customers.csv", "id,name\n"}).is(http.StatusConflict, "5 uploads of yours wait already", "Import or throw away one of them first")
		o.as(auth.Admin).upload("", document{"customers.csv", "id,name\n"}).is(http.StatusSeeOther)
		b.post(path+"/cancel", nil).is(http.StatusSeeOther)
		b.upload("", document{"customers.csv", "id,name\n"}).is(http.StatusSeeOther)
	})
}

func TestWhatAFileIsCalled(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	for name, says := range map[string]string{
		"../../../customers.csv":                          "customers.csv",
		`C:\Users\ada\customers.csv`:                      "customers.csv",
		"customers <img src=x onerror=alert(1)>.csv":      "customers <img src=x onerror=alert(1)>.csv",
		"customers-\u202evsc.exe.csv":                     "customers-⟨U+202E⟩vsc.exe.csv",
		"customers-" + strings.Repeat("9", 5000) + ".csv": "customers-" + strings.Repeat("9", 50) + "…" + strings.Repeat("9", 12) + ".csv",
	} {
		t.Run(says, func(t *testing.T) {
			path, p := b.checks("", document{name, "id,name\nC-1,Ada\n"})
			p.is(http.StatusOK, says, "Import 1 row")
			if shown := p.parse().find("table", "class", "files")[0].find("th", "scope", "row"); len(shown) != 1 || shown[0].text != says {
				t.Errorf("the file is not called %q:\n%s", says, p.seen())
			}
			if strings.Contains(p.text, "<img") {
				t.Error("the name became markup")
			}
			for _, folder := range o.uploadFolders() {
				files, err := os.ReadDir(folder)
				if err != nil || len(files) != 2 || files[0].Name() != "1" || files[1].Name() != "checking.csv" {
					t.Errorf("the folder holds %v, %v", files, err)
				}
				for _, f := range files {
					if info, err := f.Info(); err != nil || info.Mode() != 0o600 {
						t.Errorf("%s has mode %v", f.Name(), info.Mode())
					}
				}
			}
			b.post(path+"/cancel", nil)
			o.gone()
		})
	}
	t.Run("nothing", func(t *testing.T) {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="files"`}})
		o.must(err)
		_, _ = io.WriteString(part, "id,name\nC-1,Ada\n")
		o.must(form.Close())
		answer := b.sendBody(form.FormDataContentType(), &body).is(http.StatusSeeOther)
		b.settled(answer.leads()).is(http.StatusOK, "What does it hold?", "unnamed.csv holds")
	})
}

func TestAFileWhoseNameSaysNothing(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	t.Run("is what the form says", func(t *testing.T) {
		_, p := b.checks("merchants", document{"export.csv", "id,name\nM-1,Mart\n"}, document{"customers.csv", "id,name\nC-1,Ada\n"}, document{"bank.json", `{"accounts":[]}`})
		p.is(http.StatusOK, "1 merchant", "1 customer", "Import 2 rows")
	})
	t.Run("or what its page is told", func(t *testing.T) {
		path, p := b.checks("", document{"export.csv", "id,name\nM-1,Mart\n"}, document{"customers.csv", "id,name\nC-1,Ada\n"})
		p.is(http.StatusOK, "What does it hold?", "export.csv holds")
		form := p.form(path + "/run")
		b.post(path+"/run", with(form, "array-1", "shoes")).is(http.StatusBadRequest, "not something that a file can hold")
		b.post(path+"/run", with(form, "array-1", "")).is(http.StatusSeeOther)
		b.settled(path).is(http.StatusOK, "What does it hold?")
		b.post(path+"/run", with(form, "act", "import"))
		b.settled(path).is(http.StatusOK, "What does it hold?")
		b.post(path+"/run", with(form, "act", "check", "array-1", "merchants")).is(http.StatusSeeOther)
		b.settled(path).is(http.StatusOK, "1 merchant", "Import 2 rows")
		b.post(path+"/run", form)
		b.settled(path).is(http.StatusOK, "nothing is stored yet") // the page of a while ago does not import
		b.post(path+"/run", with(form, "act", "fly")).is(http.StatusBadRequest, `"fly" is not something`)
	})
}

func TestFilesThatAreLostOnTheWay(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	lose := func() {
		for _, folder := range o.uploadFolders() {
			o.must(os.Remove(filepath.Join(folder, "1")))
		}
	}
	path, _ := b.checks("", document{"customers.csv", "id,name\nC-1,Ada\n"})
	lose()
	b.does(path).is(http.StatusOK, "Stopped: 0 rows are stored", "Something went wrong here while the files were read", "Import the rest")
	b.post(path+"/cancel", nil)
	o.gone()
	path, p := b.checks("", document{"export.csv", "id,name\nC-1,Ada\n"})
	lose()
	b.post(path+"/run", with(p.form(path+"/run"), "array-1", "customers"))
	b.settled(path).is(http.StatusOK, "The check was broken off", "Nothing was stored", "Check again")
	b.does(path).is(http.StatusOK, "The check was broken off")
	if log := o.log.String(); !strings.Contains(log, "uploaded files could not be read to their end") || strings.Contains(p.text, "no such file") {
		t.Errorf("the log says\n%s", log)
	}
}

func TestFilesThatAreThrownAway(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	path, p := b.checks("", document{"customers.csv", "id,name\nC-1,Ada\n"})
	b.follow(b.post(path+"/cancel", nil)).is(http.StatusOK, "thrown away. Nothing of them was stored", "Import records")
	b.get(path).is(http.StatusNotFound, "not here any more")
	b.get(path + "/results").is(http.StatusNotFound)
	b.post(path+"/run", p.form(path+"/run")).is(http.StatusNotFound)
	o.gone()
	if n := o.counted()[records.Customers]; n != 0 {
		t.Errorf("%d rows are in the books", n)
	}
	t.Run("because nobody comes back to them", func(t *testing.T) {
		web.ForgetUploadsAfter(t, 0)
		answer := b.upload("", document{"customers.csv", "id,name\nC-1,Ada\n"})
		o.gone()
		b.get(answer.leads()).is(http.StatusNotFound, "nobody said for an hour what to do with them")
	})
}

func TestOnlyWhoSentFilesSeesThem(t *testing.T) {
	o := newOffice(t)
	path, p := o.as(auth.Approver).checks("", document{"customers.csv", "id,name\nC-1,Ada\n"})
	form := p.form(path + "/run")
	other := o.as(auth.Admin)
	other.get(path).is(http.StatusNotFound)
	other.get(path + "/results").is(http.StatusNotFound)
	other.post(path+"/run", form).is(http.StatusNotFound)
	other.post(path+"/cancel", nil).is(http.StatusNotFound)
	if says := other.get("/import").seen(); strings.Contains(says, "customers.csv checked") {
		t.Errorf("another person is told of them: %s", says)
	}
	for _, role := range []auth.Role{auth.Analyst, auth.Auditor} {
		b := o.as(role)
		b.get("/import").is(http.StatusForbidden)
		b.upload("", document{"customers.csv", "id,name\nC-1,Ada\n"}).is(http.StatusForbidden)
		b.get(path).is(http.StatusForbidden)
		b.post(path+"/run", form).is(http.StatusForbidden)
		b.get("/templates/customers.csv").is(http.StatusForbidden)
	}
	if n := o.counted()[records.Customers]; n != 0 {
		t.Errorf("%d rows are in the books", n)
	}
}

func TestARestartForgetsUploads(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	path, _ := b.checks("", document{"customers.csv", "id,name\nC-1,Ada\n"})
	data := o.Data
	o.server.Close()
	o.must(o.Close())
	o.gone() // a program that is stopped cleans up behind itself
	aged := time.Now().Add(-25 * time.Hour)
	for _, name := range []string{"upload-of-a-crash", "upload-of-another", "reports-of-old"} {
		folder := filepath.Join(data, name)
		o.must(os.MkdirAll(filepath.Join(folder, "within"), 0o700))
		if name != "upload-of-another" {
			o.must(os.Chtimes(folder, aged, aged))
		}
	}
	o.must(os.WriteFile(filepath.Join(data, "upload-notes"), nil, 0o600))
	o.must(os.Chtimes(filepath.Join(data, "upload-notes"), aged, aged))
	o.must(os.Symlink(filepath.Join(data, "reports-of-old"), filepath.Join(data, "upload-elsewhere")))
	o.open(func(c *app.Config) { c.Data = data })
	o.server = httptest.NewServer(o.Handler())
	defer o.server.Close()
	b.get(path).is(http.StatusNotFound, "the program was started again since", "Start it again")
	b.get("/import").is(http.StatusOK, "Choose the files")
	for name, want := range map[string]bool{"upload-of-a-crash": false, "upload-of-another": true, "reports-of-old/within": true, "upload-elsewhere": true, "upload-notes": true} {
		if _, err := os.Lstat(filepath.Join(data, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASlowUploadIsNotCutOff(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	const limit = 100 * time.Millisecond
	o.server = httptest.NewUnstartedServer(o.Handler())
	o.server.Config.ReadTimeout = limit
	o.server.Start()
	defer o.server.Close()
	in, out := io.Pipe()
	form := multipart.NewWriter(out)
	go func() {
		part, _ := form.CreateFormFile("files", "customers.csv")
		_, _ = io.WriteString(part, "id,name\n")
		for begun := time.Now(); time.Since(begun) < 3*limit; {
			b.get("/keys") // meanwhile
		}
		_, _ = io.WriteString(part, "C-1,Ada\n")
		_ = out.CloseWithError(form.Close())
	}()
	answer := b.sendBody(form.FormDataContentType(), in).is(http.StatusSeeOther)
	b.settled(answer.leads()).is(http.StatusOK, "Import 1 row")
}
