package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Bounds of the lists in the section stream.
const (
	maxAuthors   = 1000
	maxStateKeys = 1000
	maxOrigins   = 100
)

// stream reports the mistakes of the external stream.
func (c *checker) stream(s Stream) {
	if s.Listen != "" {
		c.listen(s.Listen, "stream.listen")
	}
	c.oneOf(s.Policy, "stream.policy", PolicyPublic, PolicyClient)
	c.oneOf(s.Thoughts, "stream.thoughts", Verbosities()...)
	between(c.report, "stream.confidence_floor", s.ConfidenceFloor, 0, 1)
	c.kinds(s.Kinds.In, "stream.kinds.in")
	c.kinds(s.Kinds.Out, "stream.kinds.out")
	c.texts(s.Authors, "stream.authors", maxAuthors, "the name of an agent")
	c.texts(s.StateKeys, "stream.state_keys", maxStateKeys, "a key of session state")
	c.origins(s.AllowedOrigins, "stream.allowed_origins")
	c.authentication(s)
	between(c.report, "stream.replay.frames", s.Replay.Frames, 1, 10_000_000)
	between(c.report, "stream.replay.bytes", s.Replay.Bytes, 1*kibibyte, 64*gibibyte)
	between(c.report, "stream.replay.age", s.Replay.Age, time.Second, 24*time.Hour)
	c.oneOf(s.Store, "stream.store", StoreMemory, StoreJetStream)
	c.jetStream(s.JetStream, s.Store == StoreJetStream)
	between(c.report, "stream.max_subscribers", s.MaxSubscribers, 1, 1_000_000)
	between(c.report, "stream.max_per_token", s.MaxPerToken, 1, 1_000_000)
	between(c.report, "stream.max_tickets", s.MaxTickets, 1, 1_000_000)
	between(c.report, "stream.write_timeout", s.WriteTimeout, 10*time.Millisecond, 5*time.Minute)
	between(c.report, "stream.heartbeat", s.Heartbeat, 100*time.Millisecond, 10*time.Minute)
	between(c.report, "stream.max_life", s.MaxLife, time.Second, 7*24*time.Hour)
}

// authentication refuses a stream that strangers could read and nobody meant them to.
func (c *checker) authentication(s Stream) {
	const key = "stream.authentication"
	c.oneOf(s.Authentication.Anonymous, key+".anonymous", AnonymousLoopback, AnonymousAnywhere)
	if s.Authentication.ClientCertificates && s.WebConfigFile == "" {
		c.report.wrong(key+".client_certificates", "there is no TLS that could ask for certificates", "name a web_config_file with tls_server_config")
	}
	known := s.Authentication.BearerTokensFile != "" || s.Authentication.ClientCertificates || s.WebConfigFile != ""
	listen, err := parseAddress(s.Listen)
	if s.Listen == "" || err != nil || known || s.Authentication.Anonymous == AnonymousAnywhere {
		return
	}
	if ip, err := netip.ParseAddr(listen.host); err != nil || !ip.IsLoopback() {
		c.report.wrong("stream.listen", fmt.Sprintf("%q can be reached from elsewhere, and nobody is asked who they are", s.Listen),
			"give authentication.bearer_tokens_file, or listen on 127.0.0.1; authentication.anonymous: anywhere lets every stranger read")
	}
}

func (c *checker) kinds(kinds []string, key string) {
	if !c.within(key, len(kinds), len(c.known.Kinds)) {
		return
	}
	for i, kind := range kinds {
		c.oneOf(kind, fmt.Sprintf("%s[%d]", key, i), c.known.Kinds...)
	}
}

func (c *checker) texts(texts []string, key string, limit int, noun string) {
	if !c.within(key, len(texts), limit) {
		return
	}
	for i, text := range texts {
		if text == "" || len(text) > maxAgentName || strings.ContainsFunc(text, unprintable) {
			c.report.wrong(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%.60q is not %s", text, noun),
				fmt.Sprintf("give 1 to %d bytes of printable text", maxAgentName))
		}
	}
}

// origins are compared with what browsers send, byte for byte.
func (c *checker) origins(origins []string, key string) {
	if !c.within(key, len(origins), maxOrigins) {
		return
	}
	for i, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Contains(u.Host, "*") || origin != u.Scheme+"://"+strings.ToLower(u.Host) {
			c.report.wrong(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%.60q is not an origin", origin),
				`give scheme and host in lower case, and the port if there is one, such as "https://app.example.org"; * is not supported`)
		}
	}
}
