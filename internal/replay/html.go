package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/web"
	"github.com/delegraph/delegraph/internal/build"
)

// maxPageBytes is the maximum size in memory, approximately, of the runs that wait to be written to a page.
const maxPageBytes = 256 << 20

// htmlPage writes the runs of a replay as a page to a file at the end.
type htmlPage struct {
	*recent.Runs
	file string
}

// newHTMLPage returns a page that will be written to a file. It returns an error if the file exists and is no HTML
// page: a mistake such as --html *.sse must not overwrite a recording.
func newHTMLPage(file string) (*htmlPage, error) {
	about, err := os.Stat(file) // opening a named pipe would wait
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--html: %w", err)
	case about.IsDir():
		return nil, fmt.Errorf("--html=%s: this is a directory; give the name of a file", file)
	case about.Mode().IsRegular() && about.Size() > 0: // not /dev/stdout
		if err := checkIsPage(file); err != nil {
			return nil, err
		}
	}
	return &htmlPage{recent.New(web.MaxExported, maxPageBytes), file}, nil
}

// checkIsPage returns an error unless a file begins as a page does.
func checkIsPage(file string) error {
	opened, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	defer opened.Close()
	beginning, err := io.ReadAll(io.LimitReader(opened, int64(len(pageBeginning))))
	switch {
	case err != nil:
		return fmt.Errorf("--html: %w", err)
	case !strings.EqualFold(string(beginning), pageBeginning):
		return fmt.Errorf("--html=%s: the file exists and is no HTML page; remove it, or give another name", file)
	}
	return nil
}

const pageBeginning = "<!doctype html>"

// write writes the page. total is the number of all runs.
func (p *htmlPage) write(total int) error {
	var page bytes.Buffer
	if err := (web.Export{Runs: p.Runs, Total: total, Version: build.Version()}).Write(&page); err != nil {
		return fmt.Errorf("--html=%s: %w", p.file, err)
	}
	if err := os.WriteFile(p.file, page.Bytes(), 0o666); err != nil { // like a file that a shell redirects to
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}
