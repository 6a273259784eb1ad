package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// listeningProxy is a proxy with its port.
type listeningProxy struct {
	*source.Proxy
	server   *http.Server
	listener net.Listener
}

// addSource prepares a source of either kind. Proxies' ports are opened at once.
func (s *sidecar) addSource(configured config.Source, pipeline *collector.Collector) error {
	if configured.Tail != nil {
		s.addTail(configured, pipeline)
		return nil
	}
	return s.addProxy(configured, pipeline)
}

// reserve begins a source's series, and returns its dialect, "" to find out.
func (s *sidecar) reserve(configured config.Source) string {
	dialect, dialects := configured.Dialect, []string{configured.Dialect}
	if dialect == config.DialectAuto {
		dialect, dialects = "", dialectNames()
	}
	s.metrics.Reserve(configured.Name, dialects, configured.AgentsAsTools)
	return dialect
}

func (s *sidecar) addProxy(configured config.Source, pipeline *collector.Collector) error {
	upstream, err := url.Parse(configured.Proxy.Upstream)
	if err != nil {
		return fmt.Errorf("source %s: upstream: %w", configured.Name, err)
	}
	listener, err := net.Listen("tcp", configured.Proxy.Listen)
	if err != nil {
		return fmt.Errorf("source %s: %w", configured.Name, err)
	}
	dialect := s.reserve(configured)
	proxy := source.NewProxy(source.ProxySettings{
		Name: configured.Name, Upstream: upstream, Paths: configured.Proxy.Paths, Dialect: dialect,
		BodyLimit: int(s.config.Limits.RequestBody), JSONDepth: s.config.Limits.JSONDepth,
		QueueLimit: int(s.config.Limits.ObserveQueue), FrameLimit: int(s.config.Limits.Frame),
		Judge: s.judge(configured), Named: s.named(),
	}, pipeline, collector.Dialects(), s.tracing, s.metrics, s.logger, time.Now)
	s.proxies = append(s.proxies, &listeningProxy{
		Proxy:    proxy,
		listener: listener,
		// No write timeout: an answer lasts as long as its agent speaks.
		server: &http.Server{
			Handler: proxy, ReadHeaderTimeout: 30 * time.Second, ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
			DisableGeneralOptionsHandler: true, // "OPTIONS *" is the agent's to answer
		},
	})
	s.logger.Info("listening", "name", configured.Name, "address", listener.Addr().String(), "upstream", upstream.Host, "relay", configured.Relay)
	return nil
}

// judge makes the judges of a source's relay; nil where every byte is relayed.
func (s *sidecar) judge(configured config.Source) func() source.Judge {
	if configured.Relay == config.RelayVerbatim {
		s.logger.Warn("verbatim relay: clients of this source get its internal events too", "name", configured.Name)
		return nil
	}
	settings := filter.Settings{Policy: event.Policy(configured.Policy)}
	if configured.Policy == config.PolicyClient {
		settings.Thoughts = event.ThoughtsDetailed // the protocol's own client gets what the protocol sends it
	}
	return func() source.Judge { return filter.NewRelay(settings, s.metrics) }
}

// addTail prepares a subscription: one stream, or one for each session that a proxied request names.
func (s *sidecar) addTail(configured config.Source, pipeline *collector.Collector) {
	tail := source.NewTail(source.TailSettings{
		Name: configured.Name, URL: configured.Tail.URL, Session: config.TailSession, Headers: headers(configured.Tail.Headers),
		Dialect: s.reserve(configured), MaxSessions: configured.Tail.MaxSessions, Idle: configured.Tail.IdleTimeout,
	}, pipeline, s.metrics, s.logger, time.Now)
	if tail.PerSession() {
		s.sessions = append(s.sessions, source.NewSessions(tail))
	} else {
		s.tails = append(s.tails, tail)
	}
	s.logger.Info("subscribing", "name", configured.Name, "each_session", tail.PerSession())
}

// headers reads the files among them at each use: secrets are rotated.
func headers(configured map[string]config.Header) map[string]func() (string, error) {
	out := make(map[string]func() (string, error), len(configured))
	for name, h := range configured {
		out[name] = func() (string, error) {
			if h.File == "" {
				return h.Value, nil
			}
			content, err := os.ReadFile(h.File)
			return strings.TrimSpace(string(content)), err
		}
	}
	return out
}

// named opens a session's streams; nil where no tail reads by session. The tails may be added after the proxy that is told.
func (s *sidecar) named() func(session string) {
	for _, configured := range s.config.Sources {
		if configured.Tail != nil && strings.Contains(configured.Tail.URL, config.TailSession) {
			return func(session string) {
				for _, t := range s.sessions {
					t.Open(session)
				}
			}
		}
	}
	return nil
}
