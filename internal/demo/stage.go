// Package demo implements the demo command: recorded agents, one for each protocol, the sidecar in front of them, and their
// clients.
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

// stage serves the recorded agents, each at a loopback address of its own.
type stage struct {
	agents  map[string]*agent // by source
	urls    map[string]string
	servers []*http.Server
	serving sync.WaitGroup
}

// openStage starts the agents. speed is how many times faster than recorded they send. Call close at the end.
func openStage(speed float64) (*stage, error) {
	s := &stage{agents: map[string]*agent{}, urls: map[string]string{}}
	for source := range protocols {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.close()
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

// url returns the address of a source's agent, or "" if there is none.
func (s *stage) url(source string) string { return s.urls[source] }

// close stops all agents at once, even during an answer.
func (s *stage) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.serving.Wait()
}

// drive sends requests to each agent from several users at once. Each user requests the given number of runs; 0 means
// no limit. The function proxy returns the address of a source's proxy. An error means that a client got anything other
// than the expected answer. If the context is done, drive returns nil.
func (s *stage) drive(ctx context.Context, runs int, proxy func(source string) string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	ended := make(chan error)
	for source, a := range s.agents {
		for user := range usersPerAgent {
			go func() { ended <- a.drive(ctx, client, proxy(source), user, runs) }()
		}
	}
	var failures []error
	for range usersPerAgent * len(s.agents) {
		err := <-ended
		if err != nil {
			stop()
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
