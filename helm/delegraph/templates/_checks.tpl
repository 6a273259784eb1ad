{{- /* What the schema cannot say, or not in words: combinations of values that would install and not work. */ -}}
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
{{- fail (printf "%s: there is a source of this name already: give each a name of its own" $where) -}}
{{- end -}}
{{- $_ := set $names $source.name $i -}}
{{- include "delegraph.checkSource" (list $ $where $source) -}}
{{- end -}}
{{- include "delegraph.checkPorts" . -}}
{{- include "delegraph.checkStream" . -}}
{{- include "delegraph.checkStore" . -}}
{{- range $name, $secret := .Values.secrets -}}
{{- if eq (empty $secret.existingSecret) (empty $secret.data) -}}
{{- fail (printf "secrets.%s: give existingSecret, the name of one that is there, or data, for one that the chart makes; and one of the two" $name) -}}
{{- else if and $secret.data (eq $.Values.mode "inject") -}}
{{- fail (printf "secrets.%s: with mode: inject give existingSecret, the name of a secret in each namespace of injected pods; the chart cannot make secrets there" $name) -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.inject.label "false" -}}
{{- fail "inject.label: \"false\" is what pods say that want no sidecar: take another word" -}}
{{- end -}}
{{- if and (eq .Values.mode "standalone") (include "delegraph.tailed" .) (gt (int .Values.standalone.replicas) 1) -}}
{{- fail "standalone.replicas: each pod would subscribe to the same stream and count all of it again: leave it at 1, or make a release of its own of the sources with tail" -}}
{{- end -}}
{{- if and .Values.networkPolicy.egress (not (include "delegraph.own" .)) -}}
{{- fail (printf "networkPolicy.egress: with mode: %s the pods are the agent's, and what they may reach is not for this chart to say" .Values.mode) -}}
{{- end -}}
{{- include "delegraph.checkMonitors" . -}}
{{- end -}}

{{- define "delegraph.checkSource" -}}
{{- $ := index . 0 -}}
{{- $where := index . 1 -}}
{{- $source := index . 2 -}}
{{- if and $source.proxy $source.tail -}}
{{- fail (printf "%s has both proxy and tail: make two sources of it" $where) -}}
{{- else if not (or $source.proxy $source.tail) -}}
{{- fail (printf "%s has neither proxy nor tail: proxy stands in front of an agent, tail subscribes to its stream" $where) -}}
{{- end -}}
{{- $key := ternary "proxy.upstream" "tail.url" (not (empty $source.proxy)) -}}
{{- $agent := (urlParse (dig "proxy" "upstream" (dig "tail" "url" "" $source) $source | replace "{session}" "session")).host -}}
{{- if gt (regexFind "[0-9]*$" (regexFind ":[0-9]+$" $agent) | int) 65535 -}}
{{- fail (printf "%s: %s: ports end at 65535" $where $key) -}}
{{- end -}}
{{- if and (eq $.Values.mode "standalone") (include "delegraph.loopback" $agent) -}}
{{- fail (printf "%s: %s is in Delegraph's own pod, where with mode: standalone no agent is: give the URL of the agent's Service, such as http://my-agent.default:8000" $where $key) -}}
{{- end -}}
{{- with $source.proxy -}}
{{- if include "delegraph.loopback" .listen -}}
{{- fail (printf "%s: proxy.listen %q can be reached from inside the pod only: leave out the host, as in \":8080\"" $where .listen) -}}
{{- end -}}
{{- $port := include "delegraph.port" .listen -}}
{{- if eq $port "0" -}}
{{- fail (printf "%s: proxy.listen %q is a port that nobody can know: give a number" $where .listen) -}}
{{- end -}}
{{- if regexMatch (printf "^https?://(127\\.[0-9.]+|localhost|\\[::1\\]):%s(/|$)" $port) .upstream -}}
{{- fail (printf "%s: proxy.upstream %s is Delegraph's own port: the agent listens on another one of the pod, such as 127.0.0.1:8000" $where .upstream) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Of the pod, where the external stream has a port also if the configuration does not name it, and of the Service. */ -}}
{{- define "delegraph.checkPorts" -}}
{{- $taken := dict -}}
{{- with dig "stream" "listen" "127.0.0.1:10478" .Values.config -}}
{{- if include "delegraph.loopback" . }}{{ $_ := set $taken (include "delegraph.port" .) "config.stream.listen" }}{{ end -}}
{{- end -}}
{{- range include "delegraph.ports" . | fromYamlArray -}}
{{- $name := .name -}}
{{- $port := .containerPort | toString -}}
{{- if gt (int $port) 65535 -}}
{{- fail (printf "port %s of %s: ports end at 65535: see config.sources and config.stream.listen" $port $name) -}}
{{- end -}}
{{- with get $taken $port -}}
{{- fail (printf "port %s is listened on twice, as %s and %s: see config.sources, config.stream.listen and admin.port" $port . $name) -}}
{{- end -}}
{{- $_ := set $taken $port $name -}}
{{- end -}}
{{- if include "delegraph.own" . -}}
{{- $taken = dict -}}
{{- range include "delegraph.servicePorts" . | fromYamlArray -}}
{{- $port := .port | toString -}}
{{- $name := .name -}}
{{- with get $taken $port -}}
{{- fail (printf "service.port: the Service would have port %s twice, for %s and %s: give the first proxy another one" $port . $name) -}}
{{- end -}}
{{- $_ := set $taken $port $name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkStream" -}}
{{- $stream := dig "stream" dict .Values.config -}}
{{- $authentication := dig "authentication" dict $stream -}}
{{- if and $authentication.client_certificates (not $stream.web_config_file) -}}
{{- fail "config.stream.authentication.client_certificates: there is no TLS that could ask for certificates: give config.stream.web_config_file, a file of one of the secrets" -}}
{{- end -}}
{{- if and (include "delegraph.streamPort" .) (not $stream.web_config_file) (not $authentication.bearer_tokens_file) (ne (dig "anonymous" "" $authentication) "anywhere") -}}
{{- fail "config.stream.listen: nobody is asked who they are: give config.stream.authentication.bearer_tokens_file, a file of one of the secrets; anonymous: anywhere lets every stranger read" -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkStore" -}}
{{- $stream := dig "stream" dict .Values.config -}}
{{- $nats := dig "jetstream" dict $stream -}}
{{- $tls := dig "tls" dict $nats -}}
{{- if and (eq (dig "store" "" $stream) "jetstream") (not $nats.urls) -}}
{{- fail "config.stream.jetstream.urls: there is none: give the servers' addresses, such as [\"nats://nats:4222\"]" -}}
{{- end -}}
{{- if and $nats.credentials_file $nats.nkey_file -}}
{{- fail "config.stream.jetstream: there are both credentials_file and nkey_file: give one of the two" -}}
{{- end -}}
{{- if ne (empty $tls.cert_file) (empty $tls.key_file) -}}
{{- fail "config.stream.jetstream.tls: a certificate and its key belong together: give cert_file and key_file, or neither" -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkGateway" -}}
{{- $stream := dig "stream" dict .Values.config -}}
{{- if .Values.config.sources -}}
{{- fail "config.sources: a gateway listens to no agent: leave them out; the sidecars that publish are releases of their own" -}}
{{- end -}}
{{- if ne (dig "store" "" $stream) "jetstream" -}}
{{- fail "config.stream.store: a gateway has nothing to serve of its own: set jetstream, and the servers' addresses in config.stream.jetstream.urls" -}}
{{- end -}}
{{- if not (include "delegraph.streamPort" .) -}}
{{- fail "config.stream.listen: a gateway has nothing else to do, and nobody outside the pod would reach it: give a port, as in \":10478\"" -}}
{{- end -}}
{{- if .Values.traces.endpoint -}}
{{- fail "traces.endpoint: a gateway sees no runs and makes no spans: leave it out" -}}
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
{{- fail "gateway.autoscaling: there is nothing to go by: give cpu, subscribers or both" -}}
{{- else if and $scale.cpu (not (dig "requests" "cpu" (dig "limits" "cpu" "" $.Values.resources) $.Values.resources)) -}}
{{- fail "gateway.autoscaling.cpu is in percent of what a pod asks for: give resources.requests.cpu" -}}
{{- else if ge (int $scale.subscribers) $most -}}
{{- fail (printf "gateway.autoscaling.subscribers: a pod takes no more than %d, and pods would never be found to have too many: give less, or more as config.stream.max_subscribers" $most) -}}
{{- end -}}
{{- end -}}

{{- define "delegraph.checkMonitors" -}}
{{- if .Values.serviceMonitor.enabled -}}
{{- if not (include "delegraph.own" .) -}}
{{- fail (printf "serviceMonitor.enabled: there is no Service with mode: %s; use podMonitor.enabled" .Values.mode) -}}
{{- else if ne .Values.service.type "ClusterIP" -}}
{{- fail (printf "serviceMonitor.enabled: the Service has the admin port then, and with service.type: %s it would be open outside the cluster; use podMonitor.enabled" .Values.service.type) -}}
{{- else if .Values.podMonitor.enabled -}}
{{- fail "podMonitor.enabled and serviceMonitor.enabled: everything would be scraped and counted twice; use one of the two" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Something if an address to listen on is the pod's own loopback, or a URL's host. */ -}}
{{- define "delegraph.loopback" -}}
{{- if regexMatch "^(127\\.|localhost(:|$)|\\[::1\\])" . }}loopback{{ end -}}
{{- end -}}

{{- /* Something if streams are subscribed to, which each pod would do alike. */ -}}
{{- define "delegraph.tailed" -}}
{{- range .Values.config.sources }}{{ if .tail }}{{ .name }}{{ end }}{{ end -}}
{{- end -}}
