package stream

import (
	"cmp"
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

// maxURL bounds the URL in bytes, and with it the size of a selection.
const maxURL = 8 << 10

// serve checks a request and serves the stream if there is a slot for one more subscriber.
func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	params, err := parseParameters(r.URL)
	if err == nil && params.Has("shard") && r.PathValue("session") != "" {
		err = errors.New("the session determines the shard; omit the parameter shard")
	}
	if err == nil {
		err = h.checkFormat(params)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodHead {
		setHeaders(w.Header()) // do not use up a ticket for a HEAD request
		return
	}
	grant, err := h.settings.Authorize(r)
	if err != nil {
		h.settings.Observer.CountRefusal(Unauthorized, StatusResponse)
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "this stream needs a valid token: send it as Authorization: Bearer", http.StatusUnauthorized)
		return
	}
	if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
		http.Error(w, "the server cannot set a write deadline on this connection: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if admitted, within := h.admission.admit(time.Now()); !admitted {
		h.refuseUntil(w, r, ArrivalLimit, time.Second, time.Second+within)
		return
	}
	if why := h.slots.acquire(grant.Token); why != NotRefused {
		h.refuse(w, r, why)
		return
	}
	if !h.settings.Memory.Reserve(SubscriberSize) {
		h.slots.release(grant.Token)
		h.refuse(w, r, MemoryLimit)
		return
	}
	s := &subscriber{hub: h, grant: grant}
	detached := false
	defer func() {
		if !detached {
			s.release()
		}
	}()
	detached = s.subscribe(w, r, params)
}

// subscribe attaches a subscriber to the store and serves it until its stream ends. If the
// subscriber does not need the request's goroutine, it returns true at once.
func (s *subscriber) subscribe(w http.ResponseWriter, r *http.Request, params url.Values) (detached bool) {
	query := queryFor(params, r.PathValue("session"), s.grant)
	last := lastEventID(r.Header, params)
	at, why := s.hub.store.Attach(r.Context(), Request{Query: query, Shard: params.Get("shard"), LastEventID: last, Earlier: isConverted(params)})
	switch why {
	case NotRefused:
	case OtherShard, ShardRequired, UnknownShard:
		s.hub.redirect(w, r, at, why)
		return false
	default:
		s.hub.refuse(w, r, why)
		return false
	}
	s.attachment = at
	s.format = s.hub.transformer(s, params, r.PathValue("session"), last, &query)
	s.selection = replay.NewSelection(query)
	s.schedule(time.Now())
	opening := s.opening(last != "") // before hijack: after a panic, net/http closes only its own connections
	setHeaders(w.Header())
	if r.ProtoMajor == 1 && r.TLS == nil {
		if socket, head, err := hijack(w, r); err == nil {
			s.serveSocket(socket, append(head, opening...))
			return true
		}
	}
	// No chunked encoding, as WHATWG HTML 9.2.7 advises. The end of the connection ends the stream, and
	// each batch is one write to the socket. net/http consumes this value and does not send it. HTTP/2
	// has no chunks and ignores it.
	w.Header().Set("Transfer-Encoding", "identity")
	s.connection, s.isHTTP2, s.clientGone = response{w, http.NewResponseController(w)}, r.ProtoMajor >= 2, r.Context().Done()
	s.hub.settings.Observer.CountDisconnect(s.serve(opening))
	return false
}

func setHeaders(header http.Header) {
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	header.Set("X-Content-Type-Options", "nosniff")
}

// parameterNames lists the query parameters of a stream. Others are rejected, because a misspelled
// filter would select too much. Authorize reads the ticket.
var parameterNames = []string{"format", "kind", "lastEventId", "last_event_id", "run", "shard", "source", "ticket"}

// parseParameters validates the query parameters. Its errors are full sentences for the client.
func parseParameters(u *url.URL) (url.Values, error) {
	if len(u.Path)+len(u.RawQuery) > maxURL {
		return nil, fmt.Errorf("the URL is longer than %d bytes; use fewer parameters", maxURL)
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the query string is malformed; percent-encode its values and join them with &")
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(parameterNames, name) {
			return nil, fmt.Errorf("unknown query parameter %.40q; use one of %s; to select a session, use the path /events/SESSION", name, strings.Join(parameterNames, ", "))
		}
	}
	for _, name := range []string{"source", "run", "shard"} {
		if slices.Contains(params[name], "") {
			return nil, fmt.Errorf("%s has no value; set one or omit the parameter", name)
		}
	}
	for _, name := range params["kind"] {
		if _, known := event.ParseKind(name); !known {
			return nil, fmt.Errorf("kind must be one of %s", strings.Join(kindNames(), ", "))
		}
	}
	return params, nil
}

func kindNames() []string {
	var names []string
	for _, k := range event.Kinds() {
		names = append(names, k.String())
	}
	return names
}

// queryFor returns the query for the requested parameters, limited to what the grant allows. A
// session outside the grant looks the same as one that does not exist.
func queryFor(params url.Values, session string, grant Grant) replay.Query {
	q := replay.Query{Sources: params["source"], Runs: params["run"]}
	if grant.Sessions != nil { // a grant bound to sessions does not include frames without a session
		q.Sessions = slices.DeleteFunc(append([]string{}, grant.Sessions...), func(s string) bool { return s == "" })
	}
	if session != "" && (grant.Sessions == nil || slices.Contains(grant.Sessions, session)) {
		q.Sessions = []string{session}
	} else if session != "" {
		q.Sessions = []string{}
	}
	for _, name := range params["kind"] {
		k, _ := event.ParseKind(name) // parseParameters has checked it
		q.Kinds |= replay.KindsOf(k)
	}
	return q
}

// lastEventID returns the Last-Event-ID header, or else the query parameter for clients that cannot
// set headers.
func lastEventID(header http.Header, params url.Values) string {
	return cmp.Or(header.Get("Last-Event-ID"), params.Get("last_event_id"), params.Get("lastEventId"))
}

var refusalTexts = map[Refusal]string{
	SubscriberLimit: "too many subscribers; try again later",
	MemoryLimit:     "the server has no memory for another subscriber; try again later",
	TokenLimit:      "this token has too many open streams; close one",
	Draining:        "the server is shutting down; try again later",

	Unavailable: "the stream's store is not reachable yet; try again later",
	FeedLimit:   "too many sessions are being read; try again later",

	ArrivalLimit: "too many subscribers arrive at once; try again later",

	OtherShard:    "this gateway does not serve the session's shard; use one that does, or ask the operator to set the address of the shard's gateways (stream.jetstream.shards)",
	ShardRequired: "the sessions are in several shards; read one session at /events/SESSION, or all of one shard at /events?shard=NAME with one of ",
	UnknownShard:  "there is no such shard; use one of ",
}

// refuse tells the client to retry in a few seconds.
func (h *Hub) refuse(w http.ResponseWriter, r *http.Request, why Refusal) {
	h.refuseUntil(w, r, why, time.Second, 5*time.Second)
}

// refuseUntil tells the client to retry at a random moment between two durations from now. A browser's
// EventSource gives up permanently on any status other than 200, so browsers get an empty stream with
// a retry time instead. It is twice as long, because they retry for as long as the page is open.
func (h *Hub) refuseUntil(w http.ResponseWriter, r *http.Request, why Refusal, least, most time.Duration) {
	header := r.Header
	if strings.Contains(header.Get("Accept"), "text/event-stream") && (header.Get("Origin") != "" || header.Get("Sec-Fetch-Mode") != "") {
		h.settings.Observer.CountRefusal(why, RetryResponse)
		setHeaders(w.Header())
		_, _ = w.Write(sse.AppendRetry(nil, randomBetween(2*least, 2*most))) // the client may be gone
		return
	}
	h.settings.Observer.CountRefusal(why, StatusResponse)
	w.Header().Set("Retry-After", strconv.Itoa(int(randomBetween(least, most+time.Second-1)/time.Second)))
	http.Error(w, refusalTexts[why], http.StatusServiceUnavailable)
}

// randomBetween returns a random duration, so that clients disconnected together do not reconnect
// together.
func randomBetween(least, most time.Duration) time.Duration {
	return least + rand.N(most-least+1)
}
