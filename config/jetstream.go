package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"time"
)

// maxServers is more NATS servers than anyone names.
const maxServers = 100

var jetStreamName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// jetStream reports the mistakes of the stream's store in NATS, which has to be complete only where it is used.
func (c *checker) jetStream(j JetStream, used bool) {
	const key = "stream.jetstream"
	if used && len(j.URLs) == 0 {
		c.report.wrong(key+".urls", "there is none", `give the servers' addresses, such as ["nats://nats:4222"]`)
	}
	if c.within(key+".urls", len(j.URLs), maxServers) {
		for i, text := range j.URLs {
			c.server(text, fmt.Sprintf("%s.urls[%d]", key, i))
		}
	}
	if j.CredentialsFile != "" && j.NKeyFile != "" {
		c.report.wrong(key+".nkey_file", "there is a credentials_file too", "give one of the two")
	}
	if (j.TLS.CertFile == "") != (j.TLS.KeyFile == "") {
		c.report.wrong(key+".tls.cert_file", "a certificate and its key belong together", "give cert_file and key_file, or neither")
	}
	if !jetStreamName.MatchString(j.Stream) {
		c.report.wrong(key+".stream", fmt.Sprintf("%.80q is not a name", j.Stream), `use 1 to 64 letters (a-z, A-Z), digits, "_" and "-"`)
	}
	between(c.report, key+".replicas", j.Replicas, 1, 5)
	between(c.report, key+".max_age", j.MaxAge, time.Minute, 720*time.Hour)
	between(c.report, key+".max_bytes", j.MaxBytes, mebibyte, 100_000*gibibyte)
	between(c.report, key+".max_messages", j.MaxMessages, 1, 1_000_000_000)
	between(c.report, key+".max_message", j.MaxMessage, 8*kibibyte, 64*mebibyte)
	between(c.report, key+".duplicates", j.Duplicates, 10*time.Second, j.MaxAge)
	between(c.report, key+".queue", j.Queue, 64*kibibyte, 64*gibibyte)
	between(c.report, key+".max_feeds", j.MaxFeeds, 1, 1_000_000)
	between(c.report, key+".feed_bytes", j.FeedBytes, j.MaxMessage, 64*gibibyte)
	between(c.report, key+".all_feeds", j.AllFeeds, j.FeedBytes, 64*gibibyte)
}

// server takes no user info: it would be printed and logged.
func (c *checker) server(text, key string) {
	const remedy = `give a server's address, such as "nats://nats:4222"`
	u, err := url.Parse(text)
	switch {
	case err != nil || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "" || len(text) > maxURL:
		c.report.wrong(key, "this is not a nats, tls, ws or wss URL", remedy)
	case u.User != nil:
		c.report.wrong(key, "the URL has user info", "give credentials_file or nkey_file")
	}
}
