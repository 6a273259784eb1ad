package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// figures are the measured costs, from one machine. The tables are computed from them and the assumptions only.
type figures struct {
	Machine machine    `json:"machine"`
	Costs   []cost     `json:"costs"`
	Checks  []*checked `json:"checks"`
	Cluster []*checked `json:"cluster_checks"`
}

// machine describes the machine on which the costs were measured.
type machine struct {
	Processor  string `json:"processor"`
	Processors int    `json:"processors"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	NATS       string `json:"nats"`
	Load       string `json:"load_averages"`
	Date       string `json:"date"`
}

// cost is one metric of one benchmark: the median of its runs.
type cost struct {
	Name      string    `json:"name"`
	Package   string    `json:"package"`
	Benchmark string    `json:"benchmark"`
	Metric    string    `json:"metric"`
	Runs      []float64 `json:"runs"`
}

func (c cost) median() float64 {
	sorted := slices.Sorted(slices.Values(c.Runs))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// Names of costs. Times are processor time in nanoseconds, memory is in bytes.
const (
	observe        = "event observed and filtered in a sidecar"
	publish        = "event published by a sidecar, which it wakes"
	publishBusy    = "event published by a sidecar, which is busy"
	leaderIdle     = "event at the leader, which it wakes"
	leaderBusy     = "event at the leader, which is busy"
	followerBusy   = "event at a follower, which is busy"
	singleIdle     = "event at a lone server, which it wakes"
	singleBusy     = "event at a lone server, which is busy"
	feedIdle       = "event through a feed of a gateway, which it wakes"
	feedBusy       = "event through a feed of a gateway, which is busy"
	readingFew     = "event that NATS reads for a feed, 200 behind the last"
	readingMany    = "event that NATS reads for a feed, 2,000 behind the last"
	opening        = "feed opened by a gateway"
	openingSingle  = "feed opened at a lone server"
	openingCluster = "feed opened at three servers"
	deliveryIdle   = "delivery to a reader, alone"
	deliveryMany   = "delivery to a reader, among 1,000"
	connecting     = "connection of a reader"
	subscriberSize = "reader that waits, in a gateway"
	feedSize       = "feed that waits, in a gateway"
	feedSizeNATS   = "feed that waits, in three servers"
	sessionSize    = "session in a server"
	connectionSize = "connection in a server"
	messageSize    = "event as a server stores it"
	owner16        = "choice among 16 shards"
)

// wanted lists the costs that the model needs.
var wanted = []cost{
	{Name: observe, Package: "./test/e2e/cost", Benchmark: "Cost/mix", Metric: "cpu-ns/event"},
	{Name: publish, Package: jetstream, Benchmark: "Publish/paced/3_servers", Metric: "cpu-ns/event"},
	{Name: publishBusy, Package: jetstream, Benchmark: "Publish/busy/3_servers", Metric: "cpu-ns/event"},
	{Name: leaderIdle, Package: jetstream, Benchmark: "Publish/paced/3_servers", Metric: "leader-cpu-ns/event"},
	{Name: leaderBusy, Package: jetstream, Benchmark: "Publish/busy/3_servers", Metric: "leader-cpu-ns/event"},
	{Name: followerBusy, Package: jetstream, Benchmark: "Publish/busy/3_servers", Metric: "follower-cpu-ns/event"},
	{Name: singleIdle, Package: jetstream, Benchmark: "Publish/paced/1_servers", Metric: "leader-cpu-ns/event"},
	{Name: singleBusy, Package: jetstream, Benchmark: "Publish/busy/1_servers", Metric: "leader-cpu-ns/event"},
	{Name: feedIdle, Package: jetstream, Benchmark: "Feeds/100_of_1_servers", Metric: "paced-cpu-ns/event"},
	{Name: feedBusy, Package: jetstream, Benchmark: "Feeds/100_of_1_servers", Metric: "busy-cpu-ns/event"},
	{Name: readingFew, Package: jetstream, Benchmark: "Feeds/100_of_1_servers", Metric: "busy-nats-cpu-ns/event"},
	{Name: readingMany, Package: jetstream, Benchmark: "Feeds/1000_of_1_servers", Metric: "busy-nats-cpu-ns/event"},
	{Name: opening, Package: jetstream, Benchmark: "Feeds/1000_of_1_servers", Metric: "cpu-ns/feed"},
	{Name: openingSingle, Package: jetstream, Benchmark: "Feeds/1000_of_1_servers", Metric: "nats-cpu-ns/feed"},
	{Name: openingCluster, Package: jetstream, Benchmark: "Feeds/1000_of_3_servers", Metric: "nats-cpu-ns/feed"},
	{Name: deliveryIdle, Package: streams, Benchmark: "Paced/1", Metric: "cpu-ns/delivery"},
	{Name: deliveryMany, Package: streams, Benchmark: "Paced/1000", Metric: "cpu-ns/delivery"},
	{Name: connecting, Package: streams, Benchmark: "Paced/1000", Metric: "cpu-ns/connect"},
	{Name: subscriberSize, Package: streams, Benchmark: "Idle", Metric: "B/subscriber"},
	{Name: feedSize, Package: jetstream, Benchmark: "Feeds/1000_of_1_servers", Metric: "B/feed"},
	{Name: feedSizeNATS, Package: jetstream, Benchmark: "Feeds/1000_of_3_servers", Metric: "nats-B/feed"},
	{Name: sessionSize, Package: jetstream, Benchmark: "Feeds/1000_of_1_servers", Metric: "nats-B/session"},
	{Name: connectionSize, Package: jetstream, Benchmark: "Connections", Metric: "nats-B/connection"},
	{Name: messageSize, Package: jetstream, Benchmark: "Feeds/1000_of_1_servers", Metric: "stored-B/event"},
	{Name: owner16, Package: jetstream, Benchmark: "Owner/16", Metric: "ns/op"},
}

const (
	jetstream = "./exporter/stream/jetstream"
	streams   = "./exporter/stream"
)

func load(path string) (*figures, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &figures{}
	if err := json.Unmarshal(content, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range wanted {
		if f.of(c.Name) == 0 {
			return nil, fmt.Errorf("%s has no %q: run `go -C .ci/scale run . -measure`", path, c.Name)
		}
	}
	return f, nil
}

func (f *figures) store(path string) error {
	content, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}

// of returns the median cost of the given name.
func (f *figures) of(name string) float64 {
	for _, c := range f.Costs {
		if c.Name == name {
			return c.median()
		}
	}
	return 0
}

// seconds returns the median of a time cost in seconds.
func (f *figures) seconds(name string) float64 { return f.of(name) / 1e9 }

// reading returns the processor seconds that NATS takes to find a feed's next message. Before it come the given number
// of messages of other sessions, and NATS looks at each of them. The cost is a line through two measured points. In
// BenchmarkFeeds every other message is of a session without readers. Therefore, two messages of a session are on
// average separated by twice as many messages as there are sessions.
func (f *figures) reading(behind float64) float64 {
	few, many := f.seconds(readingFew), f.seconds(readingMany)
	return max(few/10, few+max(0, many-few)/1800*(behind-200))
}
