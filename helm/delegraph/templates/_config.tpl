{{- /* The configuration file. */ -}}
{{- define "delegraph.config" -}}
{{- include "delegraph.checks" . -}}
{{ toYaml .Values.config }}
{{- end -}}

{{- /*
The container ports for the addresses in the configuration, as a YAML list. Kubernetes looks for a named port in app containers
first, then in sidecars.
*/ -}}
{{- define "delegraph.ports" -}}
{{- $ports := list -}}
{{- range .Values.config.sources -}}
{{- if .proxy -}}
{{- $name := $.Values.portName -}}
{{- if $ports }}{{ $name = printf "%s-%d" $name (add1 (len $ports)) }}{{ end -}}
{{- $ports = append $ports (dict "name" $name "containerPort" (include "delegraph.port" .proxy.listen | int)) -}}
{{- end -}}
{{- end -}}
{{- $stream := include "delegraph.streamPort" . -}}
{{- if $stream }}{{ $ports = append $ports (dict "name" "delegraph-sse" "containerPort" (int $stream)) }}{{ end -}}
{{- $ports = append $ports (dict "name" "delegraph-admin" "containerPort" (int .Values.admin.port)) -}}
{{ toYaml $ports }}
{{- end -}}

{{- /* The ports of the Service; the admin port only for a ServiceMonitor. */ -}}
{{- define "delegraph.servicePorts" -}}
{{- $ports := list -}}
{{- $first := ternary "delegraph-sse" .Values.portName (eq .Values.mode "gateway") -}}
{{- range include "delegraph.ports" . | fromYamlArray -}}
{{- if eq .name $first -}}
{{- $ports = append $ports (dict "name" .name "port" $.Values.service.port "targetPort" .name) -}}
{{- else if or (ne .name "delegraph-admin") $.Values.serviceMonitor.enabled -}}
{{- $ports = append $ports (dict "name" .name "port" .containerPort "targetPort" .name) -}}
{{- end -}}
{{- end -}}
{{ toYaml $ports }}
{{- end -}}

{{- /* The port in host:port. */ -}}
{{- define "delegraph.port" -}}
{{ regexFind "[0-9]+$" . }}
{{- end -}}

{{- /* The port of the external stream; empty if only the pod itself can reach it. */ -}}
{{- define "delegraph.streamPort" -}}
{{- $listen := dig "stream" "listen" "" .Values.config -}}
{{- if and $listen (not (include "delegraph.loopback" $listen)) -}}
{{ include "delegraph.port" $listen }}
{{- end -}}
{{- end -}}
