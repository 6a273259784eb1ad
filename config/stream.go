package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Limits of the lists in the section stream.
const (
	maxAuthors   = 1000
	maxStateKeys = 1000
	maxOrigins   = 100
)

// checkStream reports the mistakes of the external stream.
func (c *checker) checkStream(s Stream) {
	if s.Listen != "" {
		c.checkListen(s.Listen, "stream.listen")
	}
	c.checkOneOf(s.Policy, "stream.policy", PolicyPublic, PolicyClient)
	c.checkOneOf(s.Thoughts, "stream.thoughts", Verbosities()...)
	checkRange(c.report, "stream.confidence_floor", s.ConfidenceFloor, 0, 1)
	c.checkKinds(s.Kinds.In, "stream.kinds.in")
	c.checkKinds(s.Kinds.Out, "stream.kinds.out")
	c.checkTexts(s.Authors, "stream.authors", maxAuthors, "the name of an agent")
	c.checkTexts(s.StateKeys, "stream.state_keys", maxStateKeys, "a key of session state")
	c.checkOrigins(s.AllowedOrigins, "stream.allowed_origins")
	c.checkAuthentication(s)
	checkRange(c.report, "stream.replay.frames", s.Replay.Frames, 1, 10_000_000)
	checkRange(c.report, "stream.replay.bytes", s.Replay.Bytes, 1*kibibyte, 64*gibibyte)
	checkRange(c.report, "stream.replay.age", s.Replay.Age, time.Second, 24*time.Hour)
	c.checkOneOf(s.Store, "stream.store", StoreMemory, StoreJetStream)
	c.checkJetStream(s.JetStream, s.Store == StoreJetStream)
	checkRange(c.report, "stream.max_subscribers", s.MaxSubscribers, 1, 1_000_000)
	checkRange(c.report, "stream.max_per_token", s.MaxPerToken, 1, 1_000_000)
	checkRange(c.report, "stream.max_tickets", s.MaxTickets, 1, 1_000_000)
	checkRange(c.report, "stream.arrival_rate", s.ArrivalRate, 0, 1_000_000)
	checkRange(c.report, "stream.arrival_burst", s.ArrivalBurst, 1, 1_000_000)
	checkRange(c.report, "stream.write_timeout", s.WriteTimeout, 10*time.Millisecond, 5*time.Minute)
	checkRange(c.report, "stream.heartbeat", s.Heartbeat, 100*time.Millisecond, 10*time.Minute)
	checkRange(c.report, "stream.max_life", s.MaxLife, time.Second, 7*24*time.Hour)
	checkRange(c.report, "stream.drain_delay", s.DrainDelay, 0, 10*time.Minute)
}

// checkAuthentication refuses a stream that anyone could read, unless the configuration says so explicitly.
func (c *checker) checkAuthentication(s Stream) {
	const key = "stream.authentication"
	c.checkOneOf(s.Authentication.Anonymous, key+".anonymous", AnonymousLoopback, AnonymousAnywhere)
	if s.Authentication.ClientCertificates && s.WebConfigFile == "" {
		c.report.invalid(key+".client_certificates", "client certificates need TLS", "name a web_config_file with tls_server_config")
	}
	known := s.Authentication.BearerTokensFile != "" || s.Authentication.ClientCertificates || s.WebConfigFile != ""
	listen, err := parseAddress(s.Listen)
	if s.Listen == "" || err != nil || known || s.Authentication.Anonymous == AnonymousAnywhere {
		return
	}
	if ip, err := netip.ParseAddr(listen.host); err != nil || !ip.IsLoopback() {
		c.report.invalid("stream.listen", fmt.Sprintf("%q can be reached from other machines without authentication", s.Listen),
			"give authentication.bearer_tokens_file, or listen on 127.0.0.1; authentication.anonymous: anywhere lets anyone read")
	}
}

func (c *checker) checkKinds(kinds []string, key string) {
	if !c.checkCount(key, len(kinds), len(c.known.Kinds)) {
		return
	}
	for i, kind := range kinds {
		c.checkOneOf(kind, fmt.Sprintf("%s[%d]", key, i), c.known.Kinds...)
	}
}

func (c *checker) checkTexts(texts []string, key string, limit int, noun string) {
	if !c.checkCount(key, len(texts), limit) {
		return
	}
	for i, text := range texts {
		if text == "" || len(text) > maxAgentName || strings.ContainsFunc(text, unprintable) {
			c.report.invalid(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%.60q is not %s", text, noun),
				fmt.Sprintf("give 1 to %d bytes of printable text", maxAgentName))
		}
	}
}

// checkOrigins checks allowed origins. They are compared with the Origin header of browsers byte for byte.
func (c *checker) checkOrigins(origins []string, key string) {
	if !c.checkCount(key, len(origins), maxOrigins) {
		return
	}
	for i, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Contains(u.Host, "*") || origin != u.Scheme+"://"+strings.ToLower(u.Host) {
			c.report.invalid(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%.60q is not an origin", origin),
				`give scheme and host in lower case, and the port if there is one, such as "https://app.example.org"; * is not supported`)
		}
	}
}
