package access

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how long a change of the file may go unseen.
const lookEvery = time.Second

// tokensFile has the tokens of a file as they were when it last made sense.
type tokensFile struct {
	path     string
	now      func() time.Time
	report   func(error)
	valid    atomic.Pointer[tokens]
	failures atomic.Uint64

	reading sync.Mutex // guards what follows
	looked  time.Time
	seen    fs.FileInfo // of the last reading, whether it made sense or not; nil: there was nothing to read
	failure string      // reported last, "" since it made sense
	unwise  error
}

// current gives the tokens, after a look at whether the file has changed. Nobody waits for another's look: a file system
// that hangs holds up one request, not all.
func (f *tokensFile) current() tokens {
	if f == nil {
		return nil
	}
	if f.reading.TryLock() {
		err := f.look()
		f.reading.Unlock()
		if err != nil && f.report != nil {
			f.report(err)
		}
	}
	return *f.valid.Load()
}

func (f *tokensFile) reload() error {
	f.reading.Lock()
	defer f.reading.Unlock()
	f.looked = f.now()
	return f.noted(f.read())
}

func (f *tokensFile) warning() error {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.unwise
}

// look reads the file if it has changed, and gives the error once.
func (f *tokensFile) look() error {
	now := f.now()
	if since := now.Sub(f.looked); since >= 0 && since < lookEvery {
		return nil
	}
	f.looked = now
	if info, err := os.Stat(f.path); err == nil && f.seen != nil && same(info, f.seen) {
		return nil
	}
	before := f.failure
	err := f.read()
	if err != nil && f.seen == nil && err.Error() == before {
		return nil // it is still not there
	}
	return f.noted(err)
}

func (f *tokensFile) noted(err error) error {
	f.failure = ""
	if err != nil {
		f.failure = err.Error()
		f.failures.Add(1)
	}
	return err
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

func (f *tokensFile) read() error {
	content, info, err := readRegular(f.path)
	f.seen = info
	if err != nil {
		return fmt.Errorf("read tokens: %w; authentication.bearer_tokens_file must name a file that delegraph can read", err)
	}
	if len(content) > maxFile {
		return fmt.Errorf("read tokens: %s is larger than %d bytes; delete tokens that nobody uses", f.path, maxFile)
	}
	parsed, err := parse(f.path, content)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	f.valid.Store(&parsed)
	f.unwise = unwise(f.path, info.Mode(), len(parsed))
	return nil
}

// readRegular gives up to one byte more than is allowed. It opens no pipe or device, which could have no end.
func readRegular(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	// Of the file that is read, which may have come after the one that was looked at.
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, nil, err
	}
	return content, info, nil
}

func unwise(path string, mode fs.FileMode, count int) error {
	var found []error
	if mode&0o077 != 0 {
		found = append(found, fmt.Errorf("%s has the mode %#o, which lets others than its owner at the tokens; "+
			"chmod 600 it, or give the secret's volume defaultMode 0400", path, mode.Perm()))
	}
	if count == 0 {
		found = append(found, fmt.Errorf("%s holds no token, so that nobody can show one; "+
			"write one made by: openssl rand -base64 24", path))
	}
	return errors.Join(found...)
}
