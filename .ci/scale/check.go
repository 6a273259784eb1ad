package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// checked is what the model said of a small stand, and what its processes then took.
type checked struct {
	Load       string  `json:"load_averages"`
	Seconds    float64 `json:"seconds"`
	Readers    int     `json:"readers"`
	Servers    int     `json:"servers"`
	Events     float64 `json:"events_per_second"`
	Deliveries float64 `json:"deliveries_per_second"`
	Behind     float64 `json:"messages_between_two_of_a_session"`
	Sidecar    float64 `json:"sidecar_cores"`
	NATS       float64 `json:"nats_cores"`
	Gateway    float64 `json:"gateway_cores"`
	Memory     float64 `json:"gateway_bytes_for_readers"`
	Idle       struct {
		Sidecar float64 `json:"sidecar_bytes"`
		NATS    float64 `json:"nats_bytes"`
		Gateway float64 `json:"gateway_bytes"`
	} `json:"memory_before"`
}

// The stand: sessions that speak, each with one reader, and one with all others that says less.
const (
	talkers  = 40
	crowd    = 2000 - talkers + 1
	slow     = 5.0 // events a second of the session with the crowd
	watching = 15 * time.Second
)

// check runs an agent, a sidecar, one or three servers of NATS, a gateway and 2,000 readers, and takes the time of each.
func check(servers int) (*checked, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := newStand(ctx, servers)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c := &checked{Load: here().Load, Readers: crowd + talkers - 1, Servers: servers}
	c.Idle.Sidecar, c.Idle.NATS, c.Idle.Gateway = resident(s.sidecar), resident(s.nats[0]), resident(s.gateway)
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	time.Sleep(3 * time.Second)
	c.Memory = resident(s.gateway) - c.Idle.Gateway
	s.agent.speak()
	time.Sleep(3 * time.Second)
	before, began := s.now(), time.Now()
	time.Sleep(watching)
	after := s.now()
	c.Seconds = time.Since(began).Seconds()
	rate := func(a, b float64) float64 { return (b - a) / c.Seconds }
	c.Events, c.Deliveries = rate(before.said, after.said), rate(before.sent, after.sent)
	c.Sidecar, c.NATS, c.Gateway = rate(before.sidecar, after.sidecar), rate(before.nats, after.nats), rate(before.gateway, after.gateway)
	c.Behind = talkers
	return c, nil
}

// often is what work takes in cores that comes so often a second to a process, where the more it has to do the fewer wake it.
func often(rate, idle, busy float64) float64 {
	cores := rate * busy
	for range 100 {
		cores = rate*(busy+max(0, idle-busy)*max(0, 1-cores))/2 + cores/2
	}
	return cores
}

// against is what a process took, and what the model says of it.
type against struct {
	what            string
	model, measured float64
	show            func(float64) string
}

func (c *checked) against(f *figures) []against {
	cores := func(v float64) string { return fmt.Sprintf("%.3f", v) }
	said, idle, busy := "NATS, one server, cores", f.seconds(singleIdle), f.seconds(singleBusy)
	more := c.Events * f.reading(c.Behind)
	if c.Servers > 1 {
		said, idle, busy = "NATS, three servers, cores", f.seconds(leaderIdle), f.seconds(leaderBusy)
		more += c.Events * (replicas - 1) * f.seconds(followerBusy)
	}
	return []against{
		{"sidecar, cores", c.Events*f.seconds(observe) + often(c.Events, f.seconds(publish), f.seconds(publishBusy)), c.Sidecar, cores},
		{"the same, if nothing wakes it", c.Events * (f.seconds(observe) + f.seconds(publishBusy)), c.Sidecar, cores},
		{said, often(c.Events, idle, busy) + more, c.NATS, cores},
		{"the same, if nothing wakes it", c.Events*busy + more, c.NATS, cores},
		{"gateway, cores", often(c.Events, f.seconds(feedIdle), f.seconds(feedBusy)) + c.Deliveries*f.seconds(deliveryMany), c.Gateway, cores},
		{"memory of the gateway for its readers", float64(c.Readers)*f.of(subscriberSize) + talkers*f.of(feedSize), c.Memory, amount},
	}
}

func checksTable(f *figures, checks []*checked) string {
	titles, rows := []any{"what, by the model : measured"}, [][]any{}
	for i, c := range checks {
		titles = append(titles, fmt.Sprintf("run %d", i+1))
		for k, a := range c.against(f) {
			if i == 0 {
				rows = append(rows, []any{a.what})
			}
			rows[k] = append(rows[k], fmt.Sprintf("%s : %s, %.2f×", a.show(a.model), a.show(a.measured), a.model/a.measured))
		}
	}
	b, last := head(titles...), checks[len(checks)-1]
	for _, cells := range rows {
		b += row(cells...)
	}
	for i, c := range checks {
		b += fmt.Sprintf("\nRun %d: %.0f events and %.0f deliveries a second to %d readers, %.0f s, load averages %s.", i+1, c.Events, c.Deliveries, c.Readers, c.Seconds,
			strings.Join(strings.Fields(c.Load)[:3], ", "))
	}
	return b + fmt.Sprintf("\n\nWith nothing to do, the sidecar has %s resident, a server of NATS %s, the gateway %s.\n", amount(last.Idle.Sidecar), amount(last.Idle.NATS), amount(last.Idle.Gateway))
}

// resident is the memory of a process.
func resident(p *exec.Cmd) float64 {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	_, rest, _ := strings.Cut(string(content), "VmRSS:")
	var kib float64
	_, _ = fmt.Sscan(rest, &kib)
	return kib * 1024
}

// onProcessors is for how many seconds a process has been on processors.
func onProcessors(p *exec.Cmd) (seconds float64) {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	_, rest, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	for _, field := range fields[11:13] {
		ticks, _ := strconv.ParseFloat(field, 64)
		seconds += ticks / 100
	}
	return seconds
}
