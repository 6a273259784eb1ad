package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// patience limits Retry. Only a failing test waits so long.
const patience = 20 * time.Second

// Request sends an HTTP request, with the content of a file unless its name is empty, and returns the status line and body.
func Request(method, url, file string) (status, body string, err error) {
	var content []byte
	if file != "" {
		if content, err = os.ReadFile(file); err != nil {
			return "", "", err
		}
	}
	r, err := http.NewRequest(method, url, strings.NewReader(string(content)))
	if err != nil {
		return "", "", err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp.Status, string(got), err
}

// Retry calls a function until it returns no error, for at most 20 s. It returns the last error.
func Retry(try func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up after %s: %w", patience, err)
		case <-again.C:
		}
	}
}
