package source

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// expectation delays reading the body of a request whose client sends it only when asked ("Expect: 100-continue"). net/http asks
// the client when the body is first read, unless the answer has begun. The transport starts to read when the agent asks for the
// body. It also starts when the agent answers without asking. Its first read must then wait until the answer to the client has
// begun. Otherwise net/http would ask for a body for which the agent has not asked.
type expectation struct {
	once  sync.Once
	met   chan struct{} // closed when the body may be read
	until time.Time     // when the body may be read in any case
}

// expectTimeout is how long a client waits for an agent that neither asks nor answers. The transport waits equally long, but
// starts a little later.
var expectTimeout = http.DefaultTransport.(*http.Transport).ExpectContinueTimeout

// newExpectation returns the expectation of a request. It returns nil if the client does not wait: the body may be read at once.
func newExpectation(r *http.Request) *expectation {
	if r.ContentLength == 0 || !strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return nil
	}
	return &expectation{met: make(chan struct{}), until: time.Now().Add(expectTimeout)}
}

// meet allows reading the body, because the agent has asked for it or the client has the beginning of the answer.
func (e *expectation) meet() {
	if e != nil {
		e.once.Do(func() { close(e.met) })
	}
}

// wait blocks until the body may be read.
func (e *expectation) wait() {
	if e == nil {
		return
	}
	timeout := time.NewTimer(time.Until(e.until))
	defer timeout.Stop()
	select {
	case <-e.met:
	case <-timeout.C:
	}
}
