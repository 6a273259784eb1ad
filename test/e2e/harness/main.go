// Package harness runs the whole program and its peers for end-to-end tests: sidecars, trace backends, Prometheus and readers.
package harness

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
)

// plainMain is the program "plain LISTEN UPSTREAM": a plain reverse proxy to compare with.
func plainMain() {
	upstream, err := url.Parse("http://" + os.Args[2])
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }, FlushInterval: -1})
	mux.HandleFunc("/goroutines", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, runtime.NumGoroutine()) })
	panic(http.ListenAndServe(os.Args[1], mux))
}

// fetchMain is the program "fetch [-until PATTERN] METHOD URL [FILE]". It sends the file and prints the body of the response and, on
// standard error, its status. It fails without a complete response or with a status other than 2xx. With a pattern it repeats the
// request until the status or the body matches.
func fetchMain() {
	flags := flag.NewFlagSet("fetch", flag.ExitOnError)
	until := flags.String("until", "", "")
	_ = flags.Parse(os.Args[1:])
	insist, wanted := Retry, *until
	if wanted == "" {
		insist, wanted = func(try func() error) error { return try() }, "^2"
	}
	var status, body string
	err := insist(func() (err error) {
		status, body, err = Request(flags.Arg(0), flags.Arg(1), flags.Arg(2))
		if err == nil && !regexp.MustCompile(wanted).MatchString(status+"\n"+body) {
			err = fmt.Errorf("no %s in the answer", wanted)
		}
		return err
	})
	fmt.Print(body)
	fmt.Fprintln(os.Stderr, status)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Main runs the tests of a package. It lets the test binary act as the programs that tests start: delegraph itself, scripted
// agents and other peers.
func Main(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"delegraph": command.Main, "fake-agent": fakeagent.Main, "run-agent": fakeagent.RunMain,
		"fetch": fetchMain, "plain": plainMain, "receiver": receiverMain,
	})
}
