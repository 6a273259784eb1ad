package sidecar

import (
	"context"
	"errors"
	"slices"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Proxy is a source's proxy and the address at which it listens.
type Proxy struct{ Name, Addr string }

// Proxies returns the proxies in the order of the configuration.
func (s *Sidecar) Proxies() (all []Proxy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.proxies {
		all = append(all, Proxy{p.name, p.listener.Addr().String()})
	}
	return all
}

// StreamAddr returns the address of the external stream. The configuration must have one.
func (s *Sidecar) StreamAddr() string { return s.external.listener.Addr().String() }

// Replay returns the state of the external stream's replay buffer. The configuration must have one.
func (s *Sidecar) Replay() replay.Stats { return s.external.hub.ReplayStats() }

// Config returns the configuration in force.
func (s *Sidecar) Config() config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// Draining returns the number of removed proxies that still have open streams.
func (s *Sidecar) Draining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.draining)
}

// Wait returns when all proxied requests have ended and their streams have been observed.
func (s *Sidecar) Wait() {
	s.mu.Lock()
	open := slices.Concat(s.proxies, s.draining)
	s.mu.Unlock()
	for _, p := range open {
		p.wait()
	}
}

// Close releases a sidecar that never ran.
func (s *Sidecar) Close(ctx context.Context) error {
	err := errors.Join(s.closePorts(), s.shutdown(ctx))
	s.release()
	return err
}
