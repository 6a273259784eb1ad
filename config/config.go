// Package config reads the user's configuration: strict YAML in, complete and checked settings out, or every mistake
// of the file at once with its line, its key and its remedy.
package config

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The values of Source.Dialect and Source.Relay that are always known.
const (
	DialectAuto   = "auto"
	DialectCustom = "custom"
	RelayVerbatim = "verbatim"
	RelayFiltered = "filtered"
)

// The values of Source.AgentCards.
const (
	CardsRewritten = "rewritten"
	CardsVerbatim  = "verbatim"
)

// The values of Source.Policy and Stream.Policy.
const (
	PolicyClient = "client"
	PolicyPublic = "public"
)

// The values of Traces.Content.
const (
	ContentNone = "none"
	ContentAll  = "all"
)

// ProfileGenAI is the value of Traces.Profile: the names of the OpenTelemetry GenAI conventions.
const ProfileGenAI = "gen_ai"

// The values of Authentication.Anonymous.
const (
	AnonymousLoopback = "loopback"
	AnonymousAnywhere = "anywhere"
)

// The values of Stream.Store.
const (
	StoreMemory    = "memory"
	StoreJetStream = "jetstream"
)

// Config is everything that a user can configure; example.yml shows each field with its default and its bounds.
type Config struct {
	Sources []Source `yaml:"sources"` // at least one, unless others publish to the stream's store
	Runs    Runs     `yaml:"runs"`
	Traces  Traces   `yaml:"traces"`
	Metrics Metrics  `yaml:"metrics"`
	Limits  Limits   `yaml:"limits"`
	Stream  Stream   `yaml:"stream"`
	Web     Web      `yaml:"web"`
}

// Source is one place that agents' streams come from; exactly one kind of source is given in it.
type Source struct {
	Name          string   `yaml:"name"` // the metrics label `source`; unique, [a-zA-Z0-9_.-]{1,64}
	Proxy         *Proxy   `yaml:"proxy,omitempty"`
	Tail          *Tail    `yaml:"tail,omitempty"`
	Dialect       string   `yaml:"dialect"`          // DialectAuto, DialectCustom, or one of Known.Dialects
	Custom        *Custom  `yaml:"custom,omitempty"` // of DialectCustom
	Relay         string   `yaml:"relay"`            // RelayFiltered or RelayVerbatim
	Policy        string   `yaml:"policy"`           // PolicyClient or PolicyPublic, of a filtered relay
	Agent         string   `yaml:"agent"`            // the name of an agent that its stream does not name; "" for Name
	AgentCards    string   `yaml:"agent_cards"`      // CardsRewritten or CardsVerbatim
	AgentsAsTools []string `yaml:"agents_as_tools"`  // names of tools that are agents
}

// Proxy is a reverse proxy in front of an agent.
type Proxy struct {
	Listen   string   `yaml:"listen"`          // host:port; an empty host is every address, port 0 any free port
	Upstream string   `yaml:"upstream"`        // an http or https URL: host, and optionally port and path
	Paths    []string `yaml:"paths,omitempty"` // path.Match globs of the agent's streams; nil for the dialects' own

	// PublicPaths are path.Match globs of paths whose answers are let out as they are by PolicyPublic, which lets out only event
	// streams of runs elsewhere.
	PublicPaths []string `yaml:"public_paths,omitempty"`
}

// Tail reads the stream of an agent that takes a second subscriber.
type Tail struct {
	URL         string            `yaml:"url"`               // an http or https URL, in which TailSession may stand
	Headers     map[string]Header `yaml:"headers,omitempty"` // of the request, by name
	MaxSessions int               `yaml:"max_sessions"`      // streams open at once, where the URL has TailSession
	IdleTimeout time.Duration     `yaml:"idle_timeout"`      // of a session's stream, without a frame or a request that names the session
}

// TailSession stands in Tail.URL for each session that a proxied request names.
const TailSession = "{session}"

// Header is the value of a header, or the file that holds it; exactly one of the two is given.
type Header struct {
	Value string `yaml:"value,omitempty"`
	File  string `yaml:"file,omitempty"`
}

// Runs bounds what is remembered of runs.
type Runs struct {
	IdleTimeout   time.Duration `yaml:"idle_timeout"`   // without a frame
	MaxOpen       int           `yaml:"max_open"`       // runs
	MaxOperations int           `yaml:"max_operations"` // open operations a run
	MaxEnded      int           `yaml:"max_ended"`      // ended runs kept for the landing page
	MaxEndedSize  Bytes         `yaml:"max_ended_size"` // of all of them
}

// Traces says what spans hold; how they are delivered is in the environment, OTEL_*.
type Traces struct {
	Content        string `yaml:"content"`          // ContentNone or ContentAll
	MaxContent     Bytes  `yaml:"max_content"`      // of one operation
	MaxContentHeld Bytes  `yaml:"max_content_held"` // of all open operations
	Profile        string `yaml:"profile"`          // ProfileGenAI
}

// Metrics bounds the number of time series.
type Metrics struct {
	MaxLabelValues int `yaml:"max_label_values"` // values a label
	MaxLabelSets   int `yaml:"max_label_sets"`   // label sets a metric
}

// Limits bounds what is read from the wire and what may wait to be worked on.
type Limits struct {
	Frame          Bytes `yaml:"frame"`           // one SSE frame
	JSONDepth      int   `yaml:"json_depth"`      // levels
	RequestBody    Bytes `yaml:"request_body"`    // read of a request for its ids
	ConfidenceText Bytes `yaml:"confidence_text"` // scanned of a text for confidence
	ObserveQueue   Bytes `yaml:"observe_queue"`   // of one stream, waiting to be observed
	LogQueue       Bytes `yaml:"log_queue"`       // log lines waiting to be written
	SpanQueue      int   `yaml:"span_queue"`      // spans waiting to be exported, where OTEL_BSP_MAX_QUEUE_SIZE says nothing
	SpanQueueSize  Bytes `yaml:"span_queue_size"` // of these spans
	Memory         Bytes `yaml:"memory"`          // of all queues and buffers together; 0 for a share of the process's memory limit
}

// Stream is the external stream: what of all sources may be read by whom.
type Stream struct {
	Listen          string         `yaml:"listen"`           // host:port; "" for no external stream
	WebConfigFile   string         `yaml:"web_config_file"`  // of the Prometheus exporter toolkit, for TLS; "" for none
	Policy          string         `yaml:"policy"`           // PolicyPublic or PolicyClient
	Kinds           Kinds          `yaml:"kinds"`            // of facts
	Authors         []string       `yaml:"authors"`          // whose text may leave; empty for everybody's
	Thoughts        string         `yaml:"thoughts"`         // one of Verbosities
	ConfidenceFloor float64        `yaml:"confidence_floor"` // 0..1, of thoughts
	StateKeys       []string       `yaml:"state_keys"`       // that may leave
	Authentication  Authentication `yaml:"authentication"`
	AllowedOrigins  []string       `yaml:"allowed_origins"` // of pages whose scripts may read
	Replay          Replay         `yaml:"replay"`
	Store           string         `yaml:"store"` // StoreMemory or StoreJetStream
	JetStream       JetStream      `yaml:"jetstream"`
	MaxSubscribers  int            `yaml:"max_subscribers"`
	MaxPerToken     int            `yaml:"max_per_token"`
	MaxTickets      int            `yaml:"max_tickets"`
	WriteTimeout    time.Duration  `yaml:"write_timeout"`
	Heartbeat       time.Duration  `yaml:"heartbeat"`
	MaxLife         time.Duration  `yaml:"max_life"` // of one connection
}

// Web is what the pages of the admin server show besides runs; where it listens is a flag.
type Web struct {
	TraceURL string `yaml:"trace_url"` // of a trace in its backend, with TraceID in it; "" for no link
}

// TraceID stands in Web.TraceURL for the id of a trace, in hexadecimal.
const TraceID = "{trace_id}"

// Verbosities are the values of Stream.Thoughts, from nothing to everything.
func Verbosities() []string { return []string{"none", "brief", "normal", "detailed"} }

// Kinds narrow the external stream by the kinds of facts, Known.Kinds.
type Kinds struct {
	In  []string `yaml:"in"` // empty for all
	Out []string `yaml:"out"`
}

// Authentication is who may read the external stream.
type Authentication struct {
	BearerTokensFile   string `yaml:"bearer_tokens_file"`
	ClientCertificates bool   `yaml:"client_certificates"` // verified as the web configuration file says
	Anonymous          string `yaml:"anonymous"`           // AnonymousLoopback or AnonymousAnywhere
}

// Replay bounds what subscribers who come back can catch up on.
type Replay struct {
	Frames int           `yaml:"frames"`
	Bytes  Bytes         `yaml:"bytes"`
	Age    time.Duration `yaml:"age"`
}

// JetStream is the store of the stream in NATS.
type JetStream struct {
	URLs            []string      `yaml:"urls"`
	CredentialsFile string        `yaml:"credentials_file"`
	NKeyFile        string        `yaml:"nkey_file"`
	TLS             ClientTLS     `yaml:"tls"`
	Stream          string        `yaml:"stream"`       // its name in NATS
	Manage          bool          `yaml:"manage"`       // it is made, and its limits are kept at those below
	Replicas        int           `yaml:"replicas"`     // in NATS
	MaxAge          time.Duration `yaml:"max_age"`      // of a message
	MaxBytes        Bytes         `yaml:"max_bytes"`    // of all
	MaxMessages     int           `yaml:"max_messages"` // of one source and session
	MaxMessage      Bytes         `yaml:"max_message"`  // of one, its headers included
	Duplicates      time.Duration `yaml:"duplicates"`   // how long NATS knows what it has been sent
	Queue           Bytes         `yaml:"queue"`        // that wait to be published
	MaxFeeds        int           `yaml:"max_feeds"`    // that bring sessions to their readers at once
	FeedBytes       Bytes         `yaml:"feed_bytes"`   // held of one
	AllFeeds        Bytes         `yaml:"all_feeds"`    // held of all together
}

// ClientTLS is how a client and its server know each other.
type ClientTLS struct {
	CAFile   string `yaml:"ca_file"`
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// Default returns every default. It is not valid as it stands: it has no source, since none can be guessed.
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
			},
			MaxSubscribers: 10_000,
			MaxPerToken:    10,
			MaxTickets:     1_000,
			WriteTimeout:   5 * time.Second,
			Heartbeat:      15 * time.Second,
			MaxLife:        time.Hour,
		},
	}
}

func defaultSource() Source {
	return Source{Dialect: DialectAuto, Relay: RelayFiltered, Policy: PolicyClient, AgentCards: CardsRewritten, AgentsAsTools: []string{}}
}

func defaultTail() Tail { return Tail{MaxSessions: 100, IdleTimeout: 10 * time.Minute} }

// String prints a valid configuration as YAML that loads back to the same value.
func (c Config) String() string {
	var text strings.Builder
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(c); err != nil {
		return err.Error()
	}
	return text.String()
}
