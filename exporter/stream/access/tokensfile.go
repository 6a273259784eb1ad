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

// checkInterval is how often the file is checked for changes.
const checkInterval = time.Second

// tokensFile holds the tokens of a file as of its last valid content.
type tokensFile struct {
	path     string
	now      func() time.Time
	report   func(error)
	valid    atomic.Pointer[tokens]
	failures atomic.Uint64

	mu          sync.Mutex // guards the fields below
	checkedAt   time.Time
	lastInfo    fs.FileInfo // of the last read, valid or not; nil if nothing could be read
	lastFailure string      // text of the last error; "" if the last read succeeded
	lastWarning error
}

// current returns the tokens after checking whether the file has changed. Only one caller checks at
// a time and the others do not wait: a hanging file system blocks one request, not all.
func (f *tokensFile) current() tokens {
	if f == nil {
		return nil
	}
	if f.mu.TryLock() {
		err := f.check()
		f.mu.Unlock()
		if err != nil && f.report != nil {
			f.report(err)
		}
	}
	return *f.valid.Load()
}

func (f *tokensFile) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checkedAt = f.now()
	return f.record(f.read())
}

func (f *tokensFile) warning() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lastWarning
}

// check reads the file if it has changed. It returns each error once.
func (f *tokensFile) check() error {
	now := f.now()
	if since := now.Sub(f.checkedAt); since >= 0 && since < checkInterval {
		return nil
	}
	f.checkedAt = now
	if info, err := os.Stat(f.path); err == nil && f.lastInfo != nil && sameFile(info, f.lastInfo) {
		return nil
	}
	before := f.lastFailure
	err := f.read()
	if err != nil && f.lastInfo == nil && err.Error() == before {
		return nil // still unreadable for the same reason
	}
	return f.record(err)
}

func (f *tokensFile) record(err error) error {
	f.lastFailure = ""
	if err != nil {
		f.lastFailure = err.Error()
		f.failures.Add(1)
	}
	return err
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

func (f *tokensFile) read() error {
	content, info, err := readRegular(f.path)
	f.lastInfo = info
	if err != nil {
		return fmt.Errorf("read tokens: %w; authentication.bearer_tokens_file must name a file that delegraph can read", err)
	}
	if len(content) > maxFile {
		return fmt.Errorf("read tokens: %s is larger than %d bytes; delete unused tokens", f.path, maxFile)
	}
	parsed, err := parseTokens(f.path, content)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	f.valid.Store(&parsed)
	f.lastWarning = fileWarning(f.path, info.Mode(), len(parsed))
	return nil
}

// readRegular reads at most one byte more than maxFile. It does not open pipes and devices,
// which may never end.
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
	// The file may have been replaced since the first Stat.
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, nil, err
	}
	return content, info, nil
}

func fileWarning(path string, mode fs.FileMode, count int) error {
	var found []error
	if mode&0o077 != 0 {
		found = append(found, fmt.Errorf("%s has mode %#o, which gives users other than its owner access; "+
			"run chmod 600, or set defaultMode 0400 on the secret's volume", path, mode.Perm()))
	}
	if count == 0 {
		found = append(found, fmt.Errorf("%s contains no tokens, so every bearer token is rejected; "+
			"create one with: openssl rand -base64 24", path))
	}
	return errors.Join(found...)
}
