package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"time"
)

// maxServers is the number of NATS servers that may be listed.
const maxServers = 100

var jetStreamName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// checkJetStream reports the mistakes of stream.jetstream, which need not be complete if it is not used.
func (c *checker) checkJetStream(j JetStream, used bool) {
	const key = "stream.jetstream"
	if used && len(j.URLs) == 0 && len(j.Shards) == 0 {
		c.report.invalid(key+".urls", "the list is empty", `give the servers' addresses, such as ["nats://nats:4222"]`)
	}
	c.checkServers(j.URLs, key+".urls")
	c.checkCredentials(j.CredentialsFile, j.NKeyFile, j.TLS, key)
	c.checkShards(j, key, used)
	if len(j.Stream) > maxName || !jetStreamName.MatchString(j.Stream) {
		c.report.invalid(key+".stream", fmt.Sprintf("%.80q is not a name", j.Stream), `use 1 to 64 letters (a-z, A-Z), digits, "_" and "-"`)
	}
	checkRange(c.report, key+".replicas", j.Replicas, 1, 5)
	checkRange(c.report, key+".max_age", j.MaxAge, time.Minute, 720*time.Hour)
	checkRange(c.report, key+".max_bytes", j.MaxBytes, mebibyte, 100_000*gibibyte)
	checkRange(c.report, key+".max_messages", j.MaxMessages, 1, 1_000_000_000)
	checkRange(c.report, key+".max_message", j.MaxMessage, 8*kibibyte, 64*mebibyte)
	checkRange(c.report, key+".duplicates", j.Duplicates, 10*time.Second, j.MaxAge)
	checkRange(c.report, key+".queue", j.Queue, 64*kibibyte, 64*gibibyte)
	checkRange(c.report, key+".max_feeds", j.MaxFeeds, 1, 1_000_000)
	checkRange(c.report, key+".feed_bytes", j.FeedBytes, j.MaxMessage, 64*gibibyte)
	checkRange(c.report, key+".all_feeds", j.AllFeeds, j.FeedBytes, 64*gibibyte)
}

func (c *checker) checkServers(urls []string, key string) {
	if c.checkCount(key, len(urls), maxServers) {
		for i, text := range urls {
			c.checkServer(text, fmt.Sprintf("%s[%d]", key, i))
		}
	}
}

func (c *checker) checkCredentials(credentials, nkey string, tls ClientTLS, key string) {
	if credentials != "" && nkey != "" {
		c.report.invalid(key+".nkey_file", "credentials_file is set too", "give one of the two")
	}
	if (tls.CertFile == "") != (tls.KeyFile == "") {
		c.report.invalid(key+".tls.cert_file", "a certificate and its key belong together", "give cert_file and key_file, or neither")
	}
}

// checkServer checks the URL of a NATS server. It refuses user info, which would be printed and logged.
func (c *checker) checkServer(text, key string) {
	const remedy = `give a server's address, such as "nats://nats:4222"`
	u, err := url.Parse(text)
	switch {
	case err != nil || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "" || len(text) > maxURL:
		c.report.invalid(key, "this is not a nats, tls, ws or wss URL", remedy)
	case u.User != nil:
		c.report.invalid(key, "the URL has user info", "give credentials_file or nkey_file")
	}
}
