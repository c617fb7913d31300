package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func verdict(t testing.TB, file []byte) Verdict {
	t.Helper()
	v, err := Verify(file)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVerify(t *testing.T) {
	for _, f := range formats {
		file := rendered(t, sample(), f)
		t.Run(string(f)+" as it was made is intact", func(t *testing.T) {
			if v := verdict(t, file); v.State != Intact || v.Format != f || v.Fingerprint != sealed(t, sample()).Fingerprint() || v.Printed != v.Fingerprint || v.Content.Case.ID != "C-7Q2M" {
				t.Errorf("got %v", v)
			}
		})
		t.Run(string(f)+" with another amount in the content is edited", func(t *testing.T) {
			c := sample()
			c.Decision.Contested = usd(42854)
			forged := forge(t, f, c)
			if v := verdict(t, forged); v.State != Edited || v.Printed == v.Fingerprint {
				t.Errorf("got %v", v)
			}
		})
		t.Run(string(f)+" cut short is not intact", func(t *testing.T) {
			for n := 0; n < len(file); n += 1 + len(file)/97 {
				if v := verdict(t, file[:n]); v.State == Intact {
					t.Errorf("%d bytes of %d are", n, len(file))
				}
			}
		})
		t.Run(string(f)+" with something behind it is edited", func(t *testing.T) {
			if v := verdict(t, append(bytes.Clone(file), ' ')); v.State != Edited {
				t.Errorf("got %v", v)
			}
		})
	}
	t.Run("a page whose amount was painted over says which line, and what it should say", func(t *testing.T) {
		file := bytes.Replace(rendered(t, sample(), HTML), []byte("<dd>USD 428.53</dd>"), []byte("<dd>USD 128.53</dd>"), 1)
		v := verdict(t, file)
		if v.State != Edited || len(v.Where) != 1 || !strings.Contains(v.Where[0], `"In dispute USD 128.53" where the content gives "In dispute USD 428.53"`) {
			t.Errorf("got %v", v)
		}
	})
	t.Run("content that was edited inside a page is shown by what the page still says", func(t *testing.T) {
		file := bytes.Replace(rendered(t, sample(), HTML), []byte(`"by":"A. Okafor","contested"`), []byte(`"by":"B. Okafor","contested"`), 1)
		v := verdict(t, file)
		if v.State != Edited || !strings.Contains(strings.Join(v.Where, "\n"), `"Decided by A. Okafor" where the content gives "Decided by B. Okafor"`) {
			t.Errorf("got %v", v)
		}
	})
	t.Run("a PDF whose content was exchanged says on which page it shows", func(t *testing.T) {
		c := sample()
		c.Decision.Contested = usd(42854)
		v := verdict(t, forge(t, PDF, c))
		if v.State != Edited || !strings.Contains(strings.Join(v.Where, "\n"), `page 1, stroke`) || !strings.Contains(strings.Join(v.Where, "\n"), `"USD 428.53" where the content gives "USD 428.54"`) {
			t.Errorf("got %v", v)
		}
	})
	t.Run("a report that another renderer drew cannot be compared, and its content still can", func(t *testing.T) {
		for _, f := range []Format{HTML, PDF} {
			file := bytes.Replace(rendered(t, sample(), f), []byte(Renderer), []byte(strings.Replace(Renderer, "report 2", "report 0", 1)), 1)
			if v := verdict(t, file); v.State != CannotTell || v.Fingerprint != v.Printed || v.Fingerprint == "" {
				t.Errorf("%s: got %v", f, v)
			}
		}
	})
	t.Run("and one whose content was exchanged is edited, whoever drew it", func(t *testing.T) {
		c := sample()
		c.Decision.Contested = usd(42854)
		for _, f := range []Format{HTML, PDF} {
			file := bytes.Replace(forge(t, f, c), []byte(Renderer), []byte(strings.Replace(Renderer, "report 2", "report 0", 1)), 1)
			if v := verdict(t, file); v.State != Edited {
				t.Errorf("%s: got %v", f, v)
			}
		}
	})
	t.Run("content that no report may have is edited, whatever its fingerprint", func(t *testing.T) {
		c := sample()
		c.Decision.Contested.Text = "USD 4,285.30"
		canonical := Canonical(c)
		for _, f := range formats {
			file, err := (Report{c, canonical, Fingerprint(canonical)}).Render(f)
			if v := verdict(t, file); v.State != Edited || err != nil {
				t.Errorf("%s: got %v, %v", f, v, err)
			}
		}
	})
	t.Run("nor can one whose content is of a later format", func(t *testing.T) {
		for _, f := range []Format{JSON, HTML} {
			file := bytes.Replace(rendered(t, sample(), f), []byte(`"format":2`), []byte(`"format":3`), 1)
			if v := verdict(t, file); v.State != CannotTell || !strings.Contains(v.Why, "format 3") {
				t.Errorf("%s: got %v", f, v)
			}
		}
	})
	for name, file := range map[string]string{
		"nothing": "", "a text": "hello", "other JSON": `{"a":1}`, "broken JSON": `{"content":`, "a PDF without content": "%PDF-1.3\n%%EOF", "an empty object": "{}",
		"another page": "<!DOCTYPE html><p>x", "a page that was cut": contentBegins + `{"format"`, "a picture": "\x89PNG\r\n",
	} {
		t.Run(name+" is no report", func(t *testing.T) {
			if v := verdict(t, []byte(file)); v.State != CannotTell || v.Why == "" || v.Fingerprint != "" {
				t.Errorf("got %v", v)
			}
		})
	}
	t.Run("a PDF that no program could have made of its content is edited", func(t *testing.T) {
		c := sample()
		c.Dispute.Claim = "未着"
		if v := verdict(t, forge(t, PDF, c)); v.State != Edited {
			t.Errorf("got %v", v)
		}
	})
}

// forge is the sample's file with other content inside and everything else as it was, as somebody would make it who knows the
// format and hopes that nobody looks.
func forge(t *testing.T, f Format, c Content) []byte {
	t.Helper()
	r := sealed(t, sample())
	forged := Report{sample(), Canonical(c), r.Fingerprint()}
	file, err := forged.Render(f)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEveryChangedByteIsCaught(t *testing.T) {
	c := sample()
	c.Facts, c.Exhibits, c.Clauses, c.Timeline = c.Facts[:1], c.Exhibits[:2], nil, c.Timeline[:1]
	c.Attachments, c.Net = nil, Net{}
	t.Run("json, at every byte", func(t *testing.T) { flips(t, rendered(t, c, JSON), 1) })
	t.Run("html, at every byte of the content and every seventh of the page", func(t *testing.T) {
		file := rendered(t, c, HTML)
		at := bytes.Index(file, []byte(contentBegins))
		for i := at; i < len(file); i++ {
			flipped(t, file, i, byte(1<<(i%8)))
		}
		flips(t, file, 7)
	})
	t.Run("pdf, here and there and all over the content", func(t *testing.T) {
		file := rendered(t, c, PDF)
		flips(t, file, 809)
		at := bytes.Index(file, []byte("/EmbeddedFile"))
		size := bytes.Index(file[at:], []byte("endstream"))
		for i := at; i < at+size; i += 41 {
			flipped(t, file, i, 0x01)
		}
	})
}

func flips(t *testing.T, file []byte, step int) {
	t.Helper()
	for i := 0; i < len(file); i += step {
		flipped(t, file, i, byte(1<<(i%8)))
	}
}

func flipped(t *testing.T, file []byte, i int, bit byte) {
	t.Helper()
	file[i] ^= bit
	if v := verdict(t, file); v.State == Intact {
		t.Errorf("byte %d of %d: %v", i, len(file), v)
	}
	file[i] ^= bit
}

func FuzzVerify(f *testing.F) {
	for _, format := range formats {
		f.Add(rendered(f, sample(), format))
	}
	f.Add([]byte(`{"content":{"format":1},"fingerprint":"0"}`))
	f.Add([]byte("%PDF-1.3\n/EmbeddedFile stream\n\x78\x9c"))
	f.Fuzz(func(t *testing.T, file []byte) {
		v, err := Verify(file)
		if err != nil {
			t.Fatal(err)
		}
		if v.State == Intact && (v.Content == nil || v.Fingerprint != v.Printed) {
			t.Error("intact without content or fingerprint")
		}
		_ = fmt.Sprint(v)
	})
}
