package source

import (
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestAddressReplacer checks that the agent's base path is removed from a URL, however the URL spells it.
func TestAddressReplacer(t *testing.T) {
	for _, c := range []struct{ upstream, address, want string }{
		{"http://agent.test/ü", "http://agent.test/ü/x?y=ü", "http://front.test/x?y=ü"},
		{"http://agent.test/ü", "http://agent.test/%C3%BC/x#y", "http://front.test/x#y"},
		{"http://agent.test/%C3%BC", "http://agent.test/ü", "http://front.test"},
		{"http://agent.test/a/b c/", "http://agent.test/a/b c/{id}", "http://front.test/{id}"},
		{"http://agent.test/a/b", "http://agent.test/a/b/?/c", "http://front.test/?/c"},
		{"http://agent.test/a/b", "http://agent.test/a/c", "http://agent.test/a/c"},
		{"http://agent.test", "http://agent.test", "http://front.test"},
		{"http://agent.test/", "http://agent.test/x//y", "http://front.test/x//y"},
	} {
		upstream, err := url.Parse(c.upstream)
		if err != nil {
			t.Fatal(err)
		}
		p := &Proxy{settings: ProxySettings{Upstream: upstream}}
		if got := p.addressReplacer(httptest.NewRequest("GET", "http://front.test/", nil))(c.address); got != c.want {
			t.Errorf("for %s, %s becomes %s, want %s", c.upstream, c.address, got, c.want)
		}
	}
}
