{{- /*
The container for a chart that depends on this one, which puts it into its pod's initContainers:
  {{- include "delegraph.container" .Subcharts.delegraph | nindent 8 }}
*/ -}}
{{- define "delegraph.container" -}}
{{- if ne .Values.mode "library" -}}
{{- fail (printf "a chart includes the sidecar, and its values say mode: %s: set mode: library below the name of the dependency, or the pod would wait for an init container that never ends" .Values.mode) -}}
{{- end -}}
{{- include "delegraph.anyContainer" . -}}
{{- end -}}

{{- /*
The container, for all modes. Kubernetes starts a sidecar before the app's containers, so no probe may wait for the agent, and stops
it after them.
*/ -}}
{{- define "delegraph.anyContainer" -}}
- name: delegraph
  image: {{ include "delegraph.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  {{- if not (include "delegraph.own" .) }}
  restartPolicy: Always
  {{- end }}
  args:
    - {{ ternary "gateway" "serve" (eq .Values.mode "gateway") }}
    - --config.file=/etc/delegraph/delegraph.yml
    - --web.listen-address=:{{ .Values.admin.port }}
    {{- with .Values.admin.webConfigFile }}
    - --web.config.file={{ . }}
    {{- end }}
    - --log.level={{ .Values.log.level }}
    - --log.format={{ .Values.log.format }}
  env: {{- include "delegraph.env" . | nindent 4 }}
  ports: {{- include "delegraph.ports" . | nindent 4 }}
  startupProbe: {{- include "delegraph.probe" (list . "healthy" .Values.startupProbe) | nindent 4 }}
  readinessProbe: {{- include "delegraph.probe" (list . "ready" .Values.readinessProbe) | nindent 4 }}
  livenessProbe: {{- include "delegraph.probe" (list . "healthy" .Values.livenessProbe) | nindent 4 }}
  {{- if eq .Values.mode "standalone" }}
  lifecycle:
    preStop:
      sleep: {seconds: 5} # until no new requests are sent here; a gateway waits by itself (stream.drain_delay)
  {{- end }}
  resources: {{- toYaml .Values.resources | nindent 4 }}
  securityContext: {{- toYaml .Values.securityContext | nindent 4 }}
  volumeMounts:
    - name: delegraph-config
      mountPath: /etc/delegraph
      readOnly: true
    {{- range $name, $_ := .Values.secrets }}
    - name: delegraph-secret-{{ $name }}
      mountPath: /run/secrets/delegraph/{{ $name }} # and not below the configuration, where none can be made
      readOnly: true
    {{- end }}
    {{- if not (include "delegraph.own" .) }}
    - name: delegraph-no-token # where there is a mount, the agent's token is not mounted
      mountPath: /var/run/secrets/kubernetes.io/serviceaccount
      readOnly: true
    {{- end }}
{{- end -}}

{{- define "delegraph.probe" -}}
{{- $top := index . 0 -}}
{{- if $top.Values.admin.webConfigFile -}}
tcpSocket: {port: delegraph-admin}
{{- else -}}
httpGet: {path: /-/{{ index . 1 }}, port: delegraph-admin}
{{- end }}
{{ toYaml (index . 2) }}
{{- end -}}

{{- /* Without duplicate names, which a server-side apply rejects. */ -}}
{{- define "delegraph.env" -}}
{{- $env := include "delegraph.ownEnv" . | fromYamlArray -}}
{{- range $given := .Values.env -}}
{{- $others := list -}}
{{- range $env }}{{ if ne .name $given.name }}{{ $others = append $others . }}{{ end }}{{ end -}}
{{- $env = append $others $given -}}
{{- end -}}
{{ toYaml $env }}
{{- end -}}

{{- /* A variable may refer to earlier ones, so the pod's come first. */ -}}
{{- define "delegraph.ownEnv" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: POD_UID
  valueFrom: {fieldRef: {fieldPath: metadata.uid}}
- name: NODE_NAME
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
- name: HOST_IP
  valueFrom: {fieldRef: {fieldPath: status.hostIP}}
- name: GOMEMLIMIT
  {{- include "delegraph.memory" . | nindent 2 }}
{{- if ne .Values.mode "gateway" }}
{{- if and (not (include "delegraph.namedByEnv" .)) (or (eq .Values.mode "inject") (not (hasKey (.Values.traces.resourceAttributes | default dict) "service.name"))) }}
- name: OTEL_SERVICE_NAME
  value: {{ .Release.Name | quote }} # as in the label app.kubernetes.io/instance; injected pods have their own
{{- end }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ include "delegraph.resourceAttributes" . | quote }}
{{- if include "delegraph.traced" . }}
{{- with .Values.traces.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: {{ .Values.traces.protocol }}
{{- with .Values.traces.headersSecret }}
{{- if .name }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom: {secretKeyRef: {name: {{ .name }}, key: {{ .key }}}}
{{- end }}
{{- end }}
{{- else }}
- name: OTEL_TRACES_EXPORTER
  value: none
{{- end }}
{{- end }}
{{- end -}}

{{- /* GOMEMLIMIT: nine tenths of the limit, which also counts memory that Go cannot free. */ -}}
{{- define "delegraph.memory" -}}
{{- $limit := dig "limits" "memory" "" (.Values.resources | default dict) | toString -}}
{{- $unit := regexFind "[KMG]i$" $limit -}}
{{- if and $unit (regexMatch "^[0-9]+..$" $limit) -}}
value: {{ div (mul (regexFind "^[0-9]+" $limit) (get (dict "Ki" 1 "Mi" 1024 "Gi" 1048576) $unit) 9) 10 }}KiB
{{- else -}}
valueFrom: {resourceFieldRef: {resource: limits.memory}}
{{- end -}}
{{- end -}}

{{- /* Not empty if spans are exported; an endpoint from a secret is in env. */ -}}
{{- define "delegraph.traced" -}}
{{- .Values.traces.endpoint -}}
{{- range .Values.env }}{{ if regexMatch "^OTEL_EXPORTER_OTLP_(TRACES_)?ENDPOINT$" .name }}{{ .name }}{{ end }}{{ end -}}
{{- end -}}

{{- /* Not empty if env gives the resource attributes with a service name, which OTEL_SERVICE_NAME would override. */ -}}
{{- define "delegraph.namedByEnv" -}}
{{- range .Values.env }}{{ if and (eq .name "OTEL_RESOURCE_ATTRIBUTES") (contains "service.name=" (.value | default "")) }}{{ .name }}{{ end }}{{ end -}}
{{- end -}}

{{- define "delegraph.resourceAttributes" -}}
service.instance.id=$(POD_UID),k8s.pod.name=$(POD_NAME),k8s.pod.uid=$(POD_UID),k8s.namespace.name=$(POD_NAMESPACE),k8s.node.name=$(NODE_NAME),k8s.container.name=delegraph
{{- range $name, $value := .Values.traces.resourceAttributes -}}
,{{ $name }}={{ $value | include "delegraph.plain" | urlquery | replace "+" "%20" }}
{{- end -}}
{{- end -}}

{{- /* A value as text: a large number has no exponent. */ -}}
{{- define "delegraph.plain" -}}
{{ if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end }}
{{- end -}}

{{- /*
The volumes of that container, for the pod's list of volumes. An injected pod may be in a namespace without our ConfigMap, so its
configuration is in an annotation of the pod.
*/ -}}
{{- define "delegraph.volumes" -}}
- name: delegraph-config
  {{- if eq .Values.mode "inject" }}
  downwardAPI:
    items:
      - path: delegraph.yml
        fieldRef: {fieldPath: "metadata.annotations['delegraph.dev/config']"}
  {{- else }}
  configMap: {name: {{ include "delegraph.fullname" . }}}
  {{- end }}
{{- range $name, $secret := .Values.secrets }}
- name: delegraph-secret-{{ $name }}
  secret: {secretName: {{ include "delegraph.secretName" (list $ $name $secret) }}}
{{- end }}
{{- if not (include "delegraph.own" .) }}
- name: delegraph-no-token
  emptyDir: {sizeLimit: 1Mi}
{{- end }}
{{- end -}}

{{- define "delegraph.secretName" -}}
{{- $secret := index . 2 -}}
{{- $secret.existingSecret | default (printf "%s-%s" (include "delegraph.fullname" (index . 0)) (index . 1)) -}}
{{- end -}}

{{- /* An annotation that changes with the configuration and the secrets, so that pods are replaced. */ -}}
{{- define "delegraph.checksum" -}}
delegraph.dev/checksum: {{ printf "%s%s" (include "delegraph.config" .) (toJson .Values.secrets) | sha256sum }}
{{- end -}}
