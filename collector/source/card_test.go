package source_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// passedCards maps cases of TestCards to the reason why the card passes unchanged.
var passedCards = map[string]string{
	"signed": source.CardSigned, "no JSON": source.CardUnreadable, "a duplicate member": source.CardUnreadable, "too large": source.CardTooLarge,
}

// TestCards checks that the proxy rewrites the agent's own URLs in agent cards, and no others. A card that passes unchanged although clients
// could bypass the proxy with it is counted each time and logged once.
func TestCards(t *testing.T) {
	const well = "/.well-known/agent-card.json"
	long := `"x":"` + strings.Repeat("x", 1<<20) + `"`
	for _, c := range []struct {
		name, path, header, card, want string // PORT stands for the agent's port; a want of "" is the unchanged card
		keep                           bool   // RewriteCards is off
	}{
		{"the agent's URL", well, "", `{"url":"http://127.0.0.1:PORT/base/a2a?x=1#y"}`, `{"url":"http://front.test:81/a2a?x=1#y"}`, false},
		{"another name of the host", well, "", `{"url":"http://localhost:PORT/base/"}`, `{"url":"http://front.test:81/"}`, false},
		{"the wildcard address", well, "", `{"url":"http://0.0.0.0:PORT/base"}`, `{"url":"http://front.test:81"}`, false},
		{"the wildcard address of IPv6", well, "", `{"url":"http://[::]:PORT/base/%2fx%20"}`, `{"url":"http://front.test:81/%2fx%20"}`, false},
		{"behind a proxy with TLS", well, "X-Forwarded-Proto: https", `{"url":"http://127.0.0.1:PORT/base/a"}`, `{"url":"https://front.test:81/a"}`, false},
		{"behind a proxy with another name", well, "X-Forwarded-Host: shop.test", `{"url":"http://127.0.0.1:PORT/base/a"}`, `{"url":"http://shop.test/a"}`, false},
		{"behind a proxy with an invalid host", well, "X-Forwarded-Host: shop.test/evil", `{"url":"http://127.0.0.1:PORT/base/a"}`, "", false},
		{"behind a proxy with quotes in the host", well, "X-Forwarded-Host: a\"b<>", `{"url":"http://127.0.0.1:PORT/base/a"}`, "", false},
		{"behind a proxy with a user in the host", well, "X-Forwarded-Host: evil@shop.test", `{"url":"http://127.0.0.1:PORT/base/a"}`, "", false},
		{"an extended card", "/v1/card", "", `{"url":"http://127.0.0.1:PORT/base/a"}`, `{"url":"http://front.test:81/a"}`, false},
		{"another path", "/cards", "", `{"url":"http://127.0.0.1:PORT/base/a"}`, "", false},
		{"not below the upstream", well, "", `{"url":"http://127.0.0.1:PORT/other"}`, "", false},
		{"beside the upstream", well, "", `{"url":"http://127.0.0.1:PORT/basement"}`, "", false},
		{"another port", well, "", `{"url":"http://127.0.0.1:1/base/a"}`, "", false},
		{"another host", well, "", `{"url":"http://agent.test:PORT/base/a"}`, "", false},
		{"a host with the same prefix", well, "", `{"url":"http://127.0.0.1.evil.test:PORT/base/a"}`, "", false},
		{"a user", well, "", `{"url":"http://u:p@127.0.0.1:PORT/base/a"}`, "", false},
		{"another scheme", well, "", `{"url":"grpc://127.0.0.1:PORT/base/a"}`, "", false},
		{"no URL", well, "", `{"url":"127.0.0.1:PORT"}`, "", false},
		{"signed", well, "", `{"url":"http://127.0.0.1:PORT/base/a","signatures":[{}]}`, "", false},
		{"no JSON", well, "", `<html>`, "", false},
		{"a duplicate member", well, "", `{"url":"http://127.0.0.1:PORT/base/a","url":""}`, "", false},
		{"too large", well, "", `{"url":"http://127.0.0.1:PORT/base/a",` + long + `}`, "", false},
		{"switched off", well, "", `{"url":"http://127.0.0.1:PORT/base/a"}`, "", true},
	} {
		for _, encoding := range []string{"", "gzip", "of known length"} {
			t.Run(c.name+" "+encoding, func(t *testing.T) {
				var card []byte
				agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("ETag", `"1"`)
					if encoding == "gzip" {
						w.Header().Set("Content-Encoding", "gzip")
						z := gzip.NewWriter(w)
						defer z.Close()
						_, _ = z.Write(card)
						return
					}
					if encoding != "" {
						w.Header().Set("Content-Length", strconv.Itoa(len(card)))
					}
					_, _ = w.Write(card)
				}))
				defer agent.Close()
				at, _ := url.Parse(agent.URL)
				card = []byte(strings.ReplaceAll(c.card, "PORT", at.Port()))
				at.Path = "/base"
				s := &proxyRecorder{}
				p := newProxy(t, s, at.String(), source.ProxySettings{RewriteCards: !c.keep, BodyLimit: 1 << 10, JSONDepth: 8, QueueLimit: 1 << 10, FrameLimit: 1 << 10})
				r := httptest.NewRequest(http.MethodGet, c.path, nil)
				r.Host = "front.test:81"
				if name, value, ok := strings.Cut(c.header, ": "); ok {
					r.Header.Set(name, value)
				}
				p.ServeHTTP(httptest.NewRecorder(), r.Clone(t.Context()))
				w := httptest.NewRecorder()
				p.ServeHTTP(w, r)
				reason, lines := passedCards[c.name], strings.Count(s.log.String(), "the agent card")
				if twice := []string{reason, reason}; reason != "" && (!slices.Equal(s.cards, twice) || lines != 1) || reason == "" && len(s.cards)+lines > 0 {
					t.Errorf("the cards counted as unchanged are %q, logged %d times", s.cards, lines)
				}
				got, changed := w.Body.Bytes(), c.want != ""
				if w.Header().Get("Content-Encoding") == "gzip" {
					if changed {
						t.Error("the header still has a Content-Encoding")
					}
					z, err := gzip.NewReader(bytes.NewReader(got))
					if err != nil {
						t.Fatal(err)
					}
					got, _ = io.ReadAll(z)
				}
				want := c.want
				if !changed {
					want = string(card)
				}
				if string(got) != want || w.Code != http.StatusOK || changed == (w.Header().Get("ETag") != "") || changed == (w.Header().Get("Vary") == "") {
					t.Errorf("the client gets %d %.200s with %v, want %.200s", w.Code, got, w.Header(), want)
				}
			})
		}
	}
}

// TestCardHeaders checks that the answer to HEAD does not describe bytes that GET replaces, and that a changed card keeps its trailers.
func TestCardHeaders(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Trailer", "X-Checked")
		_, _ = io.WriteString(w, `{"url":"http://`+r.Host+`/a"}`)
		w.Header().Set("X-Checked", "yes")
	}))
	defer agent.Close()
	p := newProxy(t, &proxyRecorder{}, agent.URL, source.ProxySettings{RewriteCards: true})
	client := http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		r, err := http.NewRequestWithContext(t.Context(), method, front(t, p, p)+"/.well-known/agent-card.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = strings.TrimPrefix(agent.URL, "http://")
		r.Header.Set("X-Forwarded-Host", "front.test")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.Header.Get("ETag") != "" || resp.ContentLength > 0 || !strings.Contains(resp.Header.Get("Vary"), "X-Forwarded-Host") {
			t.Errorf("%s: the headers are %v, with %d bytes announced", method, resp.Header, resp.ContentLength)
		}
		if method == http.MethodGet && (string(body) != `{"url":"http://front.test/a"}` || resp.Trailer.Get("X-Checked") != "yes") {
			t.Errorf("the card is %s, and the trailers are %v", body, resp.Trailer)
		}
	}
}
