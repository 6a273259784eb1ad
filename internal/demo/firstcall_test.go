package demo

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPathOf checks that the printed command calls the proxy, below the agent's own path, whatever URL the agent's card has.
func TestPathOf(t *testing.T) {
	for _, c := range []struct{ agent, address, want string }{
		{"http://127.0.0.1:8000", "http://agent.test/a2a/x", "/a2a/x"},
		{"http://127.0.0.1:8000/agents/one", "http://agent.test/agents/one", "/"},
		{"http://127.0.0.1:8000/agents/one", "http://agent.test/agents/one/rpc", "/rpc"},
		{"http://127.0.0.1:8000/agents/one", "http://agent.test/agents/oneself", "/agents/oneself"},
		{"http://127.0.0.1:8000", "@evil.test/x", "/"},
		{"http://127.0.0.1:8000", "evil.test", "/"},
		{"http://127.0.0.1:8000", ":", "/"},
		{"http://127.0.0.1:8000", "http://agent.test", "/"},
		{"http://127.0.0.1:8000", "http://agent.test/a[1-3]", "/a%5B1-3%5D"},
	} {
		if got := (prober{agent: c.agent}).pathOf(c.address); got != c.want {
			t.Errorf("the path of %s below %s is %s, want %s", c.address, c.agent, got, c.want)
		}
	}
}

// TestBrokenProbe checks that an agent that answers some requests, and closes the connection of others, does not count as silent.
func TestBrokenProbe(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
		http.NotFound(w, r)
	}))
	defer agent.Close()
	if found, err := findFirstCall(t.Context(), agent.URL); found != nil || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}
