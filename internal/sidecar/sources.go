package sidecar

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/settings"
)

// initMetrics creates, at zero, the series of a source that alerts use as divisors.
func (s *Sidecar) initMetrics(configured config.Source) {
	var dialects []string
	if configured.Dialect != config.DialectAuto {
		dialects = []string{configured.Dialect}
	}
	s.metrics.InitSource(configured.Name, dialects, configured.AgentsAsTools)
}

// dialectOf returns a source's dialect, or "" if it is to be detected.
func dialectOf(configured config.Source) string {
	if configured.Dialect == config.DialectAuto {
		return ""
	}
	return configured.Dialect
}

// newProxy prepares a proxy, which a port will serve. With reportSessions set, the proxy reports the sessions
// that requests name.
func (s *Sidecar) newProxy(configured config.Source, reportSessions bool) (*source.Proxy, error) {
	upstream, err := url.Parse(configured.Proxy.Upstream)
	if err != nil {
		return nil, fmt.Errorf("source %s: upstream: %w", configured.Name, err)
	}
	proxied := source.ProxySettings{
		Name: configured.Name, Agent: cmp.Or(configured.Agent, configured.Name), Upstream: upstream, Paths: configured.Proxy.Paths, Dialect: dialectOf(configured),
		BodyLimit: int(s.config.Limits.RequestBody), JSONDepth: s.config.Limits.JSONDepth,
		QueueLimit: int(s.config.Limits.ObserveQueue), FrameLimit: int(s.config.Limits.Frame),
		RewriteCards: configured.AgentCards != config.CardsVerbatim, Panics: s.panics, NewFilter: s.newFilter(configured),
		ObserveBudget: s.memory.observe, RequestBudget: s.memory.requests, StreamBudget: s.memory.streams, FrameMemory: s.memory.frames, ObserverSlots: s.memory.observers,
		Public:      configured.Relay == config.RelayFiltered && configured.Policy == config.PolicyPublic,
		PublicPaths: configured.Proxy.PublicPaths,
	}
	if reportSessions {
		proxied.OnSession = s.openSession
	}
	dialects := settings.Dialects(configured)
	return source.NewProxy(proxied, s.newCollector(dialects), dialects, s.tracing, upRecorder{s.metrics, s.Sources}, s.logger, time.Now), nil
}

// newFilter returns the function that makes the filters of a source's relay, or nil if the relay is verbatim.
func (s *Sidecar) newFilter(configured config.Source) func() source.Filter {
	if configured.Relay == config.RelayVerbatim {
		return nil
	}
	filtering := filter.Settings{Policy: event.Policy(configured.Policy), Panics: s.panics}
	if configured.Policy == config.PolicyClient {
		filtering.Thoughts = event.ThoughtsDetailed // the protocol's own client gets what the protocol sends it
	}
	return func() source.Filter { return filter.NewRelay(filtering, s.metrics) }
}

// announce logs that a proxy listens.
func (s *Sidecar) announce(configured config.Source, p *port) {
	if configured.Relay == config.RelayVerbatim {
		s.logger.Warn("verbatim relay: clients of this source get its internal events too", "name", configured.Name)
	}
	upstream, _ := url.Parse(configured.Proxy.Upstream) // newProxy has parsed it
	s.logger.Info("listening", "name", configured.Name, "address", p.listener.Addr().String(), "upstream", upstream.Host, "relay", configured.Relay)
}

// newTail prepares a subscription to a stream.
func (s *Sidecar) newTail(configured config.Source) *subscription {
	return newSubscription(configured, source.NewTail(source.TailSettings{
		Name: configured.Name, URL: configured.Tail.URL, SessionPlaceholder: config.TailSession, Headers: headers(configured.Tail.Headers),
		Dialect: dialectOf(configured), Agent: cmp.Or(configured.Agent, configured.Name), MaxSessions: configured.Tail.MaxSessions, IdleTimeout: configured.Tail.IdleTimeout, Memory: s.memory.streams,
		Panics: s.panics,
	}, s.newCollector(settings.Dialects(configured)), upRecorder{s.metrics, s.Sources}, s.logger, time.Now))
}

// perSession reports whether a source is a tail that reads one stream for each session.
func perSession(c config.Source) bool {
	return c.Tail != nil && strings.Contains(c.Tail.URL, config.TailSession)
}

// openSession opens a session's stream in each tail that reads one stream for each session.
func (s *Sidecar) openSession(session string) {
	for _, t := range *s.bySession.Load() {
		t.Open(session)
	}
}

// agentTools returns the tools that are agents, by source. It includes removed sources while one of their
// streams is open.
func (s *Sidecar) agentTools(c config.Config) map[string][]string {
	tools := map[string][]string{}
	for _, p := range slices.Concat(s.proxies, s.draining) {
		for _, g := range p.generations() {
			tools[g.name] = s.agentsAsTools[g.name]
		}
	}
	for _, configured := range c.Sources {
		tools[configured.Name] = configured.AgentsAsTools
	}
	return tools
}

// trackerSettings returns the settings of the tracker.
func (s *Sidecar) trackerSettings(c config.Config) tracker.Settings {
	tracking, agents := settings.Tracker(c, s.sample), s.agentsAsTools
	tracking.Memory, tracking.RunMemory = s.memory.content, s.memory.runs
	tracking.IsAgentTool = func(source, tool string) bool { return slices.Contains(agents[source], tool) }
	return tracking
}
