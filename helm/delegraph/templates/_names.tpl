{{- /*
The name of everything that the chart makes in its namespace. A Service's begins with a letter and has no dots; a release's may have
dots and begin with a digit, and a dependency's alias may have capitals.
*/ -}}
{{- define "delegraph.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := printf "%s-%s" .Release.Name $name -}}
{{- if .Values.fullnameOverride -}}
{{- $full = .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- $full = .Release.Name -}}
{{- end -}}
{{- $full = regexReplaceAll "[^a-z0-9]" (lower $full) "-" -}}
{{- if regexMatch "^[0-9]" $full }}{{ $full = printf "delegraph-%s" $full }}{{ end -}}
{{- regexFind "^[a-z]([a-z0-9-]{0,48}[a-z0-9])?" $full -}}
{{- end -}}

{{- define "delegraph.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* Something if the pods are the chart's own, and not an agent's; the values of such a mode's pods are below its name. */ -}}
{{- define "delegraph.own" -}}
{{- if or (eq .Values.mode "standalone") (eq .Values.mode "gateway") }}own{{ end -}}
{{- end -}}

{{- /* The labels of the pods that Delegraph is in, by which everything else finds them. */ -}}
{{- define "delegraph.podLabels" -}}
{{- if include "delegraph.own" . -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- else if eq .Values.mode "inject" -}}
delegraph.dev/inject: {{ .Values.inject.label | quote }}
{{- else -}}
delegraph.dev/instance: {{ include "delegraph.fullname" . }}
{{- end -}}
{{- end -}}

{{- define "delegraph.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}
