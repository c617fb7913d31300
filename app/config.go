package app

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/pipeline/queue"
)

// filled has its defaults in place, and paths that mean the same from everywhere.
func (c Config) filled() Config {
	if c.Database == "" {
		c.Database = filepath.Join(c.Data, "countersign.db")
	}
	c.Data, c.KeyFile = absolute(c.Data), absolute(c.KeyFile)
	if schemeOf(c.Database) == "" {
		c.Database = absolute(c.Database)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = slog.New(answer.NewLogHandler(c.Log.Handler()))
	return c
}

// check refuses a configuration that could not work, makes the data folder, and ends what a restore had begun there.
func (c Config) check() error {
	if scheme := schemeOf(c.Database); scheme != "" && !c.onPostgres() {
		return countersign.Errorf(countersign.Invalid, "%q is not a database that this program knows", scheme+":…").In("database").
			Try("expected the path of a SQLite file, or a URL that begins with postgres://")
	}
	if err := c.checkWaits(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return mend(err, "cannot make the data folder "+c.Data, "mend its rights, or choose another with --data or COUNTERSIGN_DATA")
	}
	return c.endRestore()
}

// checkWaits refuses an investigation that may take longer than the queue waits before it takes its job for stuck: the case would
// be handed out a second time while it is worked on. The lease would refuse the second worker; but then each case costs two.
func (c Config) checkWaits() error {
	if wall := c.wall(); wall >= queue.Rescue {
		return countersign.Errorf(countersign.Invalid, "an investigation may take %s, and a job is taken for stuck after %s", wall, queue.Rescue).In("time-outs").
			Try("expected less time for an investigation than for a job")
	}
	return nil
}

// way is how browsers reach this program.
func (c Config) way() (answer.Way, error) {
	public, err := publicURL(c.PublicURL)
	if err != nil {
		return answer.Way{}, err
	}
	if c.CertFile != "" && strings.HasPrefix(public, "http://") {
		return answer.Way{}, countersign.Errorf(countersign.Invalid, "%q is not encrypted, and --tls-cert says that this program is reached by HTTPS", public).In("public URL").
			Try("expected the https:// address that the certificate is for")
	}
	proxies, err := answer.ReadProxies(c.Proxies)
	return answer.Way{PublicURL: public, Proxies: proxies}, err
}

// publicURL is an origin: every page is at a path from its root, and links and cookies rely on it.
func publicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", countersign.Errorf(countersign.Invalid, "%q is not where a browser could reach this program", text).In("public URL").
			Try("expected scheme and host, with a port where it needs one and nothing behind, for example https://desk.example.com")
	}
	return u.Scheme + "://" + u.Host, nil
}

func (c Config) onPostgres() bool {
	return strings.HasPrefix(c.Database, "postgres://") || strings.HasPrefix(c.Database, "postgresql://")
}

// schemeOf is what stands before the colon of a URL, empty for a path. One letter is a drive.
func schemeOf(name string) string {
	scheme, _, found := strings.Cut(name, ":")
	if !found || len(scheme) < 2 || strings.ContainsAny(scheme, `/\.`) {
		return ""
	}
	return scheme
}

// absolute leaves an empty path empty.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path // the working directory is gone: whoever opens it will say so
}

// mend is an error that an operator can do something about, with its cause.
func mend(cause error, message, hint string) error {
	e := countersign.Errorf(countersign.Unavailable, "%s", message).Try(hint)
	e.Err = cause
	return e
}
