// Package config reads the user's configuration from strict YAML. It returns complete, validated settings,
// or all mistakes of the file at once, each with its line, its key and what to do.
package config

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Values of Source.Dialect that need not be in KnownNames, and values of Source.Relay.
const (
	DialectAuto   = "auto"
	DialectCustom = "custom"
	RelayVerbatim = "verbatim"
	RelayFiltered = "filtered"
)

// Values of Source.AgentCards.
const (
	CardsRewritten = "rewritten"
	CardsVerbatim  = "verbatim"
)

// Values of Source.Policy and Stream.Policy.
const (
	PolicyClient = "client"
	PolicyPublic = "public"
)

// Values of Traces.Content.
const (
	ContentNone = "none"
	ContentAll  = "all"
)

// ProfileGenAI is the only value of Traces.Profile: attribute names of the OpenTelemetry GenAI conventions.
const ProfileGenAI = "gen_ai"

// Values of Authentication.Anonymous.
const (
	AnonymousLoopback = "loopback"
	AnonymousAnywhere = "anywhere"
)

// Values of Stream.Store.
const (
	StoreMemory    = "memory"
	StoreJetStream = "jetstream"
)

// Config is the whole configuration. example.yml documents each field with its default and its limits.
type Config struct {
	Sources []Source `yaml:"sources"` // at least one, unless other processes publish to the stream's store
	Runs    Runs     `yaml:"runs"`
	Traces  Traces   `yaml:"traces"`
	Metrics Metrics  `yaml:"metrics"`
	Limits  Limits   `yaml:"limits"`
	Stream  Stream   `yaml:"stream"`
	Web     Web      `yaml:"web"`
}

// Source is one place that agents' streams come from. Exactly one of Proxy and Tail is set.
type Source struct {
	Name          string   `yaml:"name"` // the metrics label `source`; unique, [a-zA-Z0-9_.-]{1,64}
	Proxy         *Proxy   `yaml:"proxy,omitempty"`
	Tail          *Tail    `yaml:"tail,omitempty"`
	Dialect       string   `yaml:"dialect"`          // DialectAuto, DialectCustom, or one of KnownNames.Dialects
	Custom        *Custom  `yaml:"custom,omitempty"` // required for DialectCustom, and only allowed there
	Relay         string   `yaml:"relay"`            // RelayFiltered or RelayVerbatim
	Policy        string   `yaml:"policy"`           // PolicyClient or PolicyPublic; used if Relay is RelayFiltered
	Agent         string   `yaml:"agent"`            // the agent's name if its stream does not give one; "" for Name
	AgentCards    string   `yaml:"agent_cards"`      // CardsRewritten or CardsVerbatim
	AgentsAsTools []string `yaml:"agents_as_tools"`  // names of tools that are agents
}

// Proxy is a reverse proxy in front of an agent.
type Proxy struct {
	Listen   string   `yaml:"listen"`          // host:port; an empty host is every address, port 0 any free port
	Upstream string   `yaml:"upstream"`        // an http or https URL: host, and optionally port and path
	Paths    []string `yaml:"paths,omitempty"` // path.Match globs of the run paths; nil for those of the dialects

	// PublicPaths are path.Match globs of paths whose answers pass unchanged under PolicyPublic. On other
	// paths, only event streams of runs pass.
	PublicPaths []string `yaml:"public_paths,omitempty"`
}

// Tail reads the stream of an agent as a second subscriber.
type Tail struct {
	URL         string            `yaml:"url"`               // an http or https URL, which may contain TailSession
	Headers     map[string]Header `yaml:"headers,omitempty"` // request headers by name
	MaxSessions int               `yaml:"max_sessions"`      // streams open at once if the URL contains TailSession
	IdleTimeout time.Duration     `yaml:"idle_timeout"`      // after which a session's stream is closed if no frame and no request for the session comes
}

// TailSession is the placeholder in Tail.URL for each session that a proxied request names.
const TailSession = "{session}"

// Header is the value of a header, or the file that contains it. Exactly one of the two is set.
type Header struct {
	Value string `yaml:"value,omitempty"`
	File  string `yaml:"file,omitempty"`
}

// Runs limits the runs that are kept in memory.
type Runs struct {
	IdleTimeout   time.Duration `yaml:"idle_timeout"`   // after which a run without a frame ends
	MaxOpen       int           `yaml:"max_open"`       // runs open at once
	MaxOperations int           `yaml:"max_operations"` // operations open at once in a run
	MaxEnded      int           `yaml:"max_ended"`      // ended runs kept for the pages and the API
	MaxEndedSize  Bytes         `yaml:"max_ended_size"` // approximate size of all ended runs
}

// Traces configures the content of spans. Sampling and export are configured by the environment (OTEL_*).
type Traces struct {
	Content        string `yaml:"content"`          // ContentNone or ContentAll
	MaxContent     Bytes  `yaml:"max_content"`      // content kept of one operation
	MaxContentHeld Bytes  `yaml:"max_content_held"` // content kept of all open operations together
	Profile        string `yaml:"profile"`          // names of attributes: ProfileGenAI
}

// Metrics limits the number of time series.
type Metrics struct {
	MaxLabelValues int `yaml:"max_label_values"` // values of one label
	MaxLabelSets   int `yaml:"max_label_sets"`   // label sets of one metric
}

// Limits limits the size of frames, requests and queues.
type Limits struct {
	Frame          Bytes `yaml:"frame"`           // one SSE frame
	JSONDepth      int   `yaml:"json_depth"`      // levels of JSON in a frame
	RequestBody    Bytes `yaml:"request_body"`    // largest request body that is read for session, user and app
	ConfidenceText Bytes `yaml:"confidence_text"` // last part of a text, which is searched for confidence and sources
	ObserveQueue   Bytes `yaml:"observe_queue"`   // part of one stream waiting to be observed
	LogQueue       Bytes `yaml:"log_queue"`       // log lines waiting to be written
	SpanQueue      int   `yaml:"span_queue"`      // spans waiting to be exported, unless OTEL_BSP_MAX_QUEUE_SIZE is set
	SpanQueueSize  Bytes `yaml:"span_queue_size"` // their approximate size
	Memory         Bytes `yaml:"memory"`          // all queues, buffers and open runs together; 0 for a share of the process's memory limit
}

// Stream configures the external stream: who may read it, and which events of all sources it contains.
type Stream struct {
	Listen          string         `yaml:"listen"`           // host:port; "" for no external stream
	WebConfigFile   string         `yaml:"web_config_file"`  // of the Prometheus exporter toolkit, for TLS; "" for none
	Policy          string         `yaml:"policy"`           // PolicyPublic or PolicyClient
	Kinds           Kinds          `yaml:"kinds"`            // which kinds of events pass
	Authors         []string       `yaml:"authors"`          // agents whose text may pass; empty for all
	Thoughts        string         `yaml:"thoughts"`         // one of Verbosities
	ConfidenceFloor float64        `yaml:"confidence_floor"` // 0..1; thoughts with less confidence are withheld
	StateKeys       []string       `yaml:"state_keys"`       // keys of session state that may pass
	Authentication  Authentication `yaml:"authentication"`
	AllowedOrigins  []string       `yaml:"allowed_origins"` // origins of web pages whose scripts may read
	Replay          Replay         `yaml:"replay"`
	Store           string         `yaml:"store"` // StoreMemory or StoreJetStream
	JetStream       JetStream      `yaml:"jetstream"`
	MaxSubscribers  int            `yaml:"max_subscribers"`
	MaxPerToken     int            `yaml:"max_per_token"`
	MaxTickets      int            `yaml:"max_tickets"`
	ArrivalRate     int            `yaml:"arrival_rate"` // new subscribers a second; 0 for no limit
	ArrivalBurst    int            `yaml:"arrival_burst"`
	WriteTimeout    time.Duration  `yaml:"write_timeout"`
	Heartbeat       time.Duration  `yaml:"heartbeat"`
	MaxLife         time.Duration  `yaml:"max_life"`    // of one subscriber's connection
	DrainDelay      time.Duration  `yaml:"drain_delay"` // of a gateway that stops
}

// Web configures the pages of the admin server. Its address is a flag.
type Web struct {
	TraceURL string `yaml:"trace_url"` // of a trace in its backend, containing TraceID; "" for no link
}

// TraceID is the placeholder in Web.TraceURL for the id of a trace, in hexadecimal.
const TraceID = "{trace_id}"

// Verbosities returns the values of Stream.Thoughts, from nothing to everything.
func Verbosities() []string { return []string{"none", "brief", "normal", "detailed"} }

// Kinds filters the external stream by the kinds of events in KnownNames.Kinds.
type Kinds struct {
	In  []string `yaml:"in"`  // only these pass; empty for all
	Out []string `yaml:"out"` // these do not pass
}

// Authentication configures who may read the external stream.
type Authentication struct {
	BearerTokensFile   string `yaml:"bearer_tokens_file"`
	ClientCertificates bool   `yaml:"client_certificates"` // verified as the web configuration file says
	Anonymous          string `yaml:"anonymous"`           // AnonymousLoopback or AnonymousAnywhere
}

// Replay limits the replay buffer, from which subscribers that reconnect resume.
type Replay struct {
	Frames int           `yaml:"frames"`
	Bytes  Bytes         `yaml:"bytes"`
	Age    time.Duration `yaml:"age"`
}

// JetStream configures the store of the stream in NATS.
type JetStream struct {
	URLs            []string      `yaml:"urls"`
	CredentialsFile string        `yaml:"credentials_file"`
	NKeyFile        string        `yaml:"nkey_file"`
	TLS             ClientTLS     `yaml:"tls"`
	Stream          string        `yaml:"stream"`       // the name in NATS
	Manage          bool          `yaml:"manage"`       // create the stream and keep its limits at those below
	Replicas        int           `yaml:"replicas"`     // in NATS
	MaxAge          time.Duration `yaml:"max_age"`      // of a message
	MaxBytes        Bytes         `yaml:"max_bytes"`    // of all messages
	MaxMessages     int           `yaml:"max_messages"` // of one source and session
	MaxMessage      Bytes         `yaml:"max_message"`  // of one message with its headers
	Duplicates      time.Duration `yaml:"duplicates"`   // the time window in which NATS detects duplicates
	Queue           Bytes         `yaml:"queue"`        // frames waiting to be published
	MaxFeeds        int           `yaml:"max_feeds"`    // open consumers, one for each session that is read
	FeedBytes       Bytes         `yaml:"feed_bytes"`   // buffered for one feed
	AllFeeds        Bytes         `yaml:"all_feeds"`    // buffered for all feeds together
	Shards          []Shard       `yaml:"shards"`       // empty: one stream, that of the settings above
	Serve           []string      `yaml:"serve"`        // shards whose sessions this process serves; empty for all
	Previous        []string      `yaml:"previous"`     // the shards before the last change; empty if no session moves
	MoveAt          string        `yaml:"move_at"`      // RFC 3339; no session moves before
}

// Shard is one of several streams that share the sessions. What it leaves out is as in JetStream.
type Shard struct {
	Name            string    `yaml:"name"`
	Gateway         string    `yaml:"gateway,omitempty"` // an http or https URL, to which readers are redirected; "" for none
	URLs            []string  `yaml:"urls,omitempty"`
	CredentialsFile string    `yaml:"credentials_file,omitempty"`
	NKeyFile        string    `yaml:"nkey_file,omitempty"`
	TLS             ClientTLS `yaml:"tls,omitempty"`
	Stream          string    `yaml:"stream,omitempty"`
}

// ClientTLS configures how a client verifies its server and authenticates itself.
type ClientTLS struct {
	CAFile   string `yaml:"ca_file"`
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// Default returns a configuration with all defaults. It is not valid, because it has no source.
func Default() Config {
	return Config{
		Sources: []Source{},
		Runs:    Runs{IdleTimeout: 30 * time.Minute, MaxOpen: 10_000, MaxOperations: 10_000, MaxEnded: 1_000, MaxEndedSize: 16 * mebibyte},
		Traces:  Traces{Content: ContentNone, MaxContent: 8 * kibibyte, MaxContentHeld: 64 * mebibyte, Profile: ProfileGenAI},
		Metrics: Metrics{MaxLabelValues: 100, MaxLabelSets: 1_000},
		Limits: Limits{
			Frame:          8 * mebibyte,
			JSONDepth:      128,
			RequestBody:    1 * mebibyte,
			ConfidenceText: 64 * kibibyte,
			ObserveQueue:   16 * mebibyte,
			LogQueue:       1 * mebibyte,
			SpanQueue:      8_192,
			SpanQueueSize:  32 * mebibyte,
		},
		Stream: Stream{
			Listen:         "127.0.0.1:10478",
			Policy:         PolicyPublic,
			Kinds:          Kinds{In: []string{}, Out: []string{}},
			Authors:        []string{},
			Thoughts:       "none",
			StateKeys:      []string{},
			Authentication: Authentication{Anonymous: AnonymousLoopback},
			AllowedOrigins: []string{},
			Replay:         Replay{Frames: 10_000, Bytes: 64 * mebibyte, Age: 5 * time.Minute},
			Store:          StoreMemory,
			JetStream: JetStream{
				URLs: []string{}, Stream: "DELEGRAPH", Manage: true, Replicas: 1,
				MaxAge: time.Hour, MaxBytes: gibibyte, MaxMessages: 10_000, MaxMessage: mebibyte, Duplicates: 2 * time.Minute,
				Queue: 64 * mebibyte, MaxFeeds: 10_000, FeedBytes: 2 * mebibyte, AllFeeds: 512 * mebibyte,
				Shards: []Shard{}, Serve: []string{}, Previous: []string{},
			},
			MaxSubscribers: 10_000,
			MaxPerToken:    10,
			MaxTickets:     1_000,
			ArrivalBurst:   1_000,
			WriteTimeout:   5 * time.Second,
			Heartbeat:      15 * time.Second,
			MaxLife:        time.Hour,
			DrainDelay:     5 * time.Second,
		},
	}
}

func defaultSource() Source {
	return Source{Dialect: DialectAuto, Relay: RelayFiltered, Policy: PolicyClient, AgentCards: CardsRewritten, AgentsAsTools: []string{}}
}

func defaultTail() Tail { return Tail{MaxSessions: 100, IdleTimeout: 10 * time.Minute} }

// String returns a valid configuration as YAML that parses to the same value.
func (c Config) String() string {
	var text strings.Builder
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(c); err != nil {
		return err.Error()
	}
	return text.String()
}
