{{- /* Checks that the schema cannot express, or not with a clear message: combinations of values that would install but not work. */ -}}
{{- define "delegraph.checks" -}}
{{- if eq .Values.mode "gateway" -}}
{{- include "delegraph.checkGateway" . -}}
{{- else if not .Values.config.sources -}}
{{- fail "config.sources is empty: name at least one agent, such as {name: my-agent, proxy: {listen: \":8080\", upstream: \"http://127.0.0.1:8000\"}}; the chart's README has an example for each mode" -}}
{{- end -}}
{{- $names := dict -}}
{{- range $i, $source := .Values.config.sources -}}
{{- $where := printf "config.sources[%d] (%s)" $i $source.name -}}
{{- if hasKey $names $source.name -}}
{{- fail (printf "%s: another source has this name: give each source its own name" $where) -}}
{{- end -}}
{{- $_ := set $names $source.name $i -}}
{{- include "delegraph.checkSource" (list $ $where $source) -}}
{{- end -}}
{{- include "delegraph.checkPorts" . -}}
{{- include "delegraph.checkStream" . -}}
{{- include "delegraph.checkStore" . -}}
{{- range $name, $secret := .Values.secrets -}}
{{- if eq (empty $secret.existingSecret) (empty $secret.data) -}}
{{- fail (printf "secrets.%s: set either existingSecret, the name of an existing secret, or data, from which the chart creates one" $name) -}}
{{- else if and $secret.data (eq $.Values.mode "inject") -}}
{{- fail (printf "secrets.%s: with mode: inject set existingSecret, the name of a secret in each namespace of injected pods; the chart cannot create secrets there" $name) -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.inject.label "false" -}}
{{- fail "inject.label: \"false\" marks pods that must not get a sidecar: choose another value" -}}
{{- end -}}
{{- if and (eq .Values.mode "standalone") (include "delegraph.tailed" .) (gt (int .Values.standalone.replicas) 1) -}}
{{- fail "standalone.replicas: each pod would subscribe to the same stream and count it again: leave it at 1, or install the sources with tail as a separate release" -}}
{{- end -}}
{{- if and .Values.networkPolicy.egress (not (include "delegraph.own" .)) -}}
{{- fail (printf "networkPolicy.egress: with mode: %s the pods belong to the agent, and this chart must not limit what they may reach" .Values.mode) -}}
{{- end -}}
{{- include "delegraph.checkMonitors" . -}}
{{- end -}}

{{- define "delegraph.checkSource" -}}
{{- $ := index . 0 -}}
{{- $where := index . 1 -}}
{{- $source := index . 2 -}}
{{- if and $source.proxy $source.tail -}}
{{- fail (printf "%s has both proxy and tail: configure two sources" $where) -}}
{{- else if not (or $source.proxy $source.tail) -}}
{{- fail (printf "%s has neither proxy nor tail: set proxy to forward requests to an agent, or tail to subscribe to its stream" $where) -}}
{{- end -}}
{{- $key := ternary "proxy.upstream" "tail.url" (not (empty $source.proxy)) -}}
{{- $agent := (urlParse (dig "proxy" "upstream" (dig "tail" "url" "" $source) $source | replace "{session}" "session")).host -}}
{{- if gt (regexFind "[0-9]*$" (regexFind ":[0-9]+$" $agent) | int) 65535 -}}
{{- fail (printf "%s: %s: the highest port is 65535" $where $key) -}}
{{- end -}}
{{- if and (eq $.Values.mode "standalone") (include "delegraph.loopback" $agent) -}}
{{- fail (printf "%s: %s is in Delegraph's own pod, where no agent runs with mode: standalone: set the URL of the agent's Service, such as http://my-agent.default:8000" $where $key) -}}
{{- end -}}
{{- with $source.proxy -}}
{{- if include "delegraph.loopback" .listen -}}
{{- fail (printf "%s: proxy.listen %q can be reached only from inside the pod: leave out the host, as in \":8080\"" $where .listen) -}}
{{- end -}}
{{- $port := include "delegraph.port" .listen -}}
{{- if eq $port "0" -}}
{{- fail (printf "%s: proxy.listen %q picks a random port, which clients cannot know: set a port number" $where .listen) -}}
{{- end -}}
{{- if regexMatch (printf "^https?://(127\\.[0-9.]+|localhost|\\[::1\\]):%s(/|$)" $port) .upstream -}}
{{- fail (printf "%s: proxy.upstream %s is Delegraph's own port: the agent must listen on another port of the pod, such as 127.0.0.1:8000" $where .upstream) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Checks the ports of the pod, where the external stream has a default port, and of the Service. */ -}}
{{- define "delegraph.checkPorts" -}}
{{- $taken := dict -}}
{{- with dig "stream" "listen" "127.0.0.1:10478" .Values.config -}}
{{- if include "delegraph.loopback" . }}{{ $_ := set $taken (include "delegraph.port" .) "config.stream.listen" }}{{ end -}}
{{- end -}}
{{- range include "delegraph.ports" . | fromYamlArray -}}
{{- $name := .name -}}
{{- $port := .containerPort | toString -}}
{{- if gt (int $port) 65535 -}}
{{- fail (printf "port %s of %s: the highest port is 65535: see config.sources and config.stream.listen" $port $name) -}}
{{- end -}}
{{- with get $taken $port -}}
{{- fail (printf "port %s is used twice, by %s and %s: see config.sources, config.stream.listen and admin.port" $port . $name) -}}
{{- end -}}
{{- $_ := set $taken $port $name -}}
{{- end -}}
{{- if include "delegraph.own" . -}}
{{- $taken = dict -}}
{{- range include "delegraph.servicePorts" . | fromYamlArray -}}
{{- $port := .port | toString -}}
{{- $name := .name -}}
{{- with get $taken $port -}}
{{- fail (printf "service.port: the Service would have port %s twice, for %s and %s: give the first proxy another port" $port . $name) -}}
{{- end -}}
{{- $_ := set $taken $port $name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkStream" -}}
{{- $stream := dig "stream" dict .Values.config -}}
{{- $authentication := dig "authentication" dict $stream -}}
{{- if and $authentication.client_certificates (not $stream.web_config_file) -}}
{{- fail "config.stream.authentication.client_certificates: certificates need TLS: set config.stream.web_config_file to a file of one of the secrets" -}}
{{- end -}}
{{- if and (include "delegraph.streamPort" .) (not $stream.web_config_file) (not $authentication.bearer_tokens_file) (ne (dig "anonymous" "" $authentication) "anywhere") -}}
{{- fail "config.stream.listen: readers are not authenticated: set config.stream.authentication.bearer_tokens_file to a file of one of the secrets; anonymous: anywhere lets anyone read" -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkStore" -}}
{{- $stream := dig "stream" dict .Values.config -}}
{{- $nats := dig "jetstream" dict $stream -}}
{{- $tls := dig "tls" dict $nats -}}
{{- if and (eq (dig "store" "" $stream) "jetstream") (not $nats.urls) (not $nats.shards) -}}
{{- fail "config.stream.jetstream.urls: no servers: set their addresses, such as [\"nats://nats:4222\"]" -}}
{{- end -}}
{{- range $nats.shards -}}
{{- if not (or .urls $nats.urls) -}}
{{- fail (printf "config.stream.jetstream.shards (%s): no servers: set urls, such as [\"nats://nats:4222\"]" .name) -}}
{{- end -}}
{{- end -}}
{{- if and $nats.previous (not $nats.move_at) -}}
{{- fail "config.stream.jetstream.move_at: set the time when all sidecars and gateways have this list of shards" -}}
{{- end -}}
{{- if and $nats.credentials_file $nats.nkey_file -}}
{{- fail "config.stream.jetstream: both credentials_file and nkey_file are set: set only one" -}}
{{- end -}}
{{- if ne (empty $tls.cert_file) (empty $tls.key_file) -}}
{{- fail "config.stream.jetstream.tls: a certificate needs its key: set both cert_file and key_file, or neither" -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkGateway" -}}
{{- $stream := dig "stream" dict .Values.config -}}
{{- if .Values.config.sources -}}
{{- fail "config.sources: a gateway has no sources: remove them; install the sidecars that publish as separate releases" -}}
{{- end -}}
{{- if ne (dig "store" "" $stream) "jetstream" -}}
{{- fail "config.stream.store: a gateway serves what a JetStream store holds: set jetstream, and the servers' addresses in config.stream.jetstream.urls" -}}
{{- end -}}
{{- if not (include "delegraph.streamPort" .) -}}
{{- fail "config.stream.listen: readers outside the pod must reach the gateway: set a port, as in \":10478\"" -}}
{{- end -}}
{{- if .Values.traces.endpoint -}}
{{- fail "traces.endpoint: a gateway sees no runs and creates no spans: remove it" -}}
{{- end -}}
{{- if dig "autoscaling" "enabled" false .Values.gateway -}}
{{- include "delegraph.checkAutoscaling" (list . .Values.gateway.autoscaling (dig "max_subscribers" 10000 $stream)) -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkAutoscaling" -}}
{{- $ := index . 0 -}}
{{- $scale := index . 1 -}}
{{- $most := index . 2 | int -}}
{{- if gt (int $scale.minReplicas) (int $scale.maxReplicas) -}}
{{- fail "gateway.autoscaling: minReplicas is more than maxReplicas" -}}
{{- else if not (or $scale.cpu $scale.subscribers) -}}
{{- fail "gateway.autoscaling: no target: set cpu, subscribers or both" -}}
{{- else if and $scale.cpu (not (dig "requests" "cpu" (dig "limits" "cpu" "" $.Values.resources) $.Values.resources)) -}}
{{- fail "gateway.autoscaling.cpu is a percentage of the pod's CPU request: set resources.requests.cpu" -}}
{{- else if ge (int $scale.subscribers) $most -}}
{{- fail (printf "gateway.autoscaling.subscribers: a pod accepts at most %d subscribers and would never exceed the target: lower it, or raise config.stream.max_subscribers" $most) -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkMonitors" -}}
{{- if .Values.serviceMonitor.enabled -}}
{{- if not (include "delegraph.own" .) -}}
{{- fail (printf "serviceMonitor.enabled: mode: %s has no Service; use podMonitor.enabled" .Values.mode) -}}
{{- else if ne .Values.service.type "ClusterIP" -}}
{{- fail (printf "serviceMonitor.enabled: it adds the admin port to the Service, which service.type: %s opens to the outside of the cluster; use podMonitor.enabled" .Values.service.type) -}}
{{- else if .Values.podMonitor.enabled -}}
{{- fail "podMonitor.enabled and serviceMonitor.enabled: everything would be scraped and counted twice; use only one" -}}
{{- end -}}
{{- end -}}
{{- range $value, $kind := dict "podMonitor" "PodMonitor" "serviceMonitor" "ServiceMonitor" "prometheusRule" "PrometheusRule" -}}
{{- $api := printf "monitoring.coreos.com/v1/%s" $kind -}}
{{- if and (index $.Values $value).enabled (not ($.Capabilities.APIVersions.Has $api)) -}}
{{- fail (printf "%s.enabled: this cluster does not have the API %s; install the Prometheus Operator, or set %s.enabled to false and let Prometheus scrape the port delegraph-admin. With helm template, say --api-versions %s" $value $api $value $api) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Not empty if a listen address, or the host of a URL, is the pod's loopback. */ -}}
{{- define "delegraph.loopback" -}}
{{- if regexMatch "^(127\\.|localhost(:|$)|\\[::1\\])" . }}loopback{{ end -}}
{{- end -}}

{{- /* Not empty if a source tails a stream, which each pod would do. */ -}}
{{- define "delegraph.tailed" -}}
{{- range .Values.config.sources }}{{ if .tail }}{{ .name }}{{ end }}{{ end -}}
{{- end -}}
