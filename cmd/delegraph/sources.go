package main

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
)

// reserve begins those of a source's series that must not begin at one.
func (s *sidecar) reserve(configured config.Source) {
	var dialects []string
	if configured.Dialect != config.DialectAuto {
		dialects = []string{configured.Dialect}
	}
	s.metrics.Reserve(configured.Name, dialects, configured.AgentsAsTools)
}

// chosen is a source's dialect, "" to find out.
func chosen(configured config.Source) string {
	if configured.Dialect == config.DialectAuto {
		return ""
	}
	return configured.Dialect
}

// newProxy prepares a proxy, for a port. With named it tells of the sessions that requests name.
func (s *sidecar) newProxy(configured config.Source, named bool) (*source.Proxy, error) {
	upstream, err := url.Parse(configured.Proxy.Upstream)
	if err != nil {
		return nil, fmt.Errorf("source %s: upstream: %w", configured.Name, err)
	}
	settings := source.ProxySettings{
		Name: configured.Name, Agent: cmp.Or(configured.Agent, configured.Name), Upstream: upstream, Paths: configured.Proxy.Paths, Dialect: chosen(configured),
		BodyLimit: int(s.config.Limits.RequestBody), JSONDepth: s.config.Limits.JSONDepth,
		QueueLimit: int(s.config.Limits.ObserveQueue), FrameLimit: int(s.config.Limits.Frame),
		Cards: configured.AgentCards != config.CardsVerbatim, Panics: s.panics, Judge: s.judge(configured),
		Memory: s.memory.observe, Relays: s.memory.relay,
		Public:      configured.Relay == config.RelayFiltered && configured.Policy == config.PolicyPublic,
		PublicPaths: configured.Proxy.PublicPaths,
	}
	if named {
		settings.Named = s.openSession
	}
	dialects := dialectsOf(configured)
	return source.NewProxy(settings, s.pipeline(dialects), dialects, s.tracing, counters{s.metrics, s.sources}, s.logger, time.Now), nil
}

// judge makes the judges of a source's relay; nil where every byte is relayed.
func (s *sidecar) judge(configured config.Source) func() source.Judge {
	if configured.Relay == config.RelayVerbatim {
		return nil
	}
	settings := filter.Settings{Policy: event.Policy(configured.Policy), Panics: s.panics}
	if configured.Policy == config.PolicyClient {
		settings.Thoughts = event.ThoughtsDetailed // the protocol's own client gets what the protocol sends it
	}
	return func() source.Judge { return filter.NewRelay(settings, s.metrics) }
}

// announce says what a proxy does from now on.
func (s *sidecar) announce(configured config.Source, p *port) {
	if configured.Relay == config.RelayVerbatim {
		s.logger.Warn("verbatim relay: clients of this source get its internal events too", "name", configured.Name)
	}
	upstream, _ := url.Parse(configured.Proxy.Upstream) // which newProxy has parsed
	s.logger.Info("listening", "name", configured.Name, "address", p.listener.Addr().String(), "upstream", upstream.Host, "relay", configured.Relay)
}

// newTail prepares a subscription.
func (s *sidecar) newTail(configured config.Source) *subscription {
	return newSubscription(configured, source.NewTail(source.TailSettings{
		Name: configured.Name, URL: configured.Tail.URL, Session: config.TailSession, Headers: headers(configured.Tail.Headers),
		Dialect: chosen(configured), Agent: cmp.Or(configured.Agent, configured.Name), MaxSessions: configured.Tail.MaxSessions, Idle: configured.Tail.IdleTimeout,
		Panics: s.panics,
	}, s.pipeline(dialectsOf(configured)), counters{s.metrics, s.sources}, s.logger, time.Now))
}

// perSession says whether a tail reads a stream for each session.
func perSession(c config.Source) bool {
	return c.Tail != nil && strings.Contains(c.Tail.URL, config.TailSession)
}

// openSession opens a session's streams, in each of the tails of now that read by session.
func (s *sidecar) openSession(session string) {
	for _, t := range *s.bySession.Load() {
		t.Open(session)
	}
}

// agents are the tools that are agents, by source. Those of sources that are gone stay while their streams may go on.
func (s *sidecar) agents(c config.Config) map[string][]string {
	known := map[string][]string{}
	for _, p := range slices.Concat(s.proxies, s.leaving) {
		for _, t := range p.turns() {
			known[t.name] = s.agentsAsTools[t.name]
		}
	}
	for _, configured := range c.Sources {
		known[configured.Name] = configured.AgentsAsTools
	}
	return known
}

// trackerSettings say how runs are followed.
func (s *sidecar) trackerSettings(c config.Config) tracker.Settings {
	settings, agents := trackerSettings(c, s.sample), s.agentsAsTools
	settings.Memory = s.memory.content
	settings.AgentsAsTools = func(source, tool string) bool { return slices.Contains(agents[source], tool) }
	return settings
}
