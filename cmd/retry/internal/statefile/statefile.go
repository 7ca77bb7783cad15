// Package statefile keeps in a file what runs share that come one after the other or side by side: until when no attempt is
// to be made, and the level of a strategy that has one.
package statefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-89b3229b/retry/throttle"
)

const (
	version = 1
	// farthest is how far ahead Until may lie: what is written by a clock that is wrong must not stop all runs for years.
	farthest = throttle.DefaultMaxCooldown
	// patience is how long the lock is waited for. It is held for a read and a write.
	patience = 10 * time.Second
)

// content is what the file holds.
type content struct {
	Version  int       `json:"version"`
	Until    time.Time `json:"until,omitzero"`
	Level    float64   `json:"level_ms"`
	Strategy string    `json:"strategy"`
	Failures int       `json:"failures"` // runs in a row that did not end well
}

// errBroken says that a file is not one of ours.
var errBroken = errors.New("is not a valid state")

// read reads a file; one that is not there is the zero content.
func read(path string) (c content, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return content{Version: version}, nil
	}
	if err != nil {
		return c, err
	}
	if json.Unmarshal(data, &c) != nil || c.Version != version || !(c.Level >= 0) || c.Level > float64(math.MaxInt64/time.Millisecond) || c.Failures < 0 {
		return content{Version: version}, errBroken
	}
	return c, nil
}

// write replaces the file in one step, so that a reader finds the old or the new one, and so does a machine that lost power.
func write(path string, c content) (err error) {
	data, _ := json.Marshal(c)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // for this user alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// update reads, changes and writes the file under the lock. change returns whether there is something to write. A file that is not
// valid is put aside.
func update(path string, change func(*content) bool) (broken bool, err error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s.lock is locked for too long", path)
		}
		return false, err
	}
	defer func() { _ = lock.Close() }()
	c, err := read(path)
	if errors.Is(err, errBroken) {
		broken, err = true, os.Rename(path, path+".broken")
	}
	if err != nil {
		return broken, err
	}
	if change(&c) {
		c.Version = version
		err = write(path, c)
	}
	return broken, err
}
