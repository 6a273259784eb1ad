{{- /*
The name of all objects in the namespace. A Service's name must begin with a letter and have no dots. A release's name may have dots
and begin with a digit, and a dependency's alias may have upper-case letters.
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

{{- /* Not empty if the pods belong to the chart and not to an agent; the values of these pods are below the mode's name. */ -}}
{{- define "delegraph.own" -}}
{{- if or (eq .Values.mode "standalone") (eq .Values.mode "gateway") }}own{{ end -}}
{{- end -}}

{{- /* The labels of the pods with Delegraph, by which all other objects select them. */ -}}
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
