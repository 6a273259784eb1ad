//go:build unix

package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// TestFaultTokenRevoked removes a token from the file while streams are open. The streams of that token end with a goodbye, also
// one that a ticket opened. Streams of another token continue. Sidecars and gateways behave alike.
func TestFaultTokenRevoked(t *testing.T) {
	for _, of := range []string{"serve", "gateway"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel() // it mostly waits
			const stays, leaves = "aaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbb"
			tokens, listen := filepath.Join(t.TempDir(), "tokens"), loopback.FreeAddress(t)
			grant(t, tokens, stays, leaves)
			authentication := fmt.Sprintf("listen: %q, authentication: {bearer_tokens_file: %q}", listen, tokens)
			configured := fmt.Sprintf("stream: {%s}\nsources: [{name: a, proxy: {listen: %q, upstream: \"http://%s\"}}]\n", authentication, loopback.FreeAddress(t), loopback.FreeAddress(t))
			if of == "gateway" {
				store := startStore(t)
				harness.Serve(t, fmt.Sprintf("stream: {listen: \"\", %s}\nsources: [{name: a, proxy: {listen: %q, upstream: \"http://%s\"}}]\n", store, loopback.FreeAddress(t), loopback.FreeAddress(t)), nil)
				configured = fmt.Sprintf("stream: {%s, %s}\n", authentication, store)
			}
			service := startCommand(t, of, configured)

			ticket := issued(t, listen, leaves)
			open := map[string]*http.Response{
				"stays": openStream(t, listen, "", stays), "leaves": openStream(t, listen, "", leaves), "by a ticket": openStream(t, listen, "?ticket="+ticket, ""),
			}
			begun := time.Now()
			grant(t, tokens, stays)
			if resp, err := http.Post(service.Admin+"/-/reload", "", nil); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp, err)
			}
			for _, name := range []string{"leaves", "by a ticket"} {
				if said, err := io.ReadAll(open[name].Body); err != nil || !strings.HasSuffix(string(said), ": revoked\n\n") {
					t.Errorf("%s: the stream ended with %q, %v", name, said, err)
				}
			}
			t.Logf("closed after %s", time.Since(begun).Round(time.Millisecond))
			if again := openStream(t, listen, "", leaves); again.StatusCode != http.StatusUnauthorized {
				t.Errorf("it comes back, and is answered %d", again.StatusCode)
			}
			if revoked, left := service.Count(t, "delegraph_stream_disconnects_total", "reason", "revoked"), service.Count(t, "delegraph_stream_subscribers"); revoked != 2 || left != 1 {
				t.Errorf("%v revoked, %v subscribers left", revoked, left)
			}
		})
	}
}

// grant puts a file of tokens in place.
func grant(t *testing.T, file string, tokens ...string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(file+".new", []byte(strings.Join(tokens, "\n")+"\n"), 0o600), os.Rename(file+".new", file)); err != nil {
		t.Fatal(err)
	}
}

// openStream subscribes. If the subscriber is admitted, it waits for the first line.
func openStream(t *testing.T, address, query, token string) *http.Response {
	t.Helper()
	var resp *http.Response
	harness.Await(t, func(context.Context) error { // a gateway may not have reached its store yet
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/events"+query, nil)
		if err != nil {
			return err
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err = (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
			resp.Body.Close()
			err = errors.New("not yet")
		}
		return err
	})
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode == http.StatusOK {
		if line, err := bufio.NewReaderSize(resp.Body, 16).ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
	}
	return resp
}

// issued returns a ticket for a token.
func issued(t *testing.T, address, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/tickets", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	_, after, _ := strings.Cut(string(body), `"ticket":"`)
	ticket, _, found := strings.Cut(after, `"`)
	if !found {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	return ticket
}
