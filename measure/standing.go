package measure

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign"
	"countersign/store"
)

// standing is how the whole database stands, whichever process asks. The store is the truth for all of them; a counter of our
// own would begin at zero with each start.
type standing struct {
	open   look[store.Census]
	record look[store.RecordStanding]
	load   look[load]
	backup look[backups]
}

// load is how much is investigated at once and how much may be.
type load struct {
	pools    []store.PoolStanding
	workload store.Workload
}

// backups are what is to be made, and what was.
type backups struct {
	schedule store.BackupScheduled
	standing store.BackupStanding
}

func newStanding(s *store.Store) *standing {
	return &standing{
		open:   look[store.Census]{least: 5 * time.Second, read: func(ctx context.Context) (store.Census, error) { return s.Census(ctx, s.Now()) }},
		record: look[store.RecordStanding]{least: time.Minute, read: s.RecordStanding},
		load: look[load]{least: 5 * time.Second, read: func(ctx context.Context) (l load, err error) {
			if l.workload, err = s.Workload(ctx); err == nil {
				l.pools, err = s.Pools(ctx)
			}
			return l, err
		}},
		backup: look[backups]{least: 5 * time.Second, read: func(ctx context.Context) (b backups, err error) {
			if b.schedule, err = s.BackupSchedule(ctx); err == nil {
				b.standing, err = s.BackupStanding(ctx)
			}
			return b, err
		}},
	}
}

// patience is how long the database may take to answer everything together: less than the ten seconds after which a scrape is given up.
const patience = 8 * time.Second

// rest is how many times as long as it took to read something it is then left alone: measuring takes at most a twentieth of
// one connection, however many cases there are and however often somebody asks.
const rest = 20

// look is something that is read from the database and kept for a while. An error is kept as well.
type look[T any] struct {
	least time.Duration
	read  func(context.Context) (T, error)

	mu    sync.Mutex
	until time.Time
	kept  T
	err   error
}

func (l *look[T]) now(ctx context.Context) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begun := time.Now()
	if begun.Before(l.until) {
		return l.kept, l.err
	}
	if err := ctx.Err(); err != nil { // what was read before it took all the time
		return l.kept, err
	}
	l.kept, l.err = l.read(ctx)
	took := time.Since(begun)
	l.until = time.Now().Add(max(l.least, rest*took))
	return l.kept, l.err
}

var (
	casesDesc      = desc("cases", "Open cases, by desk and status. Closed ones are counted as they close.", "desk", "status")
	dueDesc        = desc("cases_due", "Open cases by deadline: overdue, within 24 hours, from there within 48 hours, later, or unknown.", "desk", "due")
	oldestDesc     = desc("queue_oldest_seconds", "How long the case that has waited longest for a worker has; 0 when none waits.", "desk")
	heldDesc       = desc("leases_held", "Cases that a worker holds.")
	lapsedDesc     = desc("leases_lapsed", "Cases whose worker has not been heard of in time, and that nobody has taken over yet.")
	unattendedDesc = desc("cases_unattended", "Cases in review that are due within 48 hours or overdue and that nobody has taken, counted up to 1000.")
	databaseDesc   = desc("database_up", "1 when the database answered the last question of these metrics, else 0; then what it would have said is missing.")

	longDesc     = desc("queue_long", "From how many cases that wait for a worker on the queue is called long.")
	refuseDesc   = desc("queue_refuse", "From how many cases that wait for a worker on new ones are refused; 0 for never.")
	limitDesc    = desc("pool_limit", "Cases of a desk or model that may be investigated at once, on all machines together; missing where there is no limit.", "pool")
	placesDesc   = desc("pool_held", "Cases of a desk or model with a limit that are being investigated.", "pool")
	standingDesc = desc("pool_waiting", "Cases that wait for a place at a desk or model with a limit.", "pool")

	rowsDesc         = desc("record_length", "Rows of the record, of every case.")
	verifiedDesc     = desc("record_verified_timestamp_seconds", "When every chain of the record was last verified, here or elsewhere; missing until it was.")
	unverifiedDesc   = desc("record_rows_since_verified", "Rows that the record has gained since every chain was last verified.")
	backupEveryDesc  = desc("backup_every_seconds", "How often the schedule wants a backup; 0 when none is made by itself.")
	backupGoodDesc   = desc("backup_last_success_timestamp_seconds", "When the last backup was made, by the schedule or by hand; missing until there was one.")
	backupBytesDesc  = desc("backup_last_success_bytes", "The size of the last backup; missing until there was one.")
	backupFailedDesc = desc("backup_failed", "1 when the last backup that was tried failed, else 0.")

	intactDesc = desc("record_intact", "1 when the last verification of every chain found all of them intact, else 0; missing until there was one.")
)

// Describe says what Collect may send.
func (s *standing) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{casesDesc, dueDesc, oldestDesc, heldDesc, lapsedDesc, unattendedDesc, databaseDesc,
		longDesc, refuseDesc, limitDesc, placesDesc, standingDesc,
		rowsDesc, verifiedDesc, unverifiedDesc, intactDesc,
		backupEveryDesc, backupGoodDesc, backupBytesDesc, backupFailedDesc} {
		ch <- d
	}
}

// Collect sends how things stand, or were found to stand a moment ago.
func (s *standing) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	up := 1.0
	if census, err := s.open.now(ctx); err != nil {
		up = 0
	} else {
		collectCensus(ch, census)
	}
	if record, err := s.record.now(ctx); err != nil {
		up = 0
	} else {
		collectRecord(ch, record)
	}
	if load, err := s.load.now(ctx); err != nil {
		up = 0
	} else {
		collectLoad(ch, load)
	}
	if backup, err := s.backup.now(ctx); err != nil {
		up = 0
	} else {
		collectBackups(ch, backup)
	}
	send(ch, databaseDesc, up)
}

func collectBackups(ch chan<- prometheus.Metric, b backups) {
	send(ch, backupEveryDesc, b.schedule.Every().Seconds())
	failed := 0.0
	if b.standing.Failed != nil {
		failed = 1
	}
	send(ch, backupFailedDesc, failed)
	if good := b.standing.Good; good != nil {
		send(ch, backupGoodDesc, float64(good.At.Unix()))
		send(ch, backupBytesDesc, float64(good.Bytes))
	}
}

func collectLoad(ch chan<- prometheus.Metric, l load) {
	send(ch, longDesc, float64(l.workload.LongQueue))
	send(ch, refuseDesc, float64(l.workload.RefuseAt))
	for _, p := range l.pools {
		send(ch, limitDesc, float64(p.Max), p.Name)
		send(ch, placesDesc, float64(p.Held), p.Name)
		send(ch, standingDesc, float64(p.Standing), p.Name)
	}
}

func send(ch chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

// collectCensus sends a zero where there is nothing: a rule about a number that is missing never fires.
func collectCensus(ch chan<- prometheus.Metric, c store.Census) {
	for _, desk := range countersign.Desks {
		oldest := 0.0
		if since, ok := c.QueuedSince[desk]; ok {
			oldest = max(c.At.Sub(since).Seconds(), 0)
		}
		send(ch, oldestDesc, oldest, string(desk))
		for _, status := range countersign.Statuses {
			if status != countersign.Closed {
				send(ch, casesDesc, float64(c.Cases[desk][status]), string(desk), string(status))
			}
		}
		due := c.Due[desk]
		for word, n := range map[string]int64{"overdue": due.Overdue, "24h": due.Day, "48h": due.TwoDays, "later": due.Later, "unknown": due.Unknown} {
			send(ch, dueDesc, float64(n), string(desk), word)
		}
	}
	send(ch, heldDesc, float64(c.Held))
	send(ch, lapsedDesc, float64(c.Lapsed))
	send(ch, unattendedDesc, float64(c.Unattended))
}

func collectRecord(ch chan<- prometheus.Metric, r store.RecordStanding) {
	send(ch, rowsDesc, float64(r.Rows))
	if r.Verified == nil {
		send(ch, unverifiedDesc, float64(r.Rows))
		return
	}
	send(ch, verifiedDesc, float64(r.Verified.At.Unix()))
	send(ch, unverifiedDesc, max(float64(r.Rows-r.Verified.Rows), 0))
	intact := 0.0
	if r.Verified.OK {
		intact = 1
	}
	send(ch, intactDesc, intact)
}
