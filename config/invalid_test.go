package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// invalid maps the name of each file testdata/invalid-<name>.yml to the lines of its error without the file's name.
var invalid = map[string][]string{
	"agent-control": {`6: sources[0].agents_as_tools[0]: "a\nb" is not the name of a tool; give 1 to 256 bytes of printable text`},
	"agent-empty":   {`6: sources[0].agents_as_tools[0]: "" is not the name of a tool; give 1 to 256 bytes of printable text`},
	"agent-twice":   {`6: sources[0].agents_as_tools[2]: "a" is listed twice; remove one of the two`},
	"alias-unknown": {`6: aliases are not supported; write the value out, or put it in quotes`},
	"alias": {
		`1: runs.max_open: anchors are not supported; remove &n`,
		`1: runs.max_ended: aliases are not supported; write the value out, or put it in quotes`,
	},
	"anchor":            {`6: runs: anchors are not supported; remove &r`},
	"boolean-for-text":  {`6: sources[0].agents_as_tools[0]: expected text, found true; put it in quotes`},
	"control-character": {`2: the line contains the control character U+0007; remove it`},
	"custom": {
		`2: sources[0].custom: missing; say with paths and frames what the agent's frames mean`,
		`12: sources[1].custom: it is for the dialect custom only; write dialect: custom, or leave it out`,
	},
	"custom-mapping": {
		`3: sources[0].proxy.paths: missing; give the paths of the agent's streams: nothing else tells which answers these are`,
		`9: sources[0].custom.paths.agnet: there is no such path here; did you mean "agent"?`,
		`10: sources[0].custom.paths.run: "a..b" is not a path; give up to 8 names of members, from the outermost to the innermost, with a dot between two`,
		`11: sources[0].custom.paths.time: "a.b.c.d.e.f.g.h.i" is not a path; give up to 8 names of members, from the outermost to the innermost, with a dot between two`,
		`12: sources[0].custom.failed[1]: "" is not what an agent sends; give 1 to 256 bytes of printable text`,
		`13: sources[0].custom.end: frames are told apart by their SSE event names, and this has none; give paths.type, or leave it out`,
		`15: sources[0].custom.frames.a.means: "anser" is not a meaning; did you mean "answer"?`,
		`16: sources[0].custom.frames.b.paths: answer needs a path for text; say where in the frame it stands`,
		`17: sources[0].custom.frames.c.paths: tool_ended needs a path for name or call; say where in the frame it stands`,
		`17: sources[0].custom.frames.c.paths.type: there is no such path here; use one of name, call, result, status, run, session, agent, time`,
		`18: sources[0].custom.frames.d.means: missing; use one of run_started, answer, tool_ended`,
		`19: sources[0].custom.frames.e.names: unknown key; the keys here are means, paths`,
		`20: sources[0].custom.frames.f.paths.agent: "agents[*]" leads into a list, where no value can be read; give the path of a value that is in no list`,
		`20: sources[0].custom.frames.f.paths.text: "choices[0].text" leads into a list, where no value can be read; give the path of a value that is in no list`,
	},
	"custom-empty":   {`6: sources[0].custom.frames: there is no frame; give each type of frame that the agent sends, with what it means`},
	"date-for-text":  {`2: sources[0].name: expected text, found the date 2024-05-01; put it in quotes`},
	"dialect-close":  {`6: sources[0].dialect: "ADK" is not a known dialect; did you mean "adk"?`},
	"dialect":        {`6: sources[0].dialect: "soap" is not a known dialect; use one of auto, custom, adk, looopy`},
	"duplicate-key":  {`9: runs.max_open: duplicate key, first given on line 7; keep one of the two`},
	"duration":       {`6: runs.idle_timeout: "30 minutes" is not a duration such as 30m; write numbers with the units ms, s, m and h`},
	"empty-comments": {`1: the file is empty; give at least one source`},
	"empty-document": {`1: the file is empty; give at least one source`},
	"empty":          {`1: the file is empty; give at least one source`},
	"indentation":    {`6: this is not YAML: did not find expected key; check indentation, quotes and brackets here and just above`},
	"jetstream-credentials": {
		`6: stream.jetstream.nkey_file: credentials_file is set too; give one of the two`,
		`6: stream.jetstream.tls.cert_file: a certificate and its key belong together; give cert_file and key_file, or neither`,
	},
	"jetstream-limits": {
		`6: stream.jetstream.stream: "a.b" is not a name; use 1 to 64 letters (a-z, A-Z), digits, "_" and "-"`,
		`6: stream.jetstream.replicas: 7 is out of bounds; give a value from 1 to 5`,
		`6: stream.jetstream.duplicates: 2h0m0s is out of bounds; give a value from 10s to 1h0m0s`,
		`6: stream.jetstream.feed_bytes: 512KiB is out of bounds; give a value from 1MiB to 64GiB`,
	},
	"jetstream-no-urls": {`6: stream.jetstream.urls: the list is empty; give the servers' addresses, such as ["nats://nats:4222"]`},
	"jetstream-shards": {
		`4: stream.jetstream.move_at: missing; give the time when all sidecars and gateways have this list, such as "2030-01-31T12:00:00Z"`,
		`8: stream.jetstream.shards[0].name: missing; use 1 to 64 letters (a-z, A-Z), digits, "_" and "-"`,
		`9: stream.jetstream.shards[1].nkey_file: credentials_file is set too; give one of the two`,
		`10: stream.jetstream.shards[2].name: "a" is already the name of another shard; give each shard a name of its own`,
		`10: stream.jetstream.shards[2].stream: it is the stream of stream.jetstream.shards[1] too; give each shard servers or a stream of its own`,
		`11: stream.jetstream.shards[3].name: "b c" is not a name; use 1 to 64 letters (a-z, A-Z), digits, "_" and "-"`,
		`11: stream.jetstream.shards[3].gateway: the URL has user info; give the URL at which readers reach the shard's gateways, such as "https://stream-b.example.org"`,
		`11: stream.jetstream.shards[3].urls: missing; give the servers' addresses, such as ["nats://nats:4222"]`,
		`12: stream.jetstream.serve[0]: "d" is not the name of a shard; give names that shards lists`,
		`13: stream.jetstream.previous[1]: "a" is listed twice; remove one of the two`,
	},
	"jetstream-move":  {`6: stream.jetstream.move_at: "noon" is not a time; give the time when all sidecars and gateways have this list, such as "2030-01-31T12:00:00Z"`},
	"jetstream-store": {`6: stream.store: "nats" is not a value of this key; use one of memory, jetstream`},
	"jetstream-url": {
		`6: stream.jetstream.urls[0]: this is not a nats, tls, ws or wss URL; give a server's address, such as "nats://nats:4222"`,
		`6: stream.jetstream.urls[1]: the URL has user info; give credentials_file or nkey_file`,
	},
	"key-is-list":             {`7: runs."": expected a key, found a list; write its keys indented below, or {key: value}`},
	"list-for-duration":       {`6: runs.idle_timeout: expected a duration such as 30m, found a list; write numbers with the units ms, s, m and h`},
	"list-for-map":            {`6: runs: expected a map, found a list; write its keys indented below, or {key: value}`},
	"listen-empty":            {`4: sources[0].proxy.listen: the value is empty; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`},
	"listen-host":             {`4: sources[0].proxy.listen: "my host" is not a host; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`},
	"listen-missing":          {`3: sources[0].proxy.listen: missing; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`},
	"listen-no-port":          {`4: sources[0].proxy.listen: "127.0.0.1" is not host:port; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`},
	"listen-number":           {`4: sources[0].proxy.listen: expected text, found the number 8080; put it in quotes`},
	"listen-port-name":        {`4: sources[0].proxy.listen: ":http" has no port from 0 to 65535; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`},
	"listen-port":             {`4: sources[0].proxy.listen: ":65536" has no port from 0 to 65535; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`},
	"listen-shared-localhost": {`8: sources[1].proxy.listen: "localhost:8080" is already used by sources[0].proxy.listen; give each source an address of its own`},
	"listen-shared-wildcard":  {`8: sources[1].proxy.listen: "0.0.0.0:8080" is already used by sources[0].proxy.listen; give each source an address of its own`},
	"listen-shared":           {`8: sources[1].proxy.listen: ":8080" is already used by sources[0].proxy.listen; give each source an address of its own`},
	"listen-url":              {`4: sources[0].proxy.listen: "http://127.0.0.1:8080" is not host:port; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`},
	"many": {
		`2: runs.idle_timeout: expected a duration such as 30m, found a list; write numbers with the units ms, s, m and h`,
		`3: runs.max_ended: 0 is out of bounds; give a value from 1 to 10000`,
		`5: sources[0].name: "fire briefing" is not a name; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`,
		`7: sources[0].proxy.listen: expected text, found the number 8080; put it in quotes`,
		`8: sources[0].proxy.upstrem: unknown key; did you mean "upstream"?`,
		`9: sources[0].relay: "filtred" is not a value of this key; did you mean "filtered"?`,
		`10: sources[0].colour: unknown key; the keys here are name, proxy, tail, dialect, custom, relay, policy, agent, agent_cards, agents_as_tools`,
		`11: sources[1].name: missing; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`,
		`11: sources[1].proxy.listen: missing; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`,
		`11: sources[1].proxy.upstream: this is not an http or https URL; give the agent's URL, such as "http://127.0.0.1:8000"`,
		`12: limits.frame: duplicate key, first given on line 12; keep one of the two`,
	},
	"map-for-list":        {`6: sources[0].agents_as_tools: expected a list, found a map; write [first, second], or one "- item" a line`},
	"map-for-source-list": {`1: sources: expected a list, found a map; write [first, second], or one "- item" a line`},
	"map-for-text":        {`6: sources[0].dialect: expected text, found a map; give one value`},
	"merge-key":           {`7: runs."<<": merge keys are not supported; write the keys out`},
	"name-empty":          {`2: sources[0].name: the value is empty; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`},
	"name-long":           {`2: sources[0].name: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is not a name; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`},
	"name-missing":        {`2: sources[0].name: missing; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`},
	"name-space":          {`2: sources[0].name: "fire briefing" is not a name; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`},
	"name-twice":          {`6: sources[1].name: "agent" is already the name of sources[0]; give each source a name of its own`},
	"negative": {
		`6: runs.idle_timeout: -1s is out of bounds; give a value from 1ms to 168h0m0s`,
		`6: runs.max_open: -1 is out of bounds; give a value from 1 to 1000000`,
	},
	"no-sources": {`1: sources: there is no source; give at least one, with a name and a proxy or a tail`},
	"not-a-map":  {`1: expected a map, found a list; write its keys indented below, or {key: value}`},
	"not-utf8":   {`2: the text is not UTF-8; save the file as UTF-8`},
	"null-item":  {`6: sources[0].proxy.paths[1]: expected text, found nothing; give a value, or leave the key out`},
	"null": {
		`2: sources[0].name: expected text, found nothing; give a value, or leave the key out`,
		`6: runs: expected a map, found nothing; give a value, or leave the key out`,
	},
	"number-for-duration": {`6: runs.idle_timeout: expected a duration such as 30m, found the number 30; write numbers with the units ms, s, m and h`},
	"number-for-text":     {`2: sources[0].name: expected text, found the number 2024; put it in quotes`},
	"number-fraction":     {`6: runs.max_open: expected a whole number, found the number 1.5; write it in decimal digits, without quotes`},
	"number-octal":        {`6: runs.max_open: "010" is not a whole number in plain digits; write it in decimal digits, without quotes`},
	"number-range":        {`6: runs.max_open: "9999999999999999999" is out of range; write it in decimal digits, without quotes`},
	"number-overflow":     {`6: runs.max_open: expected a whole number, found the number 99999999999999999999; write it in decimal digits, without quotes`},
	"path-control":        {`6: sources[0].proxy.paths[0]: "/a\nb" is not a glob; use *, ? and [a-z]; put \ before one that stands for itself`},
	"path-double-star":    {`6: sources[0].proxy.paths[0]: "/**/run" contains **, which matches no more than *; write one * for each part of the path`},
	"path-glob":           {`6: sources[0].proxy.paths[0]: "/[a" is not a glob; use *, ? and [a-z]; put \ before one that stands for itself`},
	"path-relative":       {`6: sources[0].proxy.paths[1]: "run_sse" does not begin with /; give the whole path, such as /run_sse`},
	"paths-empty":         {`6: sources[0].proxy.paths: the list is empty; give a path, or leave the key out for those of the dialects`},
	"proxy-missing":       {`2: sources[0].proxy: missing; give a proxy with listen and upstream, or a tail with url`},
	"proxy-null":          {`3: sources[0].proxy: missing; give a proxy with listen and upstream, or a tail with url`},
	"agent-cards":         {`6: sources[0].agent_cards: "raw" is not a value of this key; use one of rewritten, verbatim`},
	"relay":               {`6: sources[0].relay: "raw" is not a value of this key; use one of filtered, verbatim`},
	"root-text":           {`1: expected a map, found text; write its keys indented below, or {key: value}`},
	"size-fraction":       {`6: limits.frame: "0.3KiB" is not a whole number of bytes; write a number with the unit B, KiB, MiB or GiB`},
	"size-negative":       {`6: limits.frame: "-1" is negative; write a number with the unit B, KiB, MiB or GiB`},
	"size-null":           {`6: limits.frame: expected a size such as 8MiB, found nothing; give a value, or leave the key out`},
	"size-overflow":       {`6: limits.frame: "9999999999GiB" is too large; write a number with the unit B, KiB, MiB or GiB`},
	"size-unit":           {`6: limits.frame: "8MB" has the unknown unit "MB"; write a number with the unit B, KiB, MiB or GiB`},
	"size-word":           {`6: limits.frame: "large" is not a size; write a number with the unit B, KiB, MiB or GiB`},
	"source-empty": {
		`1: sources[0].name: missing; use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`,
		`1: sources[0].proxy: missing; give a proxy with listen and upstream, or a tail with url`,
	},
	"sources-empty": {`1: sources: there is no source; give at least one, with a name and a proxy or a tail`},
	"policy": {
		`6: sources[0].policy: "all" is not a value of this key; use one of client, public`,
	},
	"stream-anonymous": {
		`6: stream.authentication.anonymous: "everywhere" is not a value of this key; use one of loopback, anywhere`,
	},
	"stream-author": {
		`6: stream.authors[0]: "" is not the name of an agent; give 1 to 256 bytes of printable text`,
	},
	"stream-certificates": {
		`6: stream.authentication.client_certificates: client certificates need TLS; name a web_config_file with tls_server_config`,
	},
	"stream-floor-text": {
		`6: stream.confidence_floor: expected a number, found text; write it as 0.5, without quotes`,
	},
	"stream-floor": {
		`6: stream.confidence_floor: ".inf" is not a number such as 0.5; write it as 0.5, without quotes`,
	},
	"stream-kind": {
		`6: stream.kinds.in[1]: "thougt" is not a value of this key; did you mean "thought"?`,
		`6: stream.kinds.out[0]: "secrets" is not a value of this key; use one of text, thought, tool_started`,
	},
	"stream-listen-shared": {
		`6: stream.listen: "127.0.0.1:8080" is already used by sources[0].proxy.listen; give each source an address of its own`,
	},
	"stream-listen": {
		`6: stream.listen: "127.0.0.1" is not host:port; give host:port, such as "127.0.0.1:8080", or ":8080" for every address`,
	},
	"stream-open-host": {
		`6: stream.listen: "example.org:9443" can be reached from other machines without authentication; give authentication.bearer_tokens_file, or listen on 127.0.0.1; authentication.anonymous: anywhere lets anyone read`,
	},
	"stream-open": {
		`6: stream.listen: ":9443" can be reached from other machines without authentication; give authentication.bearer_tokens_file, or listen on 127.0.0.1; authentication.anonymous: anywhere lets anyone read`,
	},
	"stream-origin": {
		`6: stream.allowed_origins[0]: "*" is not an origin; give scheme and host in lower case, and the port if there is one, such as "https://app.example.org"; * is not supported`,
		`6: stream.allowed_origins[1]: "https://App.example.org" is not an origin; give scheme and host in lower case, and the port if there is one, such as "https://app.example.org"; * is not supported`,
		`6: stream.allowed_origins[2]: "https://app.example.org/" is not an origin; give scheme and host in lower case, and the port if there is one, such as "https://app.example.org"; * is not supported`,
		`6: stream.allowed_origins[3]: "https://*.example.org" is not an origin; give scheme and host in lower case, and the port if there is one, such as "https://app.example.org"; * is not supported`,
	},
	"stream-policy": {
		`6: stream.policy: "publik" is not a value of this key; did you mean "public"?`,
	},
	"stream-state-key": {
		`6: stream.state_keys[0]: "a\nb" is not a key of session state; give 1 to 256 bytes of printable text`,
	},
	"stream-switch-case": {
		`6: stream.authentication.client_certificates: "True" is not true or false; write one of the two, without quotes`,
	},
	"stream-switch": {
		`6: stream.authentication.client_certificates: expected true or false, found text; write one of the two, without quotes`,
	},
	"stream-thoughts": {
		`6: stream.thoughts: "all" is not a value of this key; use one of none, brief, normal, detailed`,
	},
	"tab":              {`7: there is a tab in the indentation; indent with spaces`},
	"tag-escape":       {`1: sources[0].name: tags are not supported; remove "!a\nb", or put the value in quotes`},
	"tag":              {`6: runs.max_open: tags are not supported; remove "!!int", or put the value in quotes`},
	"text-for-list":    {`6: sources[0].proxy.paths: expected a list, found text; write [first, second], or one "- item" a line`},
	"text-for-map":     {`3: sources[0].proxy: expected a map, found text; write its keys indented below, or {key: value}`},
	"text-for-number":  {`6: runs.max_open: expected a whole number, found text; write it in decimal digits, without quotes`},
	"text-for-source":  {`1: sources[0]: expected a map, found text; write its keys indented below, or {key: value}`},
	"too-many-sources": {`1: sources: 101 items are too many; give at most 100`},
	"too-much": {
		`6: runs.idle_timeout: 169h0m0s is out of bounds; give a value from 1ms to 168h0m0s`,
		`6: runs.max_open: 1000001 is out of bounds; give a value from 1 to 1000000`,
		`6: runs.max_operations: 1000001 is out of bounds; give a value from 1 to 1000000`,
		`6: runs.max_ended: 10001 is out of bounds; give a value from 1 to 10000`,
		`7: metrics.max_label_values: 10001 is out of bounds; give a value from 1 to 10000`,
		`7: metrics.max_label_sets: 100001 is out of bounds; give a value from 2 to 100000`,
		`8: limits.frame: 1025MiB is out of bounds; give a value from 1B to 1GiB`,
		`8: limits.json_depth: 10001 is out of bounds; give a value from 1 to 10000`,
		`8: limits.request_body: 65MiB is out of bounds; give a value from 1B to 64MiB`,
		`8: limits.confidence_text: 17MiB is out of bounds; give a value from 1B to 16MiB`,
		`8: limits.observe_queue: 5GiB is out of bounds; give a value from 1B to 4GiB`,
		`8: limits.log_queue: 2GiB is out of bounds; give a value from 1KiB to 1GiB`,
		`8: limits.span_queue: 1000001 is out of bounds; give a value from 1 to 1000000`,
		`8: limits.span_queue_size: 5GiB is out of bounds; give a value from 1KiB to 4GiB`,
		`8: limits.memory: 1025GiB is out of bounds; give a value from 0B to 1024GiB`,
	},
	"two-documents":       {`2: a second document starts here; keep one document in the file`},
	"unclosed-last-quote": {`6: this is not YAML: found unexpected end of stream; check indentation, quotes and brackets here and just above`},
	"unclosed-list":       {`6: this is not YAML: did not find expected ',' or ']'; check indentation, quotes and brackets here and just above`},
	"unclosed-quote":      {`5: this is not YAML: did not find expected key; check indentation, quotes and brackets here and just above`},
	"unknown-key-case": {
		`6: runs.maxOpen: unknown key; did you mean "max_open"?`,
		`6: runs.max-ended: unknown key; did you mean "max_ended"?`,
	},
	"unknown-key-close":  {`5: sources[0].proxy.upstrem: unknown key; did you mean "upstream"?`},
	"unknown-key-dotted": {`6: "runs.max_open": unknown key; the keys here are sources, runs, traces, metrics, limits, stream, web`},
	"unknown-key":        {`6: tracing: unknown key; the keys here are sources, runs, traces, metrics, limits, stream, web`},
	"tail-and-proxy":     {`4: sources[0].tail: the source has a proxy too; give a source one of the two, and the other to a source of its own`},
	"tail-bounds": {
		`3: sources[0].tail.url: missing; give the URL of the agent's stream, such as "http://127.0.0.1:3000/events/{session}"`,
		`3: sources[0].tail.max_sessions: 0 is out of bounds; give a value from 1 to 100000`,
		`3: sources[0].tail.idle_timeout: 1ms is out of bounds; give a value from 1s to 168h0m0s`,
	},
	"tail-headers": {
		`6: sources[0].tail.headers."Bad Name": this is not the name of a header; use letters, digits and -`,
		`7: sources[0].tail.headers.Last-Event-ID: delegraph sends this header itself; remove it`,
		`8: sources[0].tail.headers.X-Both: exactly one of value and file is required; give {file: …} for a secret, else {value: …}`,
		`9: sources[0].tail.headers.X-Line: the value contains a control character; give one line of text`,
		`10: sources[0].tail.headers.X-None: exactly one of value and file is required; give {file: …} for a secret, else {value: …}`,
		`11: sources[0].tail.headers.X-Text: expected a map, found text; write its keys indented below, or {key: value}`,
		`12: sources[0].tail.headers.X-Text: duplicate key, first given on line 11; keep one of the two`,
		`13: sources[0].tail.headers.Cache-Control: delegraph sends this header itself; remove it`,
		`15: sources[0].tail.headers.authorization: this is the header "Authorization" in another spelling; remove one of them`,
	},
	"tail-urls": {
		`3: sources[0].tail.url: this is not an http or https URL; give the URL of the agent's stream, such as "http://127.0.0.1:3000/events/{session}"`,
		`5: sources[1].tail.url: the URL has user info; put it in headers.Authorization.file`,
		`7: sources[2].tail.url: the URL has a fragment; give the URL of the agent's stream, such as "http://127.0.0.1:3000/events/{session}"`,
		`9: sources[3].tail.url: {session} is in the host; put it into the path or the query`,
	},
	"unknown-source-kind": {
		`2: sources[0].proxy: missing; give a proxy with listen and upstream, or a tail with url`,
		`3: sources[0].webhook: unknown key; the keys here are name, proxy, tail, dialect, custom, relay, policy, agent, agent_cards, agents_as_tools`,
	},
	"unquoted-glob":      {`6: aliases are not supported; write the value out, or put it in quotes`},
	"upstream-empty":     {`5: sources[0].proxy.upstream: the value is empty; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-fragment":  {`5: sources[0].proxy.upstream: the URL has a fragment; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-itself":    {`5: sources[0].proxy.upstream: the proxy itself listens there; give the agent a port of its own, and its URL here`},
	"upstream-missing":   {`3: sources[0].proxy.upstream: missing; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-no-host":   {`5: sources[0].proxy.upstream: the URL has no valid host and port; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-no-scheme": {`5: sources[0].proxy.upstream: this is not an http or https URL; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-port":      {`5: sources[0].proxy.upstream: the URL has no valid host and port; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-query":     {`5: sources[0].proxy.upstream: the URL has a query; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-scheme":    {`5: sources[0].proxy.upstream: this is not an http or https URL; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"upstream-user-info": {`5: sources[0].proxy.upstream: the URL has user info; give the agent's URL, such as "http://127.0.0.1:8000"`},
	"utf16":              {`1: the text is not UTF-8; save the file as UTF-8`},
	"traces": {
		`6: traces.content: "everything" is not a value of this key; use one of none, all`,
		`6: traces.profile: "genai" is not a value of this key; did you mean "gen_ai"?`,
	},
	"web-trace-scheme": {`6: web.trace_url: this is not an http or https URL; give the URL of a trace with {trace_id} in it, such as "http://localhost:16686/trace/{trace_id}"`},
	"web-trace-user":   {`6: web.trace_url: the URL has user info, which everyone who opens a page would see; give the URL of a trace with {trace_id} in it, such as "http://localhost:16686/trace/{trace_id}"`},
	"web-trace-id":     {`6: web.trace_url: {trace_id} is missing from the URL; give the URL of a trace with {trace_id} in it, such as "http://localhost:16686/trace/{trace_id}"`},
	"web-trace-host":   {`6: web.trace_url: {trace_id} is in the host; put it into the path, the query or the fragment`},
	"web-trace-space":  {`6: web.trace_url: this is not an http or https URL; give the URL of a trace with {trace_id} in it, such as "http://localhost:16686/trace/{trace_id}"`},
	"web-trace-long":   {`6: web.trace_url: the URL has 4123 bytes; give at most 4096`},
	"zero": {
		`6: runs.idle_timeout: 0s is out of bounds; give a value from 1ms to 168h0m0s`,
		`6: runs.max_open: 0 is out of bounds; give a value from 1 to 1000000`,
		`6: runs.max_operations: 0 is out of bounds; give a value from 1 to 1000000`,
		`6: runs.max_ended: 0 is out of bounds; give a value from 1 to 10000`,
		`7: metrics.max_label_values: 0 is out of bounds; give a value from 1 to 10000`,
		`7: metrics.max_label_sets: 0 is out of bounds; give a value from 2 to 100000`,
		`8: limits.frame: 0B is out of bounds; give a value from 1B to 1GiB`,
		`8: limits.json_depth: 0 is out of bounds; give a value from 1 to 10000`,
		`8: limits.request_body: 0B is out of bounds; give a value from 1B to 64MiB`,
		`8: limits.confidence_text: 0B is out of bounds; give a value from 1B to 16MiB`,
		`8: limits.observe_queue: 0B is out of bounds; give a value from 1B to 4GiB`,
		`8: limits.log_queue: 0B is out of bounds; give a value from 1KiB to 1GiB`,
		`8: limits.span_queue: 0 is out of bounds; give a value from 1 to 1000000`,
		`8: limits.span_queue_size: 0B is out of bounds; give a value from 1KiB to 4GiB`,
	},
}

// TestLoadInvalid checks the error of each invalid file.
func TestLoadInvalid(t *testing.T) {
	t.Chdir("testdata")
	for name, lines := range invalid {
		t.Run(name, func(t *testing.T) {
			file := "invalid-" + name + ".yml"
			config, err := load(file)
			if err == nil {
				t.Fatalf("the file loads as\n%s", config)
			}
			want := file + ":" + strings.Join(lines, "\n"+file+":")
			if diff := cmp.Diff(want, err.Error()); diff != "" {
				t.Errorf("the error differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(Config{}, config); diff != "" {
				t.Errorf("Load returns a configuration with the error:\n%s", diff)
			}
		})
	}
}

// TestEveryInvalidFileIsTested checks that there is a case for each invalid file.
func TestEveryInvalidFileIsTested(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name, isInvalid := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".yml"), "invalid-")
		if _, tested := invalid[name]; isInvalid && !tested {
			t.Errorf("there is no case for %s", entry.Name())
		}
	}
}
