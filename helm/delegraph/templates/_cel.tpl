{{- /*
A value as a CEL literal. In Kubernetes, all members of a map or list must have one CEL type, so each is dyn. JSON strings are valid
in CEL. Numbers of YAML are floats here, so whole ones are converted back; a CPU may be fractional. {$cel: EXPRESSION} stands for the
value of an expression.
*/ -}}
{{- define "delegraph.cel" -}}
{{- if and (kindIs "map" .) (hasKey . "$cel") -}}
dyn({{ get . "$cel" }})
{{- else if kindIs "map" . -}}
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
