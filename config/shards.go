package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// maxShards is the number of shards that may be listed. Each is a connection of every sidecar.
const maxShards = 100

// Of returns the settings of one shard: j, with what the shard names. A credential of the shard replaces both kinds.
func (j JetStream) Of(s Shard) JetStream {
	if len(s.URLs) > 0 {
		j.URLs = s.URLs
	}
	if s.CredentialsFile != "" || s.NKeyFile != "" {
		j.CredentialsFile, j.NKeyFile = s.CredentialsFile, s.NKeyFile
	}
	if s.TLS != (ClientTLS{}) {
		j.TLS = s.TLS
	}
	j.Stream = cmp.Or(s.Stream, j.Stream)
	return j
}

// MoveTime returns MoveAt; the zero time if it is empty.
func (j JetStream) MoveTime() (time.Time, error) {
	if j.MoveAt == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, j.MoveAt)
}

func (c *checker) checkShards(j JetStream, key string, used bool) {
	if !c.checkCount(key+".shards", len(j.Shards), maxShards) {
		return
	}
	var names []string
	streams := map[string]string{} // key of a shard, by its servers and stream
	for i, s := range j.Shards {
		at := fmt.Sprintf("%s.shards[%d]", key, i)
		c.checkShard(s, at)
		of := j.Of(s)
		if used && len(of.URLs) == 0 {
			c.report.invalid(at+".urls", c.report.missingOrEmpty(at+".urls"), `give the servers' addresses, such as ["nats://nats:4222"]`)
		}
		if slices.Contains(names, s.Name) && s.Name != "" {
			c.report.invalid(at+".name", fmt.Sprintf("%q is already the name of another shard", s.Name), "give each shard a name of its own")
		}
		stream := fmt.Sprintf("%q %q", slices.Sorted(slices.Values(of.URLs)), of.Stream)
		if first := streams[stream]; first != "" {
			c.report.invalid(at+".stream", "it is the stream of "+first+" too", "give each shard servers or a stream of its own")
		}
		names, streams[stream] = append(names, s.Name), at
	}
	c.checkShardNames(j.Serve, names, key+".serve")
	c.checkShardNames(j.Previous, names, key+".previous")
	const remedy = `give the time when all sidecars and gateways have this list, such as "2030-01-31T12:00:00Z"`
	switch _, err := j.MoveTime(); {
	case err != nil:
		c.report.invalid(key+".move_at", fmt.Sprintf("%.60q is not a time", j.MoveAt), remedy)
	case len(j.Previous) > 0 && j.MoveAt == "":
		c.report.invalid(key+".move_at", c.report.missingOrEmpty(key+".move_at"), remedy)
	}
}

func (c *checker) checkShard(s Shard, key string) {
	const remedy = `use 1 to 64 letters (a-z, A-Z), digits, "_" and "-"`
	switch {
	case s.Name == "":
		c.report.invalid(key+".name", c.report.missingOrEmpty(key+".name"), remedy)
	case len(s.Name) > maxName || !jetStreamName.MatchString(s.Name):
		c.report.invalid(key+".name", fmt.Sprintf("%.80q is not a name", s.Name), remedy)
	}
	if s.Stream != "" && (len(s.Stream) > maxName || !jetStreamName.MatchString(s.Stream)) {
		c.report.invalid(key+".stream", fmt.Sprintf("%.80q is not a name", s.Stream), remedy)
	}
	c.checkServers(s.URLs, key+".urls")
	c.checkCredentials(s.CredentialsFile, s.NKeyFile, s.TLS, key)
	if s.Gateway != "" {
		_, problem := parseUpstream(s.Gateway)
		if problem == "" && len(s.Gateway) > maxURL {
			problem = "the URL is too long"
		}
		if problem != "" {
			c.report.invalid(key+".gateway", problem, `give the URL at which readers reach the shard's gateways, such as "https://stream-b.example.org"`)
		}
	}
}

// checkShardNames checks a list of names of shards.
func (c *checker) checkShardNames(list, names []string, key string) {
	for i, name := range list {
		at := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case !slices.Contains(names, name):
			c.report.invalid(at, fmt.Sprintf("%.80q is not the name of a shard", name), "give names that shards lists")
		case slices.Contains(list[:i], name):
			c.report.invalid(at, fmt.Sprintf("%q is listed twice", name), "remove one of the two")
		}
	}
}
