package sidecar

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
)

// change is a prepared change of the sources. All steps that can fail are done, and nothing is visible yet.
type change struct {
	config         config.Config
	reportSessions bool // a tail needs the sessions that requests name
	proxies        []*port
	tails          []*subscription
	newPorts       []*port         // the new ones of proxies
	newTails       []*subscription // the new ones of tails
	steps          []func()        // the rest of the change; they cannot fail
}

// Configure applies a configuration as a whole, or returns an error and changes nothing. Open streams continue
// with the old one.
func (s *Sidecar) Configure(c config.Config) error {
	<-s.started
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return errors.New("delegraph is stopping")
	}
	if keys := config.RestartKeys(s.config, c); len(keys) > 0 {
		return fmt.Errorf("a reload cannot change %s: restart delegraph", strings.Join(keys, ", "))
	}
	if s.external != nil {
		if err := s.external.check(c.Stream); err != nil {
			return err
		}
	}
	next, err := s.prepare(c)
	if err != nil {
		return err
	}
	if s.external != nil {
		if err := s.external.configure(c); err != nil {
			return errors.Join(err, next.abandon())
		}
	}
	s.apply(next)
	return nil
}

// prepare compares the configured sources with those that run, and opens the new ports.
func (s *Sidecar) prepare(c config.Config) (*change, error) {
	next := &change{config: c, reportSessions: slices.ContainsFunc(c.Sources, perSession)}
	for _, configured := range c.Sources {
		if configured.Tail != nil {
			s.prepareTail(next, configured)
			continue
		}
		if err := s.prepareProxy(next, configured); err != nil {
			return nil, errors.Join(err, next.abandon())
		}
	}
	return next, nil
}

// abandon closes the ports that were opened.
func (c *change) abandon() (err error) {
	for _, p := range c.newPorts {
		err = errors.Join(err, p.listener.Close())
	}
	return err
}

// prepareProxy prepares the proxy of a source. If a port with the same address is open, even for another
// source, the new proxy will answer the port's next requests.
func (s *Sidecar) prepareProxy(next *change, configured config.Source) error {
	i := slices.IndexFunc(s.proxies, func(p *port) bool {
		return config.SameListenAddress(p.listen, configured.Proxy.Listen) || p.name == configured.Name && p.listen == configured.Proxy.Listen
	})
	if i >= 0 && next.reportSessions == s.reportSessions && s.unchanged(configured) {
		next.proxies = append(next.proxies, s.proxies[i])
		return nil
	}
	proxy, err := s.newProxy(configured, next.reportSessions)
	if err != nil {
		return err
	}
	var p *port
	if i >= 0 {
		p = s.proxies[i]
	} else if p, err = openPort(configured.Name, configured.Proxy.Listen, s.memory.headers, s.panics, s.logger); err != nil {
		return fmt.Errorf("source %s: %w", configured.Name, err)
	} else {
		next.newPorts = append(next.newPorts, p)
	}
	next.proxies = append(next.proxies, p)
	next.steps = append(next.steps, func() {
		s.initMetrics(configured)
		p.swap(configured.Name, proxy)
		s.announce(configured, p)
	})
	return nil
}

// prepareTail prepares the subscription of a source. It keeps a running one if its name, URL, dialect, mapping
// and agent are the same.
func (s *Sidecar) prepareTail(next *change, configured config.Source) {
	i := slices.IndexFunc(s.tails, func(t *subscription) bool {
		was := t.configured
		return was.Name == configured.Name && was.Tail.URL == configured.Tail.URL && was.Dialect == configured.Dialect && reflect.DeepEqual(was.Custom, configured.Custom) && was.Agent == configured.Agent
	})
	if i < 0 {
		t := s.newTail(configured)
		next.newTails, next.tails = append(next.newTails, t), append(next.tails, t)
		next.steps = append(next.steps, func() {
			s.initMetrics(configured)
			s.logger.Info("subscribing", "name", configured.Name, "each_session", t.sessions != nil)
		})
		return
	}
	kept := s.tails[i]
	next.tails = append(next.tails, kept)
	newHeaders := !reflect.DeepEqual(kept.configured.Tail.Headers, configured.Tail.Headers)
	next.steps = append(next.steps, func() { kept.apply(configured, newHeaders) })
}

// unchanged reports whether a source is configured as before, regardless of agents_as_tools, which only the
// tracker uses.
func (s *Sidecar) unchanged(configured config.Source) bool {
	return slices.ContainsFunc(s.config.Sources, func(was config.Source) bool {
		was.AgentsAsTools = configured.AgentsAsTools
		return reflect.DeepEqual(was, configured)
	})
}

// apply makes a change visible. Removed subscriptions end at once, removed proxies after their last stream.
func (s *Sidecar) apply(next *change) {
	was := s.config
	s.Sources.Configure(pageSources(next.config, next.proxies)...)
	for _, configured := range next.config.Sources {
		s.metrics.AllowTools(configured.AgentsAsTools)
	}
	s.agentsAsTools = s.agentTools(next.config)
	s.exporter.Configure(s.trackerSettings(next.config))
	s.bySession.Store(sessionsOf(next.tails)) // before removed tails end, so that no session that a request names is missed
	open := s.endTails(next)
	for _, step := range next.steps {
		step()
	}
	for _, p := range s.proxies {
		if !slices.Contains(next.proxies, p) {
			s.drainPort(p)
		}
	}
	s.config, s.reportSessions, s.proxies, s.tails = next.config, next.reportSessions, next.proxies, next.tails
	if s.running {
		s.begin(next)
	}
	for _, t := range next.newTails {
		t.open(open[t.configured.Name])
	}
	for _, source := range was.Sources {
		if !slices.ContainsFunc(s.config.Sources, func(c config.Source) bool { return c.Name == source.Name }) {
			s.metrics.RemoveSource(source.Name)
		}
	}
}

// begin starts to serve new ports and to read new streams.
func (s *Sidecar) begin(next *change) {
	for _, p := range next.newPorts {
		s.work.Go(func() {
			if err := p.serve(); err != nil {
				s.fail(err)
			}
		})
	}
	for _, t := range next.newTails {
		t.begin()
	}
}

// endTails ends removed subscriptions and returns their open sessions, by source.
func (s *Sidecar) endTails(next *change) map[string][]string {
	open := map[string][]string{}
	for _, t := range s.tails {
		if !slices.Contains(next.tails, t) {
			open[t.configured.Name] = t.names()
			t.end()
		}
	}
	return open
}

// sessionsOf returns the sessions of the tails that read one stream for each session.
func sessionsOf(tails []*subscription) *[]*source.Sessions {
	var all []*source.Sessions
	for _, t := range tails {
		if t.sessions != nil {
			all = append(all, t.sessions)
		}
	}
	return &all
}

// drainPort closes a port for new requests, and waits in the background for its last stream. If the sidecar
// stops before that, drain handles the port like the others.
func (s *Sidecar) drainPort(p *port) {
	p.close()
	s.draining = append(s.draining, p)
	s.logger.Info("no longer listening", "name", p.name, "address", p.listener.Addr().String())
	go func() {
		if p.server.Shutdown(s.drainEnded) != nil || !p.waitRequests(s.drainEnded) {
			return
		}
		p.wait()
		for _, g := range p.generations() {
			g.proxy.CloseIdle()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.draining = slices.DeleteFunc(s.draining, func(other *port) bool { return other == p })
	}()
}
