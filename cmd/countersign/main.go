// Command countersign investigates payment disputes with a model that is never trusted. This file reads the command line;
// each command has a file of its own, and the work is done elsewhere.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // the time zones of people, also where the system has none

	"github.com/alecthomas/kong"

	"countersign"
	"countersign/app"
	"countersign/redact"
	"countersign/store"
)

// version is stamped by the release build.
var version = ""

// clock is what every command takes for the time. Tests set it wrong.
var clock = time.Now

func main() { process() }

// process runs the command line that this process was started with.
func process() {
	ctx, stop := context.WithCancel(context.Background())
	go stopOnSignal(stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// stopOnSignal lets the first signal ask for a stop in good order; the next one ends the process at once, as if it had been
// killed, which costs nothing but the running model calls. Signals get their old meaning back before the stop begins: with
// signal.NotifyContext it is the other way round, and a second signal in between was lost.
func stopOnSignal(stop context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	signal.Stop(signals)
	if len(signals) > 0 {
		os.Exit(1)
	}
	stop()
}

// cli is the command line.
type cli struct {
	Demo        demoCommand        `cmd:"" help:"Make an invented bank and an invented shop, work their disputes with the offline reviewer and serve the dashboard. --once prints the table and exits."`
	Serve       serveCommand       `cmd:"" help:"Serve dashboard and API and investigate cases, in one process."`
	Worker      workerCommand      `cmd:"" help:"Investigate cases only."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the database to this version, and say from and to."`
	Import      importCommand      `cmd:"" help:"Import a bank's records, or a shop's policies."`
	Policy      policyCommand      `cmd:"" help:"Show or change the limits of what may be automatic."`
	Posting     postingCommand     `cmd:"" help:"Show, change or test where the bank's fixes are posted."`
	Workload    workloadCommand    `cmd:"" help:"Show or change how much is investigated at once, on all machines together."`
	Mapping     mappingCommand     `cmd:"" help:"Show or change how the shop's own database is read."`
	Model       modelCommand       `cmd:"" help:"Show or change which models investigate, and what they may cost."`
	Investigate investigateCommand `cmd:"" help:"Investigate one transaction, or one order of a shop, from the terminal."`
	Audit       auditCommand       `cmd:"" help:"Verify or export the record."`
	Report      reportCommand      `cmd:"" help:"Verify an exported evidence report."`
	Backup      backupCommand      `cmd:"" help:"Make a backup while the program runs, or check one."`
	Restore     restoreCommand     `cmd:"" help:"Put a backup back, and what was there aside."`
	Eval        evalCommand        `cmd:"" help:"Score a model and the guard rails on labelled and hostile cases."`
	User        userCommand        `cmd:"" help:"Add a person who may sign in."`
	Token       tokenCommand       `cmd:"" help:"Create an API token."`
	Hook        hookCommand        `cmd:"" help:"Say who may send events, and with which secret."`
	Keys        keysCommand        `cmd:"" help:"Show the master key and what is sealed under it, or put another into its place."`
	Doctor      doctorCommand      `cmd:"" help:"Check database, key, clock, model and disk, and say what is wrong."`
	Version     versionCommand     `cmd:"" help:"Print the version."`

	Data     string `help:"Folder of the database, the master key and the lock." env:"COUNTERSIGN_DATA" placeholder:"DIR"`
	Database string `help:"A SQLite path or a postgres:// URL." env:"COUNTERSIGN_DATABASE" placeholder:"URL"`
	Log      string `help:"How lines are logged: ${enum}." enum:"text,json" default:"text" env:"COUNTERSIGN_LOG"`
	LogLevel string `help:"What is logged, and what matters more: ${enum}." enum:"debug,info,warn,error" default:"info" env:"COUNTERSIGN_LOG_LEVEL"`
	Quiet    bool   `help:"Log warnings and errors only."`

	PublicURL     string `hidden:"" env:"COUNTERSIGN_PUBLIC_URL"`
	Proxies       string `hidden:"" env:"COUNTERSIGN_TRUSTED_PROXIES"`
	MasterKeyFile string `hidden:"" env:"COUNTERSIGN_MASTER_KEY_FILE"`
	MasterKey     string `hidden:"" env:"COUNTERSIGN_MASTER_KEY"`
	Credentials   string `hidden:"" env:"CREDENTIALS_DIRECTORY"`
	PostgresTools string `hidden:"" env:"COUNTERSIGN_POSTGRES_TOOLS"`
	ModelProvider string `hidden:"" env:"COUNTERSIGN_MODEL_PROVIDER"`
	ModelName     string `hidden:"" env:"COUNTERSIGN_MODEL"`
	ModelBaseURL  string `hidden:"" env:"COUNTERSIGN_MODEL_BASE_URL"`
	ModelAPIKey   string `hidden:"" env:"COUNTERSIGN_MODEL_API_KEY"`
}

// session is what every command gets.
type session struct {
	context.Context
	*cli
	in       io.Reader
	out, err io.Writer
}

// exit ends the program with a code of its own and no further message.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// run is the program with everything it touches as an argument. Exit codes: 0 done, 1 it could not be done or something is
// wrong, 2 the command line is wrong or nothing could be judged, 3 another version of this program has taken over the database.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) (code int) {
	var c cli
	s := &session{Context: ctx, cli: &c, in: in, out: out, err: errs}
	parser, err := kong.New(&c, kong.Name("countersign"), kong.Writers(out, errs), kong.Bind(s),
		kong.Description("Disputes investigated by a model that is never trusted: code checks every claim, applies a fixed policy, and is the only thing that may act."),
		kong.Exit(func(code int) { panic(exit(code)) }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(err) // unreachable unless the struct above is malformed
	}
	defer func() {
		if e, ok := recover().(exit); ok { // --help
			code = int(e)
		}
	}()
	k, err := parser.Parse(args)
	if err != nil {
		return complain(errs, fmt.Errorf("%w (%s --help says what is expected)", err, meant(err)), 2)
	}
	return complain(errs, k.Run(s), 1)
}

// meant is the command that a wrong command line was about, as far as it said, for the hint of an error.
func meant(err error) string {
	name := "countersign"
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) {
		return name
	}
	for _, part := range wrong.Context.Path {
		if part.Command != nil {
			name += " " + part.Command.Name
		}
	}
	return name
}

// complain prints an error as one line and returns the exit code.
func complain(w io.Writer, err error, code int) int {
	var e exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "countersign: stopped")
		return 1
	}
	fmt.Fprintln(w, "countersign: "+redact.Mask(oneLine(err)).String())
	if errors.Is(err, store.ErrOtherSchema) {
		return 3
	}
	if countersign.KindOf(err) == countersign.Invalid {
		return 2
	}
	return code
}

// oneLine is an error and, for an operator, its cause.
func oneLine(err error) string {
	text := err.Error()
	var e *countersign.Error
	if errors.As(err, &e) && e.Err != nil && !strings.Contains(text, e.Err.Error()) {
		text += ": " + e.Err.Error()
	}
	return strings.Join(strings.Fields(lines.Replace(text)), " ")
}

var lines = strings.NewReplacer(":\n", ": ", "\n", "; ")

// log writes structured lines to standard error, masked.
func (s *session) log() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		level = slog.LevelInfo // unreachable: the command line takes no other words
	}
	options := &slog.HandlerOptions{Level: level}
	if s.Quiet {
		options.Level = max(level, slog.LevelWarn)
	}
	if s.Log == "json" {
		return slog.New(redact.NewHandler(slog.NewJSONHandler(s.err, options)))
	}
	return slog.New(redact.NewHandler(slog.NewTextHandler(s.err, options)))
}

// config is the app's configuration as flags and environment give it.
func (s *session) config() app.Config {
	return app.Config{
		Data: s.dataFolder(), Database: s.Database, KeyFile: s.MasterKeyFile, KeyText: s.MasterKey, KeyFolder: s.Credentials, PublicURL: s.PublicURL, Proxies: s.Proxies, Version: programVersion(), Log: s.log(),
		Now: clock, PostgresTools: s.PostgresTools,
		Model: app.ModelConfig{Provider: s.ModelProvider, Name: s.ModelName, BaseURL: s.ModelBaseURL, APIKey: s.ModelAPIKey},
	}
}

func (s *session) dataFolder() string {
	if s.Data != "" {
		return absolute(s.Data)
	}
	if home := os.Getenv("XDG_DATA_HOME"); home != "" {
		return filepath.Join(home, "countersign")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return absolute("countersign-data")
	}
	return filepath.Join(home, ".local", "share", "countersign")
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

type versionCommand struct{}

func (versionCommand) Run(s *session) error {
	_, err := fmt.Fprintln(s.out, "countersign", programVersion())
	return err
}
