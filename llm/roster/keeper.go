package roster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"countersign"
	"countersign/secret"
	"countersign/store"
)

// Keeper keeps rosters in the database, their keys sealed under the master key.
type Keeper struct {
	Store *store.Store
	Key   secret.Key
}

// Version is a roster that was kept.
type Version struct {
	Number int64
	Roster
	CreatedAt time.Time
	CreatedBy string
}

// place is what a connection's key is sealed for. Another name or another address is another place, where it does not open.
func place(c Connection) string {
	return fmt.Sprintf("key of the model connection %s at %s", c.Name, c.BaseURL)
}

// Latest is the roster in force; ok is false while nobody has kept one.
func (k Keeper) Latest(ctx context.Context) (v Version, ok bool, err error) {
	return k.Read(ctx, k.Store.View)
}

// Read is Latest as a transaction sees it.
func (k Keeper) Read(ctx context.Context, view store.View) (v Version, ok bool, err error) {
	row, ok, err := view.ModelSettings(ctx)
	if err != nil || !ok {
		return Version{}, false, err
	}
	v, err = k.open(row)
	return v, err == nil, err
}

// Versions are all of them, the one in force first, without keys.
func (k Keeper) Versions(ctx context.Context) (all []Version, err error) {
	rows, err := k.Store.AllModelSettings(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		row.Keys = nil
		v, err := k.open(row)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// open reads a row. A key that cannot be opened is the connection's misfortune and no error: the others work.
func (k Keeper) open(row store.ModelSettings) (Version, error) {
	e, err := Parse([]byte(row.JSON))
	if err != nil {
		return Version{}, fmt.Errorf("read version %d of the settings for models: %w", row.Version, err)
	}
	for i, c := range e.Connections {
		sealed := row.Keys[c.Name]
		if sealed == "" {
			continue
		}
		key, err := k.Key.Open(place(c), sealed)
		e.Connections[i].Key, e.Connections[i].Lost = Secret(key), err
	}
	return Version{row.Version, e.Roster, row.CreatedAt, row.CreatedBy}, nil
}

// Change makes the roster that is to be kept from the one in force, which is the zero Roster with the offline reviewer last while
// there is none.
type Change func(now Roster) (Entered, error)

// Apply is the change to what somebody entered as a whole.
func Apply(e Entered) Change { return func(Roster) (Entered, error) { return e, nil } }

// Put is the change of one connection, whose key is kept when none was entered.
func Put(c Connection, keyEntered bool) Change {
	return func(now Roster) (Entered, error) {
		e := whole(now.With(c))
		e.keyless[c.Name] = !keyEntered
		return e, nil
	}
}

// Remove is the change that forgets a connection and its key.
func Remove(name string) Change {
	return func(now Roster) (Entered, error) {
		if _, known := now.Connection(name); !known {
			return Entered{}, countersign.Errorf(countersign.NotFound, "there is no model connection %q", clip(name))
		}
		return whole(now.Without(name)), nil
	}
}

// Rule is a change of what is not a connection.
func Rule(rule func(*Roster)) Change {
	return func(now Roster) (Entered, error) {
		rule(&now)
		return whole(now), nil
	}
}

// whole keeps the key of every connection.
func whole(r Roster) Entered {
	e := Entered{r, map[string]bool{}}
	for _, c := range r.Connections {
		e.keyless[c.Name] = true
	}
	return e
}

// Save puts a change into force as a new version. Two changes at once are both made, one after the other.
func (k Keeper) Save(ctx context.Context, change Change, by countersign.Actor) (number int64, err error) {
	err = k.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SealUnder(ctx, k.Key.ID()); err != nil {
			return err
		}
		row, _, err := tx.ModelSettings(ctx)
		if err != nil {
			return err
		}
		now := Roster{Offline: true, Desks: map[countersign.DeskName][]string{}}
		if row.Version > 0 {
			v, err := k.open(row)
			if err != nil {
				return err
			}
			now = v.Roster
		}
		e, err := change(now)
		if err != nil {
			return err
		}
		kept, err := k.sealed(e, now, row.Keys)
		if err != nil {
			return err
		}
		kept.Version = row.Version
		if number, err = tx.AddModelSettings(ctx, kept, by); err != nil {
			return err
		}
		return limit(ctx, tx, now, e.Roster, by)
	})
	return number, err
}

// limit has what a connection says of cases at once hold on all machines together. A limit that is not changed here is left as it is:
// somebody may have set another in the workload.
func limit(ctx context.Context, tx *store.Tx, before, after Roster, by countersign.Actor) error {
	for _, c := range before.Connections {
		if _, still := after.Connection(c.Name); !still && c.MaxCases > 0 {
			if err := tx.LimitPool(ctx, store.ModelPool(c.Name), 0, by); err != nil {
				return err
			}
		}
	}
	for _, c := range after.Connections {
		if old, _ := before.Connection(c.Name); old.MaxCases != c.MaxCases {
			if err := tx.LimitPool(ctx, store.ModelPool(c.Name), int64(c.MaxCases), by); err != nil {
				return err
			}
		}
	}
	return nil
}

// sealed is a roster as it is kept: checked, and every key sealed for its place, or kept as it was sealed there.
func (k Keeper) sealed(e Entered, before Roster, keys map[string]string) (store.ModelSettings, error) {
	if err := e.Check(); err != nil {
		return store.ModelSettings{}, err
	}
	row := store.ModelSettings{Keys: map[string]string{}}
	for i, c := range e.Connections {
		at := fmt.Sprintf("connections[%d]", i)
		if err := openable(c, at); err != nil {
			return row, err
		}
		switch old, had := before.Connection(c.Name); {
		case !e.keyless[c.Name] && c.Key == "":
		case !e.keyless[c.Name]:
			row.Keys[c.Name] = k.Key.Seal(place(c), []byte(c.Key))
		case keys[c.Name] != "" && had && old.BaseURL != c.BaseURL:
			return row, wrong(at+".key", "is kept for %s, and the address of %s is another now; expected the key again, or an empty one for a server that wants none", old.BaseURL, c.Name)
		case keys[c.Name] != "":
			row.Keys[c.Name] = keys[c.Name]
		}
	}
	text, err := json.Marshal(e.Roster)
	row.JSON = string(text)
	return row, err
}
