package sidecar

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/internal/terminal"
)

// Notice says what a service does. It is written as a line to a terminal, else as a log message.
type Notice struct {
	Label, Text string // of a line such as "page      http://127.0.0.1:10477/"; without Text there is no line
	Message     string // of the log; "" if another message already says the same
	Attributes  []any
}

// notifier writes notices to a terminal, or to the log.
type notifier struct {
	terminal io.Writer // nil if standard error is not a terminal
	logger   *slog.Logger
}

// newNotifier returns a notifier that writes to lines if stderr is a terminal, and to the log otherwise. lines
// writes to stderr and never blocks.
func newNotifier(stderr, lines io.Writer, logger *slog.Logger) notifier {
	if _, isTerminal := terminal.Columns(stderr); isTerminal {
		return notifier{lines, logger}
	}
	return notifier{nil, logger}
}

func (n notifier) notify(notices ...Notice) {
	for _, notice := range notices {
		switch {
		case n.terminal == nil && notice.Message != "":
			n.logger.Info(notice.Message, notice.Attributes...)
		case n.terminal != nil && notice.Text != "":
			fmt.Fprintf(n.terminal, "%-9s %s\n", notice.Label, notice.Text)
		}
	}
}

// pageNotice names the address of the admin server's page. It returns none if the system chooses the
// port, which is not known yet.
func pageNotice(address, webConfig string) []Notice {
	host, number, err := net.SplitHostPort(address)
	if err != nil || number == "0" {
		return nil
	}
	if host == "" || net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	return []Notice{{Label: "page", Text: webURL(net.JoinHostPort(host, number), webConfig) + "/"}}
}

// webURL returns the URL of a server. If there is a web configuration, it returns only the address, because the
// configuration may turn TLS on and is read only by the web toolkit.
func webURL(address, webConfig string) string {
	if webConfig != "" {
		return address
	}
	return "http://" + address
}

// drainingNotice says what the process waits for after a signal.
func drainingNotice(open int, atMost time.Duration) Notice {
	n := Notice{Message: "draining; another signal stops at once", Attributes: []any{"open_requests", open, "at_most", atMost}}
	if open > 0 {
		n.Label, n.Text = "draining", fmt.Sprintf("%s, up to %.0f s; press Ctrl-C again to stop now", terminal.Count(open, "request"), atMost.Seconds())
	}
	return n
}

// Starting returns the addresses that clients use instead of the agents', and where traces and the external stream go.
func (s *Sidecar) Starting() (notices []Notice) {
	for _, of := range s.Sources.All() {
		notices = append(notices, sourceNotice(of))
	}
	notices = append(notices, s.tracesTo)
	if s.external != nil {
		notices = append(notices, s.external.notice())
	}
	return notices
}

func sourceNotice(of recent.Source) Notice {
	if of.Address == "" {
		return Notice{Label: "source", Text: of.Name + ": reads " + of.Agent}
	}
	return Notice{Label: "source", Text: fmt.Sprintf("%s: use %s instead of %s", of.Name, of.Address, of.Agent)}
}

// clientURL returns the URL at which clients on this machine reach a listener.
func clientURL(address string) string {
	host, number, err := net.SplitHostPort(address)
	if err == nil && net.ParseIP(host).IsUnspecified() {
		address = net.JoinHostPort("localhost", number)
	}
	return "http://" + address
}

// withoutSecrets returns a URL without user, path and query.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// notice says where the external stream is served, and under which policy.
func (e *external) notice() Notice {
	if e.listener == nil {
		return Notice{Label: "stream", Text: "published to NATS JetStream, policy " + e.policy}
	}
	return Notice{Label: "stream", Text: webURL(e.listener.Addr().String(), e.webConfig) + "/events, policy " + e.policy}
}

// tracesNotice says where spans go, and how they are sampled.
func tracesNotice(env spans.Environment) Notice {
	if env.Disabled() {
		return Notice{"traces", "nowhere: OTEL_TRACES_EXPORTER or OTEL_SDK_DISABLED turns them off", "traces", []any{"to", "nowhere"}}
	}
	to := env.Backend()
	sampler, argument := env.Sampler()
	text := fmt.Sprintf("sent to %s, sampled by %s", to, sampler)
	attributes := []any{"to", to, "sampler", sampler}
	if argument != "" {
		text += " " + argument
		attributes = append(attributes, "argument", argument)
	}
	return Notice{"traces", text, "traces", attributes}
}

// OpenRequests returns the number of requests that a stop waits for.
func (s *Sidecar) OpenRequests() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Concat(s.proxies, s.draining) {
		n += int(p.open.Load())
	}
	return n
}

// DrainTime returns how long a stop waits for open requests.
func (s *Sidecar) DrainTime() time.Duration { return time.Duration(gracefulPart * float64(s.Grace)) }

// Stopped says what was delivered and what was lost.
func (s *Sidecar) Stopped() Notice {
	counted := totals(s.Registry)
	counted[runsEnded] += 0 // a metric with labels has no series before the first run
	return stoppedNotice(counted, int(s.cutRequests.Load()))
}

// stoppedNotice sums up the counters of the metrics, and adds the requests that were cut off.
func stoppedNotice(counted map[string]float64, cut int) Notice {
	counted[requestsCutOff] = float64(cut)
	var parts []string
	var attributes []any
	for _, part := range []struct {
		name, unit, what string
		always           bool // show zero too
	}{
		{runsEnded, "run", "", true},
		{"delegraph_spans_exported_total", "span", " delivered", false},
		{"delegraph_spans_dropped_total", "span", " lost", true},
		{"delegraph_stream_frames_sent_total", "frame", " sent to readers", false},
		{"delegraph_stream_frames_dropped_total", "frame", " not in the external stream", false},
		{"delegraph_stream_store_published_total", "frame", " published", false},
		{"delegraph_stream_store_dropped_total", "frame", " not published", false},
		{"delegraph_log_lines_dropped_total", "log line", " lost", false},
		{requestsCutOff, "request", " cut off", false},
	} {
		n, known := counted[part.name]
		if !known {
			continue
		}
		attributes = append(attributes, strings.TrimSuffix(strings.TrimPrefix(part.name, "delegraph_"), "_total"), int(n))
		if n > 0 || part.always {
			parts = append(parts, terminal.Count(int(n), part.unit)+part.what)
		}
	}
	return Notice{"stopped", strings.Join(parts, ", "), "stopped", attributes}
}

const runsEnded = "delegraph_runs_ended_total"

// requestsCutOff names the number of requests that a stop cut off. It is not a metric, because no scrape would
// see it.
const requestsCutOff = "requests_cut_off"

// totals returns the sum of all series of each counter and gauge.
func totals(registry prometheus.Gatherer) map[string]float64 {
	sums := map[string]float64{}
	families, _ := registry.Gather() // what was gathered is right even if there is an error
	for _, family := range families {
		for _, m := range family.GetMetric() {
			sums[family.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sums
}
