package stream

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// maxURL bounds what a subscriber can ask for, and so what its selection costs.
const maxURL = 8 << 10

func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	params, err := parameters(r.URL)
	if err == nil {
		err = h.check(params)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodHead {
		setHeaders(w.Header()) // before a ticket is used up for nothing
		return
	}
	grant, err := h.settings.Authorize(r)
	if err != nil {
		h.settings.Observer.Refused(Unauthorized, AnswerStatus)
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "this stream needs a valid token: send it as Authorization: Bearer", http.StatusUnauthorized)
		return
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Time{}); err != nil {
		http.Error(w, "the server cannot bound its writes here: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if why := h.slots.take(grant.Token); why != NotRefused {
		h.refuse(w, r, why)
		return
	}
	defer h.slots.free(grant.Token)

	query := selected(params, r.PathValue("session"), grant)
	last := lastEventID(r.Header, params)
	place, why := h.store.Attach(r.Context(), query, last)
	if why != NotRefused {
		h.refuse(w, r, why)
		return
	}
	defer place.Release()
	s := &subscriber{hub: h, grant: grant, place: place, out: w, control: control}
	s.format = h.transformer(s, params, r.PathValue("session"), last, &query)
	s.selection = replay.Select(query)
	setHeaders(w.Header())
	// Not in chunks, as WHATWG HTML 9.2.7 advises: the stream ends with the connection, and a batch is one write to the socket.
	// It is a word to net/http and no header: HTTP/2, which has no chunks, leaves it out as well.
	w.Header().Set("Transfer-Encoding", "identity")
	h.settings.Observer.Disconnected(s.serve(r.Context(), last != ""))
}

func setHeaders(header http.Header) {
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	header.Set("X-Content-Type-Options", "nosniff")
}

// parameterNames lists the query parameters of a stream. Any other is refused: a misspelled one would select more than was asked for.
// The ticket is read by Authorize.
var parameterNames = []string{"format", "kind", "lastEventId", "last_event_id", "run", "source", "ticket"}

// parameters reads what an URL asks for. Errors are whole sentences for whoever sent it.
func parameters(u *url.URL) (url.Values, error) {
	if len(u.Path)+len(u.RawQuery) > maxURL {
		return nil, fmt.Errorf("the URL is longer than %d bytes: ask for less", maxURL)
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the query cannot be read: percent-encode its values and join them with &")
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(parameterNames, name) {
			return nil, fmt.Errorf("unknown query parameter %.40q; known are %s; a session is part of the path: /events/SESSION", name, strings.Join(parameterNames, ", "))
		}
	}
	for _, name := range []string{"source", "run"} {
		if slices.Contains(params[name], "") {
			return nil, fmt.Errorf("%s has no value: give it one or leave it out", name)
		}
	}
	for _, name := range params["kind"] {
		if _, ok := kindsByName[name]; !ok {
			return nil, fmt.Errorf("kind must be one of %s", strings.Join(kindNames(), ", "))
		}
	}
	return params, nil
}

var kindsByName = func() map[string]event.Kind {
	byName := map[string]event.Kind{}
	for _, k := range event.Kinds() {
		byName[k.String()] = k
	}
	return byName
}()

func kindNames() []string {
	var names []string
	for _, k := range event.Kinds() {
		names = append(names, k.String())
	}
	return names
}

// selected is what was asked for, as far as the grant goes. What is beyond it looks like what does not exist.
func selected(params url.Values, session string, grant Grant) replay.Query {
	q := replay.Query{Sources: params["source"], Runs: params["run"]}
	if grant.Sessions != nil { // frames without a session are in no grant that is bound to some
		q.Sessions = slices.DeleteFunc(append([]string{}, grant.Sessions...), func(s string) bool { return s == "" })
	}
	if session != "" && (grant.Sessions == nil || slices.Contains(grant.Sessions, session)) {
		q.Sessions = []string{session}
	} else if session != "" {
		q.Sessions = []string{}
	}
	for _, name := range params["kind"] {
		q.Kinds |= replay.KindsOf(kindsByName[name])
	}
	return q
}

// lastEventID is the header's, or that of a client which can set none.
func lastEventID(header http.Header, params url.Values) string {
	for _, id := range []string{header.Get("Last-Event-ID"), params.Get("last_event_id"), params.Get("lastEventId")} {
		if id != "" {
			return id
		}
	}
	return ""
}

var refusalTexts = map[Refusal]string{
	Full:      "there are as many subscribers as there may be: try again later",
	TokenFull: "this token has as many streams as it may have: close one",
	Draining:  "the server is stopping: try again later",

	Unavailable: "the store of the stream has not been reached: try again later",
	FeedsFull:   "as many sessions are read as may be at once: try again later",
}

// refuse asks to come back later. A browser's EventSource gives up for good on any status but 200.
func (h *Hub) refuse(w http.ResponseWriter, r *http.Request, why Refusal) {
	header := r.Header
	if strings.Contains(header.Get("Accept"), "text/event-stream") && (header.Get("Origin") != "" || header.Get("Sec-Fetch-Mode") != "") {
		h.settings.Observer.Refused(why, AnswerRetry)
		setHeaders(w.Header())
		_, _ = w.Write(sse.AppendRetry(nil, between(2*time.Second, 10*time.Second))) // it may have left
		return
	}
	h.settings.Observer.Refused(why, AnswerStatus)
	w.Header().Set("Retry-After", strconv.Itoa(1+rand.IntN(5)))
	http.Error(w, refusalTexts[why], http.StatusServiceUnavailable)
}

// between is a random time, so that those who are sent away together do not come back together.
func between(least, most time.Duration) time.Duration {
	return least + rand.N(most-least+1)
}
