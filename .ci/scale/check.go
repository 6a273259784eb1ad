package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checked compares the model's prediction for a small test bed with the measured use of its processes.
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

// The test bed: sessions at full rate with one reader each, and a slow one with all other readers.
const (
	talkers  = 40
	crowd    = 2000 - talkers + 1
	slow     = 5.0 // events a second of the session with the crowd
	watching = 15 * time.Second
)

// check runs an agent, a sidecar, one or three NATS servers, a gateway and 2,000 readers, and measures the processor time
// of each.
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

// often returns the cores that work takes at a rate per second. The busier a process is, the less often it must be woken.
func often(rate, idle, busy float64) float64 {
	cores := rate * busy
	for range 100 {
		cores = rate*(busy+max(0, idle-busy)*max(0, 1-cores))/2 + cores/2
	}
	return cores
}

// against is the measured use of a process and the model's prediction.
type against struct {
	what            string
	model, measured float64
	show            func(float64) string
}

func (c *checked) against(f *figures) []against {
	cores := func(v float64) string { return fmt.Sprintf("%.3f", v) }
	idle, busy := f.seconds(singleIdle), f.seconds(singleBusy)
	more := c.Events * f.reading(c.Behind)
	if c.Servers > 1 {
		idle, busy = f.seconds(leaderIdle), f.seconds(leaderBusy)
		more += c.Events * (replicas - 1) * f.seconds(followerBusy)
	}
	return []against{
		{"sidecar, cores", c.Events*f.seconds(observe) + often(c.Events, f.seconds(publish), f.seconds(publishBusy)), c.Sidecar, cores},
		{"the same, if nothing wakes it", c.Events * (f.seconds(observe) + f.seconds(publishBusy)), c.Sidecar, cores},
		{"NATS, cores", often(c.Events, idle, busy) + more, c.NATS, cores},
		{"the same, if nothing wakes it", c.Events*busy + more, c.NATS, cores},
		{"gateway, cores", often(c.Events, f.seconds(feedIdle), f.seconds(feedBusy)) + c.Deliveries*f.seconds(deliveryMany), c.Gateway, cores},
		{"memory of the gateway for its readers", float64(c.Readers)*f.of(subscriberSize) + talkers*f.of(feedSize), c.Memory, amount},
	}
}

// checksTable returns the lowest and highest of all runs, with one and with three servers.
func checksTable(f *figures) string {
	b := head("what", "one server", "three servers")
	one, three := extremes(f, f.Checks), extremes(f, f.Cluster)
	for i := range one {
		b += row(one[i].what, one[i].text, three[i].text)
	}
	return b
}

// compared is a row of the check: the measured use, and the model's prediction divided by it.
type compared struct{ what, text string }

func extremes(f *figures, checks []*checked) []compared {
	rows := make([]compared, len(checks[0].against(f)))
	for k, first := range checks[0].against(f) {
		var measured, ratios []float64
		for _, c := range checks {
			a := c.against(f)[k]
			measured, ratios = append(measured, a.measured), append(ratios, a.model/a.measured)
		}
		rows[k] = compared{first.what, fmt.Sprintf("%s–%s: %.2f–%.2f×", first.show(slices.Min(measured)), first.show(slices.Max(measured)), slices.Min(ratios), slices.Max(ratios))}
	}
	return rows
}

// resident returns the resident memory of a process.
func resident(p *exec.Cmd) float64 {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	_, rest, _ := strings.Cut(string(content), "VmRSS:")
	var kib float64
	_, _ = fmt.Sscan(rest, &kib)
	return kib * 1024
}

// onProcessors returns the processor time of a process.
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
