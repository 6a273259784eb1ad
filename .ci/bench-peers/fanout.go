package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// publisher is a server in one process and its subscribers in another.
type publisher struct {
	name        string
	process     *process
	subscribers *process
	idle        float64 // bytes of the server's memory for each idle subscriber
	publish     func(frames int, last bool) error
	failed      error
}

// engines maps a name to the function that starts the publisher and returns the address of its subscribers.
var engines = []struct {
	name  string
	start func(b *bench) (p *publisher, address, path string, err error)
}{
	{"ours", func(b *bench) (*publisher, string, string, error) { return b.engine("ours", "/events") }},
	{"nchan", func(b *bench) (*publisher, string, string, error) { return b.nchan() }},
	{"tmaxmax/go-sse", func(b *bench) (*publisher, string, string, error) { return b.engine("go-sse", "/events") }},
	{"r3labs/sse", func(b *bench) (*publisher, string, string, error) { return b.engine("r3labs", "/events?stream=all") }},
}

// engine is a role of this program.
func (b *bench) engine(role, path string) (*publisher, string, string, error) {
	p, err := b.as(role)
	if err != nil {
		return nil, "", "", err
	}
	address, err := p.line()
	publish := func(frames int, last bool) error {
		if last {
			return p.tell(fmt.Sprint(frames, " last"))
		}
		return p.tell(fmt.Sprint(frames, " more"))
	}
	return &publisher{process: p, publish: publish}, address, path, err
}

// nchan starts nginx with nchan, to which each frame is published in an HTTP request.
func (b *bench) nchan() (*publisher, string, string, error) {
	module, err := nchanModule()
	if err != nil {
		return nil, "", "", err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, "", "", err
	}
	p, err := b.nginx(12_000, module, fmt.Sprintf(nginxNchan, address))
	if err != nil {
		return nil, "", "", err
	}
	if err = errors.Join(listens(address), p.worker()); err != nil {
		p.stop()
		return nil, "", "", err
	}
	data, n := corpus(), 0
	publish := func(frames int, last bool) error {
		for i := range frames {
			frame := data[n%len(data)]
			if last && i == frames-1 {
				frame = marked(frame)
			}
			n++
			resp, err := http.Post("http://"+address+"/publish", "text/plain", strings.NewReader(string(frame)))
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode >= 300 {
				return fmt.Errorf("nchan answers %s", resp.Status)
			}
		}
		return nil
	}
	return &publisher{process: p, publish: publish}, address, "/events", nil
}

// audience starts an engine with a number of subscribers, at the given path if there is one.
func (b *bench) audience(engine, subscribers int, path string) (*publisher, error) {
	p, address, own, err := engines[engine].start(b)
	if err != nil {
		if p != nil {
			p.stop()
		}
		return nil, err
	}
	p.name = engines[engine].name
	if path == "" {
		path = own
	}
	before, err := p.memory()
	if err == nil {
		p.subscribers, err = b.as("subscribers", address, path, fmt.Sprint(subscribers))
	}
	if err == nil {
		err = p.expect("connected")
	}
	if err == nil {
		var now float64
		now, err = p.memory()
		p.idle = (now - before) / float64(subscribers)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// memory returns the memory of the server, after a garbage collection if it has one.
func (p *publisher) memory() (float64, error) {
	if p.name != "nchan" {
		if err := p.process.tell("free"); err != nil {
			return 0, err
		}
	}
	return resident(p.process.pid)
}

func (p *publisher) expect(word string) error {
	line, err := p.subscribers.line()
	if err == nil && line != word {
		err = fmt.Errorf("unexpected output of the subscribers: %q", line)
	}
	if err != nil {
		return fmt.Errorf("%s: some subscribers have disconnected: %w", p.name, err)
	}
	return nil
}

func (p *publisher) stop() {
	if p.subscribers != nil {
		p.subscribers.stop()
	}
	p.process.stop()
}

// deliver publishes frames at an interval, and returns the CPU seconds of the server until all subscribers have them.
func (p *publisher) deliver(frames int, every time.Duration) (float64, error) {
	before := processorTime(p.process.pid)
	if every == 0 {
		if err := p.publish(frames, true); err != nil {
			return 0, err
		}
	} else {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for i := range frames {
			<-tick.C
			if err := p.publish(1, i == frames-1); err != nil {
				return 0, err
			}
		}
	}
	err := p.expect("all")
	settle(p.process.pid)
	return (processorTime(p.process.pid) - before).Seconds(), err
}

// crowd is a number of subscribers and a way of publishing to them.
type crowd struct {
	title       string
	subscribers int
	every       time.Duration
	frames      func(ours bool) int
}

func flatOut(subscribers int) crowd {
	return crowd{fmt.Sprintf("%d, flat out", subscribers), subscribers, 0, func(ours bool) int {
		if ours {
			return min(2000, 500_000/subscribers)
		}
		return max(20, min(1000, 100_000/subscribers))
	}}
}

var everyMillisecond = crowd{"1000, a frame every ms", 1000, time.Millisecond, func(bool) int { return 200 }}

// At these rates, all subscribers wait for each frame, so every server makes one write for each subscriber and frame.
// 5,000 subscribers at 20 ms would need more writes than two processors can make.
var talking = []crowd{
	{"100, a frame every 20 ms", 100, 20 * time.Millisecond, func(bool) int { return 100 }},
	{"1000, a frame every 20 ms", 1000, 20 * time.Millisecond, func(bool) int { return 40 }},
	{"5000, a frame every 100 ms", 5000, 100 * time.Millisecond, func(bool) int { return 20 }},
}

// fanOutPeers compares the deliveries of the servers per second of CPU time.
func (b *bench) fanOutPeers() (string, error) {
	crowds := append([]crowd{flatOut(100), flatOut(1000), flatOut(5000), everyMillisecond}, talking...)
	var t table
	t.row("subscribers", "nchan, one worker", "tmaxmax/go-sse", "r3labs/sse")
	idle := map[string]float64{}
	for _, c := range crowds {
		fmt.Fprintln(os.Stderr, c.title)
		rates := b.serveAll(c, idle)
		row := []any{c.title}
		for _, e := range engines[1:] {
			ratio := rates["ours"].through(rates[e.name])
			b.found["fan-out/"+c.title+"/"+e.name] = ratio
			row = append(row, ratio)
		}
		t.row(row...)
	}
	if idle["ours"] > 0 {
		b.found["subscriber"] = samples{idle["ours"] / 1000}
	}
	row := []any{"KB of resident memory for one that waits (ours " + kilobytes(idle["ours"]) + ")"}
	for _, e := range engines[1:] {
		row = append(row, kilobytes(idle[e.name]))
	}
	t.row(row...)
	return t.String(), nil
}

func kilobytes(bytes float64) string {
	if bytes == 0 {
		return notMeasured
	}
	return figure(bytes / 1000)
}

// serveAll returns the deliveries per second of CPU time by engine, measured alternately, and records the memory of a
// subscriber in the largest crowd.
func (b *bench) serveAll(c crowd, idle map[string]float64) map[string]samples {
	rounds := 5
	if b.quick {
		rounds = 1
	}
	var all []*publisher
	for i := range engines {
		p, err := b.audience(i, c.subscribers, "")
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s is not measured: %v\n", engines[i].name, err)
			continue
		}
		defer p.stop()
		if c.subscribers == 5000 && c.every == 0 {
			idle[p.name] = p.idle
		}
		all = append(all, p)
	}
	rates := map[string]samples{}
	for round := range rounds + 1 {
		for i := range all {
			p := all[(round+i)%len(all)]
			if p.failed != nil {
				continue
			}
			frames := c.frames(p.name == "ours")
			seconds, err := p.deliver(frames, c.every)
			if err != nil {
				p.failed = err
				fmt.Fprintf(os.Stderr, "%s is not measured: %v\n", p.name, err)
				delete(rates, p.name)
				continue
			}
			if round > 0 { // the first warms up
				rates[p.name] = append(rates[p.name], float64(frames*c.subscribers)/seconds)
			}
		}
	}
	return rates
}
