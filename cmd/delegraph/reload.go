package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/delegraph/delegraph/config"
)

// service is a sidecar or a gateway.
type service interface {
	// run serves until the context is done, and returns when all is let go of.
	run(context.Context) error
	// configure takes over all of a configuration, or nothing.
	configure(config.Config) error
	// reloaded notes how that went.
	reloaded(ok bool, at time.Time)
	// logs takes how many log lines were dropped.
	logs(lost func() uint64)
	admin(reload func() error, profile bool) http.Handler
}

// reloading takes a configuration file over into a service that runs, when it is asked to and when the file changes.
type reloading struct {
	file   string
	car    service
	logger *slog.Logger

	mu    sync.Mutex
	tried fingerprint // when the configuration was last loaded, well or not
	seen  fingerprint // at the last poll
}

// fingerprint is what a file holds, or why it cannot be read.
type fingerprint [sha256.Size]byte

func fingerprintOf(data []byte, err error) fingerprint {
	if err != nil {
		return sha256.Sum256(fmt.Append([]byte("unreadable\x00"), err))
	}
	return sha256.Sum256(data)
}

// rereadable says whether a file says the same when it is read again: a pipe, as of a shell's <(…), is empty then, or never ends.
func rereadable(file string) bool {
	info, err := os.Stat(file)
	return err != nil || info.Mode().IsRegular() || info.IsDir()
}

// reload takes over what the file says, or keeps everything as it is.
func (r *reloading) reload() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take(r.read())
}

func (r *reloading) read() ([]byte, error) {
	if !rereadable(r.file) {
		return nil, fmt.Errorf("%s: this is no file that can be read again; name one by --config.file, and start delegraph anew", r.file)
	}
	return configured(r.file)
}

// poll reloads a file that has changed, if it says the same as at the poll before: half of it may be written yet. What a file says
// is looked at, and not the file itself, so that whatever it is a link to may be exchanged.
func (r *reloading) poll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := r.read()
	now := fingerprintOf(data, err)
	if settled := now == r.seen; settled && now != r.tried {
		_ = r.take(data, err) // it logs
	}
	r.seen = now
}

func (r *reloading) take(data []byte, err error) error {
	r.tried = fingerprintOf(data, err)
	var c config.Config
	if err == nil {
		c, err = config.Parse(r.file, data, known())
	}
	if err == nil {
		err = r.car.configure(c)
	}
	r.car.reloaded(err == nil, time.Now())
	if err != nil {
		r.logger.Error("reload failed; the configuration stays as it was", "err", err)
		return err
	}
	r.logger.Info("reloaded", "file", r.file)
	return nil
}

// watch polls at each tick until the context is done.
func (r *reloading) watch(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			r.poll()
		}
	}
}

// onHangup takes the signal over before it returns: unhandled, a hangup ends the process.
func onHangup(ctx context.Context, do func() error) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangup)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
				_ = do() // it logs
			}
		}
	}()
}
