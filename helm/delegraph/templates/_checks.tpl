{{- /* What the schema cannot say, or not in words: combinations of values that would install and not work. */ -}}
{{- define "delegraph.checks" -}}
{{- if not .Values.config.sources -}}
{{- fail "config.sources is empty: name at least one agent, such as {name: my-agent, proxy: {listen: \":8080\", upstream: \"http://127.0.0.1:8000\"}}; the chart's README has an example for each mode" -}}
{{- end -}}
{{- range $i, $source := .Values.config.sources -}}
{{- $where := printf "config.sources[%d] (%s)" $i $source.name -}}
{{- if and $source.proxy $source.tail -}}
{{- fail (printf "%s has both proxy and tail: make two sources of it" $where) -}}
{{- else if not (or $source.proxy $source.tail) -}}
{{- fail (printf "%s has neither proxy nor tail: proxy stands in front of an agent, tail subscribes to its stream" $where) -}}
{{- end -}}
{{- with $source.proxy -}}
{{- if include "delegraph.loopback" .listen -}}
{{- fail (printf "%s: proxy.listen %q can be reached from inside the pod only: leave out the host, as in \":8080\"" $where .listen) -}}
{{- end -}}
{{- $port := include "delegraph.port" .listen -}}
{{- if eq $port "0" -}}
{{- fail (printf "%s: proxy.listen %q is a port that nobody can know: give a number" $where .listen) -}}
{{- end -}}
{{- if and (ne $.Values.mode "standalone") (regexMatch (printf "^https?://(127\\.[0-9.]+|localhost|\\[::1\\]):%s(/|$)" $port) .upstream) -}}
{{- fail (printf "%s: proxy.upstream %s is Delegraph's own port: the agent listens on another one of the pod, such as 127.0.0.1:8000" $where .upstream) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $taken := dict -}}
{{- range include "delegraph.ports" . | fromYamlArray -}}
{{- $name := .name -}}
{{- $port := .containerPort | toString -}}
{{- with get $taken $port -}}
{{- fail (printf "port %s is listened on twice, as %s and %s: see config.sources, config.stream.listen and admin.port" $port . $name) -}}
{{- end -}}
{{- $_ := set $taken $port $name -}}
{{- end -}}
{{- range $name, $secret := .Values.secrets -}}
{{- if eq (empty $secret.existingSecret) (empty $secret.data) -}}
{{- fail (printf "secrets.%s: give existingSecret, the name of one that is there, or data, for one that the chart makes; and one of the two" $name) -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.inject.label "false" -}}
{{- fail "inject.label: \"false\" is what pods say that want no sidecar: take another word" -}}
{{- end -}}
{{- $stream := dig "stream" dict .Values.config -}}
{{- $authentication := dig "authentication" dict $stream -}}
{{- if and (include "delegraph.streamPort" .) (not $stream.web_config_file) (not $authentication.bearer_tokens_file) (ne (dig "anonymous" "" $authentication) "anywhere") -}}
{{- fail "config.stream.listen: nobody is asked who they are: give config.stream.authentication.bearer_tokens_file, a file of one of the secrets; anonymous: anywhere lets every stranger read" -}}
{{- end -}}
{{- end -}}

{{- /* Something if an address to listen on is the pod's own loopback. */ -}}
{{- define "delegraph.loopback" -}}
{{- if regexMatch "^(127\\.|localhost:|\\[::1\\])" . }}loopback{{ end -}}
{{- end -}}
