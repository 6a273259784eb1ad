package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// proxy is a proxy in front of the agent, in a process of its own. The proxy "direct" is none.
type proxy struct {
	name, address string
	process       *process
	client        *http.Client
	talks         []*talk
	failed        bool
}

// stage is an agent with all available proxies in front of it.
type stage struct {
	agent   *agent
	servers []*http.Server
	proxies []*proxy
	missing []string // proxies that could not be started, with the reason
}

const (
	plainName    = "Go's ReverseProxy"
	verbatimName = "Delegraph, verbatim"
	filteredName = "Delegraph, filtered"
	aloneName    = "filtered, no external stream"
)

// starters maps a name to the function that starts the proxy in front of an upstream, at an address.
var starters = []struct {
	name  string
	start func(b *bench, address, upstream, collector string) (*process, error)
}{
	{plainName, func(b *bench, address, upstream, _ string) (*process, error) { return b.as("proxy", address, upstream) }},
	{verbatimName, func(b *bench, address, upstream, collector string) (*process, error) {
		return b.sidecar(address, upstream, collector, "verbatim", true, nil)
	}},
	{filteredName, func(b *bench, address, upstream, collector string) (*process, error) {
		return b.sidecar(address, upstream, collector, "filtered", true, nil)
	}},
	{aloneName, func(b *bench, address, upstream, collector string) (*process, error) {
		return b.sidecar(address, upstream, collector, "filtered", false, nil)
	}},
	{"nginx", func(b *bench, address, upstream, _ string) (*process, error) {
		return b.nginx(1024, "", fmt.Sprintf(nginxProxy, address, upstream))
	}},
	{"Caddy", func(b *bench, address, upstream, _ string) (*process, error) {
		return b.caddy(address, upstream)
	}},
}

const sidecarConfig = `sources:
  - name: agent
    proxy: {listen: %q, upstream: "http://%s"}
    relay: %s
stream: {listen: %q}
`

// sidecar starts delegraph with its defaults. It exports spans to a collector if there is one. ready gets the address of its
// admin server.
func (b *bench) sidecar(address, upstream, collector, relay string, external bool, ready func(admin string)) (*process, error) {
	admin, err := freeAddress()
	if err != nil {
		return nil, err
	}
	stream := ""
	if external {
		if stream, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	config := filepath.Join(b.scratch, fmt.Sprintf("delegraph-%s-%t.yml", relay, external))
	if err := os.WriteFile(config, fmt.Appendf(nil, sidecarConfig, address, upstream, relay, stream), 0o600); err != nil {
		return nil, err
	}
	env := []string{"OTEL_TRACES_EXPORTER=none"}
	if collector != "" {
		env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + collector, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"}
	}
	if ready != nil {
		ready(admin)
	}
	return b.begin(env, b.binary, "--config.file", config, "--web.listen-address", admin)
}

// newStage starts the agent and all proxies.
func (b *bench) newStage() (*stage, error) {
	a, err := newAgent(b.root)
	if err != nil {
		return nil, err
	}
	s := &stage{agent: a}
	upstream, err := s.serve(a)
	if err != nil {
		return nil, err
	}
	collector, err := s.serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	if err != nil {
		return nil, err
	}
	s.add("direct", upstream, nil)
	for _, starter := range starters {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		p, err := starter.start(b, address, upstream, collector)
		if err == nil {
			err = listens(address)
		}
		if err == nil && starter.name == "nginx" {
			err = p.worker()
		}
		if err != nil {
			if p != nil {
				p.stop()
			}
			s.missing = append(s.missing, fmt.Sprintf("%s: %v", starter.name, err))
			continue
		}
		s.add(starter.name, address, p)
	}
	return s, nil
}

func (s *stage) serve(h http.Handler) (string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h}
	s.servers = append(s.servers, server)
	go func() { _ = server.Serve(l) }()
	return l.Addr().String(), nil
}

func (s *stage) add(name, address string, p *process) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	s.proxies = append(s.proxies, &proxy{name: name, address: address, process: p, client: client})
}

func (s *stage) close() {
	s.agent.dismiss()
	for _, p := range s.proxies {
		p.hangUp()
		if p.process != nil {
			p.process.stop()
		}
	}
	for _, server := range s.servers {
		_ = server.Close()
	}
}

func (p *proxy) hangUp() {
	for _, t := range p.talks {
		_ = t.body.Close()
	}
	p.talks = nil
}

// used returns the processor time of a proxy's process for some work, including work that it finishes later.
func (p *proxy) used(work func() error) (took, cpu time.Duration, err error) {
	before := time.Duration(0)
	if p.process != nil {
		before = processorTime(p.process.pid)
	}
	begin := time.Now()
	err = work()
	took = time.Since(begin)
	if p.process != nil {
		settle(p.process.pid)
		cpu = processorTime(p.process.pid) - before
	}
	return took, cpu, err
}

// proxyPeers measures round trips and floods through all proxies alternately.
func (b *bench) proxyPeers() (string, error) {
	s, err := b.newStage()
	if err != nil {
		return "", err
	}
	defer s.close()
	var text string
	for _, crowd := range []struct{ streams, trips int }{{1, 400}, {100, 10}} {
		found := b.visit(s, crowd.streams, crowd.trips)
		text += s.compare(found, crowd.streams) + "\n"
	}
	for _, missing := range s.missing {
		text += "Not measured: " + missing + ".\n"
	}
	return text, nil
}

// visit returns figures by proxy and name. A proxy that fails is left out from then on.
func (b *bench) visit(s *stage, streams, trips int) map[string]map[string]samples {
	rounds := 11
	if b.quick {
		rounds = 1
	}
	found := map[string]map[string]samples{}
	for round := range rounds + 1 {
		for i := range s.proxies {
			p := s.proxies[(round+i)%len(s.proxies)]
			if p.failed {
				continue
			}
			figures, err := s.measure(p, streams, trips)
			if err != nil {
				p.failed = true
				s.missing = append(s.missing, fmt.Sprintf("%s: %v", p.name, err))
				delete(found, p.name)
				continue
			}
			if round == 0 { // it warms up
				found[p.name] = map[string]samples{}
				continue
			}
			for what, value := range figures {
				found[p.name][what] = append(found[p.name][what], value)
			}
		}
	}
	return found
}

// measure measures round trips and a flood through one proxy.
func (s *stage) measure(p *proxy, streams, trips int) (map[string]float64, error) {
	const frames = 10_000
	if len(p.talks) != streams {
		p.hangUp()
		var err error
		if p.talks, err = s.agent.converse(p.client, p.address, streams); err != nil {
			return nil, err
		}
	}
	var trip samples
	_, tripCPU, err := p.used(func() (err error) { trip, err = exchange(p.talks, trips); return err })
	if err != nil {
		return nil, err
	}
	flood, floodCPU, err := p.used(func() error { return s.agent.flood(p.client, p.address, frames, streams) })
	if err != nil {
		return nil, err
	}
	return map[string]float64{
		"p50": trip[len(trip)/2], "p99": trip[len(trip)*99/100], "trip cpu": tripCPU.Seconds() / float64(len(trip)),
		"throughput": frames / flood.Seconds(), "flood cpu": floodCPU.Seconds() / frames,
	}, nil
}

func (s *stage) compare(found map[string]map[string]samples, streams int) string {
	var t table
	head := []any{fmt.Sprintf("through Go's ReverseProxy, %d streams", streams)}
	if streams == 1 {
		head[0] = "through Go's ReverseProxy, 1 stream"
	}
	for _, p := range s.proxies {
		if p.name != plainName {
			head = append(head, p.name)
		}
	}
	t.row(head...)
	for _, what := range []struct{ name, title string }{
		{"p50", "round trip, p50"}, {"p99", "round trip, p99"}, {"trip cpu", "round trip, the proxy's CPU time"},
		{"throughput", "throughput"}, {"flood cpu", "throughput, the proxy's CPU time for a frame"},
	} {
		row := []any{what.title}
		for _, p := range s.proxies {
			switch {
			case p.name == plainName:
			case p.process == nil && (what.name == "trip cpu" || what.name == "flood cpu"):
				row = append(row, "–")
			default:
				row = append(row, found[p.name][what.name].through(found[plainName][what.name]))
			}
		}
		t.row(row...)
	}
	return t.String()
}
