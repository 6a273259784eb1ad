{{- /*
A value as a CEL literal. CEL in Kubernetes wants members of a map or list to be of one type: each is dyn. JSON's strings are CEL's
too. Numbers of YAML are floats here: whole ones are made whole again, and a CPU may be a part of one.
*/ -}}
{{- define "delegraph.cel" -}}
{{- if kindIs "map" . -}}
{{- $members := list -}}
{{- range $name, $value := . -}}
{{- $members = append $members (printf "%s: %s" (toJson $name) (include "delegraph.cel" $value)) -}}
{{- end -}}
dyn({ {{- join ", " $members -}} })
{{- else if kindIs "slice" . -}}
{{- $members := list -}}
{{- range . }}{{ $members = append $members (include "delegraph.cel" .) }}{{ end -}}
dyn([{{ join ", " $members }}])
{{- else if and (kindIs "float64" .) (eq . (floor .)) -}}
dyn({{ printf "%.0f" . }})
{{- else -}}
dyn({{ toJson . }})
{{- end -}}
{{- end -}}
