package dialecttest

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// request is the request that a capture answers.
type request struct {
	target string // "METHOD /path?query", or ""
	body   []byte
}

// readRequest reads the request of a capture. It returns nil if none was recorded.
func readRequest(t testing.TB, base string) *request {
	t.Helper()
	body, noBody := os.ReadFile(base + ".request.json")
	target, noTarget := os.ReadFile(base + ".target")
	if noBody != nil && noTarget != nil {
		return nil
	}
	return &request{strings.TrimSpace(string(target)), body}
}

// toDialect returns the request as a dialect gets it, with own parsed as its body.
func (r request) toDialect(own []byte) (dialect.Request, error) {
	request := dialect.Request{Method: http.MethodPost, Path: "/", Header: http.Header{}}
	if r.target != "" {
		method, target, _ := strings.Cut(r.target, " ")
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return request, err
		}
		request.Method, request.Path, request.Query = method, u.Path, u.Query()
	}
	var doc strictjson.Doc
	if doc.Parse(own, maxDepth) == nil {
		request.Body = doc.Root()
	}
	return request, nil
}

// identify calls Identify, then overwrites the request's bytes and checks that the result stays the
// same.
func (r request) identify(d dialect.Dialect) (event.Identity, error) {
	own := slices.Clone(r.body)
	request, err := r.toDialect(own)
	if err != nil {
		return event.Identity{}, err
	}
	id := d.Identify(request)
	before := fmt.Sprintf("%+v", id)
	for i := range own {
		own[i] = '#'
	}
	if after := fmt.Sprintf("%+v", id); after != before {
		return id, fmt.Errorf("borrowed from the body: %s became %s", before, after)
	}
	return id, nil
}

// checkIdentify alters the bodies of run requests and the parts of their URLs.
func checkIdentify(d dialect.Dialect, requests []request) error {
	all := slices.Clone(requests)
	for _, body := range meaningless {
		all = append(all, request{body: []byte(body)})
	}
	for _, r := range requests {
		for _, changed := range jsonVariants(r.body) {
			all = append(all, request{r.target, changed})
		}
		for _, segment := range strings.FieldsFunc(r.target, func(c rune) bool { return strings.ContainsRune(" /?&=", c) })[min(1, len(r.target)):] {
			all = append(all, request{strings.Replace(r.target, segment, strings.Repeat("x", 1025), 1), r.body})
		}
	}
	for _, r := range all {
		id, err := r.identify(d)
		if err == nil && len(id.Answers) > maxAnswers {
			err = fmt.Errorf("%d answers, %d are allowed", len(id.Answers), maxAnswers)
		}
		for _, value := range append([]string{id.App, id.User, id.Session, id.AnsweredRun}, id.Answers...) {
			if err == nil && len(value) > maxString {
				err = fmt.Errorf("a name of %d bytes, %d are allowed", len(value), maxString)
			}
		}
		if err != nil {
			return fmt.Errorf("%w, in the request %s %s", err, shorten(r.target), shorten(string(r.body)))
		}
	}
	return nil
}
