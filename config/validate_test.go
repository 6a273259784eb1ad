package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestValidate checks mistakes that are impractical in a file. The others are in testdata/invalid-*.yml.
func TestValidate(t *testing.T) {
	proxy := func(change func(*Proxy)) Config {
		return agent(func(c *Config) { change(c.Sources[0].Proxy) })
	}
	for _, test := range []struct {
		name   string
		config Config
		want   string
	}{
		{"valid", agent(nil), ""},
		{"default", Default(), "sources: there is no source; give at least one, with a name and a proxy or a tail"},
		{
			"empty source", agent(func(c *Config) { c.Sources[0] = defaultSource() }),
			`sources[0].name: missing; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"` + "\n" +
				"sources[0].proxy: missing; give a proxy with listen and upstream, or a tail with url",
		},
		{
			"no dialect, no relay", agent(func(c *Config) { c.Sources[0].Dialect, c.Sources[0].Relay = "", "" }),
			`sources[0].dialect: "" is not a known dialect; use one of auto, custom, adk, looopy` + "\n" +
				`sources[0].relay: "" is not a value of this key; use one of filtered, verbatim`,
		},
		{
			"no number", agent(func(c *Config) { c.Stream.ConfidenceFloor = math.NaN() }),
			"stream.confidence_floor: NaN is out of bounds; give a value from 0 to 1",
		},
		{
			"placeholders in queries", agent(func(c *Config) {
				c.Web.TraceURL = "http://127.0.0.1:16686?trace={trace_id}"
				tail := defaultTail()
				tail.URL = "http://127.0.0.1:3000?session={session}"
				c.Sources[0].Proxy, c.Sources[0].Tail = nil, &tail
			}), "",
		},
		{
			"many paths", proxy(func(p *Proxy) { p.Paths = slices.Repeat([]string{"/a"}, 101) }),
			"sources[0].proxy.paths: 101 items are too many; give at most 100",
		},
		{
			"long path", proxy(func(p *Proxy) { p.Paths = []string{"/" + strings.Repeat("a", maxPath)} }),
			`sources[0].proxy.paths[0]: "/` + strings.Repeat("a", 59) + `" is not a glob; use *, ? and [a-z]; put \ before one that stands for itself`,
		},
		{
			"public paths for clients", proxy(func(p *Proxy) { p.PublicPaths = []string{"/list-apps"} }),
			"sources[0].proxy.public_paths: it is for the policy public of a filtered relay only; use policy: public, or leave it out: every path is let out",
		},
		{
			"public paths that no request has", agent(func(c *Config) {
				c.Sources[0].Policy = PolicyPublic
				c.Sources[0].Proxy.PublicPaths = []string{"/", "/apps/", "/apps/*", "/a?x", "//a", "/a/../b", "/a%2fb", "/a;b"}
			}),
			publicPath(4, "//a") + "\n" + publicPath(5, "/a/../b") + "\n" + publicPath(6, "/a%2fb") + "\n" + publicPath(7, "/a;b"),
		},
		{
			"a circle", agent(func(c *Config) {
				c.Sources = nil
				for _, to := range []string{"1>2", "2>3", "3>2", "4>5"} {
					s := defaultSource()
					s.Name = "s" + to[:1]
					s.Proxy = &Proxy{Listen: "127.0.0.1:900" + to[:1], Upstream: "http://127.0.0.1:900" + to[2:]}
					c.Sources = append(c.Sources, s)
				}
			}),
			"sources[1].proxy.upstream: requests come back to this proxy; give the URL of the agent behind it, not of a proxy before it",
		},
		{
			"public and verbatim", agent(func(c *Config) { c.Sources[0].Policy, c.Sources[0].Relay = PolicyPublic, RelayVerbatim }),
			"sources[0].relay: a verbatim relay lets everything out, whatever the policy; use relay: filtered, or leave policy out",
		},
		{
			"public paths", agent(func(c *Config) {
				c.Sources[0].Policy, c.Sources[0].Proxy.PublicPaths = PolicyPublic, []string{"/apps/*"}
			}), "",
		},
		{
			"many agents", agent(func(c *Config) { c.Sources[0].AgentsAsTools = slices.Repeat([]string{"a"}, 1001) }),
			"sources[0].agents_as_tools: 1001 items are too many; give at most 1000",
		},
		{
			"long name of an agent", agent(func(c *Config) { c.Sources[0].Agent = strings.Repeat("a", 257) }),
			`sources[0].agent: "` + strings.Repeat("a", 60) + `" is not the name of an agent; give at most 256 bytes of printable text`,
		},
		{
			"long agent", agent(func(c *Config) { c.Sources[0].AgentsAsTools = []string{strings.Repeat("a", 257)} }),
			`sources[0].agents_as_tools[0]: "` + strings.Repeat("a", 60) + `" is not the name of a tool; give 1 to 256 bytes of printable text`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := test.config.Validate(known); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("Validate() =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestListenersWithoutConflict checks addresses on which two sources may listen.
func TestListenersWithoutConflict(t *testing.T) {
	for _, listen := range [][]string{
		{":8080", ":8081"},
		{"127.0.0.1:8080", "127.0.0.2:8080"},
		{"127.0.0.1:0", "127.0.0.1:0"},
		{"[::1]:8080", "127.0.0.1:8080"},
		{"localhost:8080", "agent.example.org:8080"},
		{"[fe80::1%eth0]:8080", "[fe80::1%eth1]:8080"},
	} {
		config := agent(func(c *Config) {
			c.Sources = nil
			for i, address := range listen {
				source := defaultSource()
				source.Name = fmt.Sprint(i)
				source.Proxy = &Proxy{Listen: address, Upstream: "http://127.0.0.1:8000"}
				c.Sources = append(c.Sources, source)
			}
		})
		if err := config.Validate(known); err != nil {
			t.Errorf("Validate() = %v for the listeners %q, want no error", err, listen)
		}
	}
}

// TestUpstreams checks which upstreams are valid and are not the proxy itself.
func TestUpstreams(t *testing.T) {
	for _, test := range []struct {
		listen, upstream string
		valid            bool
	}{
		{":8080", "http://agent:8080", true}, // the same port number on another machine
		{":8080", "https://[2001:db8::1]:8080/base", true},
		{":8080", "HTTP://Agent.Example.org", true},
		{"127.0.0.1:8080", "http://127.0.0.2:8080", true},
		{":80", "http://127.0.0.1:443", true},
		{":80", "http://127.0.0.1", false},
		{":443", "https://localhost", false},
		{":8080", "http://[::1]:8080", false},
		{":8080", "http://0.0.0.0:8080", false},
		{"127.0.0.1:8080", "http://0.0.0.0:8080", false},
		{"agent:8080", "http://agent:8080", false},
		{":8080", "http://127.0.0.1:", false},
		{":8080", "http://127.0.0.1:0", false},
		{":8080", "http://a*b", false},
		{":8080", "http://127.0.0.1:8000/?", false},
		{":8080", "http://127.0.0.1:8000/#", false},
		{":8080", "http:agent", false},
		{":8080", "http://@127.0.0.1:8000", false},
		{":8080", " http://127.0.0.1:8000", false},
	} {
		config := agent(func(c *Config) { *c.Sources[0].Proxy = Proxy{Listen: test.listen, Upstream: test.upstream} })
		if err := config.Validate(known); (err == nil) != test.valid {
			t.Errorf("Validate() = %v for the listener %q and the upstream %q", err, test.listen, test.upstream)
		}
	}
}

// TestInvalidUpstreamIsNotPrinted checks that an error does not contain the credentials of a URL.
func TestInvalidUpstreamIsNotPrinted(t *testing.T) {
	for _, upstream := range []string{
		"http://reader:secret@agent", "http://reader:secret@agent:x", "reader:secret@agent",
		"ftp://reader:secret@agent", "http://reader:secret@:1#a",
	} {
		err := agent(func(c *Config) { c.Sources[0].Proxy.Upstream = upstream }).Validate(known)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Validate() = %v for the upstream %q, want an error without it", err, upstream)
		}
	}
}

func publicPath(at int, glob string) string {
	return fmt.Sprintf("sources[0].proxy.public_paths[%d]: %q matches nothing; write the path without //, dot segments, %%, ; and #: answers on other spellings are withheld", at, glob)
}
