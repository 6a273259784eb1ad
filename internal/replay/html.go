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

// maxPageRuns is the approximate size in memory of the runs that wait to be written to a page.
const maxPageRuns = 256 << 20

// htmlPage writes the runs of a replay as a page to a file at the end.
type htmlPage struct {
	*recent.Runs
	file string
}

// newHTMLPage returns a page that will be written to a file. It returns an error if the file exists and is no HTML
// page: a mistake such as --html *.sse must not overwrite a recording.
func newHTMLPage(file string) (*htmlPage, error) {
	opened, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--html: %w", err)
	default:
		defer opened.Close()
		about, err := opened.Stat()
		if err != nil || !about.Mode().IsRegular() {
			break // such as /dev/stdout
		}
		beginning, err := io.ReadAll(io.LimitReader(opened, int64(len(pageBeginning))))
		if err != nil {
			return nil, fmt.Errorf("--html: %w", err)
		}
		if about.Size() > 0 && !strings.EqualFold(string(beginning), pageBeginning) {
			return nil, fmt.Errorf("--html=%s: the file exists and is no HTML page; remove it, or give another name", file)
		}
	}
	return &htmlPage{recent.New(web.MaxExported, maxPageRuns), file}, nil
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
