package source_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// TestRequestTargets checks that the agent gets the request target byte for byte.
func TestRequestTargets(t *testing.T) {
	for _, base := range []string{"", "/base", "/base/", "/b%2Fse"} {
		var got string
		agent := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Method + " " + r.RequestURI }))
		agent.Config.DisableGeneralOptionsHandler = true
		agent.Start()
		p := newProxy(t, &proxyRecorder{}, agent.URL+base, source.ProxySettings{})
		address := httptest.NewUnstartedServer(p)
		address.Config.DisableGeneralOptionsHandler = true
		address.Start()
		below := strings.TrimSuffix(base, "/")
		for _, sent := range []string{
			"/", "/a{b|c}", "/a?x={|}&&=%zz;", "/a?", "/?", "/%7B%2f%41/%C3", "/a//b", "/../a/./", "/a\xff\xfe", "/a\"<>^`\\'()[]", "/a;b=c:d@e", "/a#b?c#d", "//", "//a%2Fb", "//a/b",
		} {
			if sendRaw(t, address.URL, "GET "+sent+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false); got != "GET "+below+sent {
				t.Errorf("upstream path %q: the agent gets %q, want %q", base, got, sent)
			}
		}
		for sent, want := range map[string]string{
			"http://a/x%2F?y={": "/x%2F?y={", "HTTPS://user@b:1//c": "//c", "http://a": "/", "http://a?x": "/?x", "http://a/b://c": "/b://c",
		} {
			if sendRaw(t, address.URL, "GET "+sent+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false); got != "GET "+below+want {
				t.Errorf("upstream path %q: for %s the agent gets %q, want %q", base, sent, got, want)
			}
		}
		if sendRaw(t, address.URL, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false); got != "OPTIONS *" {
			t.Errorf("upstream path %q: the agent gets %q", base, got)
		}
		for _, sent := range []string{"GET http:///a", "GET mailto:a", "CONNECT other:1"} {
			if said := sendRaw(t, address.URL, sent+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false); !strings.HasPrefix(said, "HTTP/1.1 400 ") {
				t.Errorf("the request %s is answered with %q", sent, said)
			}
		}
		address.Close()
		agent.Close()
	}
}

// TestForwarded checks the forwarding headers that the agent gets, with and without an outer proxy.
func TestForwarded(t *testing.T) {
	const host, us, outer = "Host: agent.test\r\n", "127.0.0.1", "203.0.113.7"
	for name, c := range map[string]struct {
		sent string
		want [4]string // For, Host, Proto, Forwarded
	}{
		"no proxy": {"", [4]string{us, "agent.test", "http", ""}},
		"an ingress": {
			"X-Forwarded-For: " + outer + "\r\nX-Forwarded-Host: www.test\r\nX-Forwarded-Proto: https\r\n",
			[4]string{outer + ", " + us, "www.test", "https", ""},
		},
		"an ingress with only a scheme": {"X-Forwarded-Proto: https\r\n", [4]string{us, "agent.test", "https", ""}},
		"two proxies": {
			"X-Forwarded-For: " + outer + "\r\nX-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Proto: http\r\n",
			[4]string{outer + ", 10.0.0.1, " + us, "agent.test", "https|http", ""},
		},
		"a proxy with Forwarded": {"Forwarded: for=" + outer + ";proto=https\r\n", [4]string{us, "", "", "for=" + outer + ";proto=https"}},
		"a hop-by-hop header":    {"Connection: X-Forwarded-Proto\r\nX-Forwarded-Proto: https\r\n", [4]string{us, "agent.test", "https", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got [4]string
			address, _ := startProxy(t, &proxyRecorder{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				for i, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"} {
					got[i] = strings.Join(r.Header.Values(name), "|")
				}
			}), 0)
			sendRaw(t, address, "GET / HTTP/1.1\r\nConnection: close\r\n"+host+c.sent+"\r\n", false)
			if got != c.want {
				t.Errorf("the agent gets %q, want %q", got, c.want)
			}
		})
	}
}

// TestRequestTrailers checks that the agent gets announced trailers.
func TestRequestTrailers(t *testing.T) {
	for _, begin := range []string{"POST /run_sse", "POST /other", "GET /other"} {
		for _, announced := range []string{"", "Trailer: X-Sum\r\n", "Trailer: X-Sum, X-Late, X-Never\r\n"} {
			var got http.Header
			address, _ := startProxy(t, &proxyRecorder{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				got = r.Trailer
			}), 0)
			sendRaw(t, address, begin+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"+announced+
				"\r\n2\r\n{}\r\n0\r\nX-Sum: 7\r\nX-Late: 8\r\nX-Late: 9\r\n\r\n", false)
			if !slices.Equal(got["X-Sum"], []string{"7"}) || !slices.Equal(got["X-Late"], []string{"8", "9"}) || len(got["X-Never"]) > 0 {
				t.Errorf("%s, announced %q: the agent gets %v", begin, announced, got)
			}
		}
	}
}

// TestAcceptedEncodings checks the Accept-Encoding header that the agent gets if streams are filtered.
func TestAcceptedEncodings(t *testing.T) {
	var got []string
	agent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Values("Accept-Encoding") }))
	defer agent.Close()
	p := newProxy(t, &proxyRecorder{}, agent.URL, source.ProxySettings{NewFilter: func() source.Filter { return passAll{} }})
	address := front(t, p, p)
	for _, c := range []struct {
		path, accept string
		accepted     []string
		want         []string
	}{
		{"/", "*/*", nil, nil},
		{"/", "*/*", []string{"gzip, deflate, br"}, []string{"gzip, deflate, br"}},
		{"/", "*/*", []string{"br", "GZip"}, []string{"br", "GZip"}},
		{"/", "text/event-stream", nil, nil},
		{"/", "a/b, Text/Event-Stream;q=1", []string{"br", "gzip"}, []string{"identity"}},
		{"/run_sse", "*/*", []string{"gzip"}, []string{"identity"}},
		{"/run_sse", "*/*", []string{"br", "zstd"}, []string{"identity"}},
		{"/run_sse", "*/*", nil, nil},
	} {
		sent := "GET " + c.path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept: " + c.accept + "\r\n"
		for _, line := range c.accepted {
			sent += "Accept-Encoding: " + line + "\r\n"
		}
		if sendRaw(t, address, sent+"\r\n", false); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: the agent gets %q, want %q", c.path, c.accepted, got, c.want)
		}
	}
}

// TestEncodingInSeveralLines checks unusual spellings of the Content-Encoding header.
func TestEncodingInSeveralLines(t *testing.T) {
	frame := fmt.Sprintf(frame, 1)
	for _, c := range []struct {
		named      []string
		zipped     bool
		unreadable bool
	}{
		{[]string{"identity", "gzip"}, true, false},
		{[]string{"", " GZIP"}, true, false},
		{[]string{"identity, x-gzip"}, true, false},
		{[]string{"identity", "identity"}, false, false},
		{[]string{"none"}, false, false},
		{[]string{"gzip", "br"}, true, true},
		{[]string{"gzip, gzip"}, true, true},
	} {
		sent := frame
		if c.zipped {
			sent = zipped(t, frame)
		}
		agent := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Encoding"] = c.named
			stream(w, sent)
		})
		s := &proxyRecorder{}
		address, wait := startProxy(t, s, agent, 0)
		if got := rawAnswer(t, address); got != sent {
			t.Errorf("%q, verbatim: the client gets %q", c.named, got)
		}
		if wait(); s.batches == 0 != c.unreadable || s.unobserved == 0 == c.unreadable {
			t.Errorf("%q: %d frames are observed, and %d bytes are not", c.named, s.batches, s.unobserved)
		}

		upstream := httptest.NewServer(agent)
		p := newProxy(t, &proxyRecorder{}, upstream.URL, source.ProxySettings{NewFilter: func() source.Filter { return passAll{} }})
		if got := rawAnswer(t, front(t, p, p)); got != frame != c.unreadable {
			t.Errorf("%q, filtered: the client gets %q", c.named, got)
		}
		upstream.Close()
	}
}
