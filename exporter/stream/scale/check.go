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

// check runs an agent, a sidecar, NATS, a gateway and 2,000 readers, and takes the time of each.
func check() (*checked, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := newStand(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c := &checked{Load: here().Load, Readers: crowd + talkers - 1}
	c.Idle.Sidecar, c.Idle.NATS, c.Idle.Gateway = resident(s.sidecar), resident(s.nats), resident(s.gateway)
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

func (c *checked) table(f *figures) string {
	b := head("what", "the model", "measured", "the model says")
	add := func(what string, model, measured float64, show func(float64) string) {
		b += row(what, show(model), show(measured), fmt.Sprintf("%.2f×", model/measured))
	}
	cores := func(v float64) string { return fmt.Sprintf("%.3g cores", v) }
	add("sidecar", c.Events*f.seconds(observe)+often(c.Events, f.seconds(publish), f.seconds(publishBusy)), c.Sidecar, cores)
	add("NATS, one server", often(c.Events, f.seconds(singleIdle), f.seconds(singleBusy))+c.Events*f.reading(c.Behind), c.NATS, cores)
	add("gateway", often(c.Events, f.seconds(feedIdle), f.seconds(feedBusy))+c.Deliveries*f.seconds(deliveryMany), c.Gateway, cores)
	add("memory of the gateway for its readers", float64(c.Readers)*f.of(subscriberSize)+talkers*f.of(feedSize), c.Memory, amount)
	return b + fmt.Sprintf("\n%d readers, %.0f events a second of %d sessions, %.0f deliveries a second, %.0f s, load averages %s. Before: sidecar %s, NATS %s, gateway %s resident.\n",
		c.Readers, c.Events, talkers, c.Deliveries, c.Seconds, strings.Join(strings.Fields(c.Load)[:3], ", "), amount(c.Idle.Sidecar), amount(c.Idle.NATS), amount(c.Idle.Gateway))
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
