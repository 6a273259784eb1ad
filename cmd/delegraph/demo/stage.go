// Package demo is recorded agents, one for each protocol, and the clients that talk to them.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// Stage has every agent at an address of its own on loopback.
type Stage struct {
	agents  map[string]*agent // by source
	urls    map[string]string
	servers []*http.Server
	serving sync.WaitGroup
}

// Open lets the agents answer, so many times faster than they were recorded. Close ends them.
func Open(speed float64) (*Stage, error) {
	s := &Stage{agents: map[string]*agent{}, urls: map[string]string{}}
	for source := range protocols {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("the recorded agent %s: %w", source, err)
		}
		s.agents[source] = newAgent(source, speed)
		s.urls[source] = "http://" + listener.Addr().String()
		server := &http.Server{Handler: s.agents[source], ErrorLog: log.New(io.Discard, "", 0)}
		s.servers = append(s.servers, server)
		s.serving.Go(func() { _ = server.Serve(listener) }) // until it is closed
	}
	return s, nil
}

// URL is where a source's agent answers, "" where there is none of that name.
func (s *Stage) URL(source string) string { return s.urls[source] }

// Close ends every agent in the middle of its words.
func (s *Stage) Close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.serving.Wait()
}

// Drive asks for so many runs, or without end where that is 0, with a few users for each agent at once; proxy says at which address
// a source's agent is asked. It is an error if a client does not hear exactly what it should, and none if the context ends.
func (s *Stage) Drive(ctx context.Context, runs int, proxy func(source string) string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	ended := make(chan error)
	for source, a := range s.agents {
		for user := range users {
			go func() { ended <- a.drive(ctx, client, proxy(source), user, runs) }()
		}
	}
	var failures []error
	for range users * len(s.agents) {
		err := <-ended
		if err != nil {
			stop()
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
