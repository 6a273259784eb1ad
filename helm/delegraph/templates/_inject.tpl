{{- /* The pods that both policies are for. */ -}}
{{- define "delegraph.injectConstraints" -}}
matchPolicy: Equivalent
namespaceSelector: {{ toJson .Values.inject.namespaceSelector }}
objectSelector:
  matchLabels: {{- include "delegraph.podLabels" . | nindent 4 }}
resourceRules:
  - apiGroups: [""]
    apiVersions: [v1]
    operations: [CREATE]
    resources: [pods]
    scope: Namespaced
{{- end -}}

{{- /*
CEL variables that the mutating and the validating policy share, so that both see the same conflicts. The validating policy sees the
pod after the mutation, so our own sidecar is never a conflict.
*/ -}}
{{- define "delegraph.injectVariables" -}}
- name: annotations
  expression: 'has(object.metadata.annotations) ? object.metadata.annotations : {}'
- name: injected
  expression: 'has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.name == "delegraph" && has(c.restartPolicy) && c.restartPolicy == "Always")'
# Containers that run beside the sidecar. Other init containers end before it starts.
- name: neighbors
  expression: 'object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers.filter(c, c.name != "delegraph" && has(c.restartPolicy) && c.restartPolicy == "Always") : [])'
- name: conflicts
  expression: |
    {{- range $i, $conflict := include "delegraph.conflicts" . | fromYamlArray }}
    {{ if $i }}+ {{ end }}({{ $conflict }})
    {{- end }}
- name: conflict
  expression: >-
    variables.conflicts.size() == 0 ? "" :
    "the Delegraph sidecar cannot be injected: " + variables.conflicts.join("; ") + ". To run the pod without the sidecar, set its label delegraph.dev/inject to \"false\""
{{- end -}}

{{- /* CEL expressions, each a list of sentences about what keeps a pod from being injected. */ -}}
{{- define "delegraph.conflicts" -}}
{{- $numbers := list }}{{ $names := list }}{{ $agents := list }}{{ $upstreams := list -}}
{{- range include "delegraph.ports" . | fromYamlArray -}}
{{- $numbers = append $numbers .containerPort }}{{ $names = append $names .name -}}
{{- end -}}
{{- with dig "stream" "listen" "127.0.0.1:10478" .Values.config -}}
{{- $numbers = append $numbers (include "delegraph.port" . | int) -}}
{{- end -}}
{{- range .Values.config.sources -}}
{{- if .proxy -}}
{{- $host := (urlParse .proxy.upstream).host -}}
{{- if include "delegraph.loopback" $host -}}
{{- $upstreams = append $upstreams $host -}}
{{- $agents = append $agents (regexFind "[0-9]+$" (regexFind ":[0-9]+$" $host) | default (ternary "443" "80" (hasPrefix "https:" .proxy.upstream)) | int) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $ports := uniq $numbers | toJson -}}
{{- $tcp := "(!has(p.protocol) || p.protocol == \"TCP\")" -}}
{{- $remedy := printf "let it use another port%s" (ternary (printf ", such as %s for the agent" (join ", " $upstreams)) "" (not (empty $upstreams))) -}}
- {{ printf "has(object.spec.hostNetwork) && object.spec.hostNetwork ? [%s] : []" (printf "spec.hostNetwork: the sidecar would take ports of the node (%s): remove hostNetwork" (join ", " (uniq $numbers)) | toJson) | quote }}
- {{ printf "(has(object.spec.os) && object.spec.os.name == \"windows\") || (has(object.spec.nodeSelector) && \"kubernetes.io/os\" in object.spec.nodeSelector && object.spec.nodeSelector[\"kubernetes.io/os\"] == \"windows\") ? [%s] : []" (toJson "the pod is for Windows, and the sidecar runs only on Linux: remove its label delegraph.dev/inject") | quote }}
- {{ printf "(object.spec.containers + (has(object.spec.initContainers) && !variables.injected ? object.spec.initContainers : [])).exists(c, c.name == \"delegraph\") ? [%s] : []" (toJson "container delegraph: this is the name of the sidecar: rename or remove the container") | quote }}
- {{ printf "variables.injected || !has(object.spec.volumes) ? [] : object.spec.volumes.filter(v, v.name in %s).map(v, \"volume \" + v.name + \": this is the name of a volume of the sidecar: rename it\")" (include "delegraph.volumeNames" .) | quote }}
- {{ printf "variables.neighbors.filter(c, has(c.ports) && c.ports.exists(p, int(p.containerPort) in %s && %s)).map(c, \"container \" + c.name + \": port \" + c.ports.filter(p, int(p.containerPort) in %s && %s).map(p, string(int(p.containerPort))).join(\", \") + %s)" $ports $tcp $ports $tcp (printf " belongs to the sidecar: %s" $remedy | toJson) | quote }}
- {{ printf "variables.neighbors.filter(c, has(c.ports) && c.ports.exists(p, has(p.name) && p.name in %s)).map(c, \"container \" + c.name + \": a port is named \" + c.ports.filter(p, has(p.name) && p.name in %s).map(p, p.name).join(\", \") + %s)" (toJson $names) (toJson $names) (toJson " like a port of the sidecar, so a Service that targets this name would bypass the filter: rename or remove the port") | quote }}
- {{ printf "variables.neighbors.filter(c, has(c.ports) && c.ports.exists(p, has(p.hostPort) && int(p.hostPort) != 0 && int(p.containerPort) in %s)).map(c, \"container \" + c.name + %s)" (toJson $agents) (toJson ": hostPort opens the agent's own port, which bypasses the filter: remove hostPort") | quote }}
{{ include "delegraph.wrongAnnotations" . }}
{{- end -}}

{{- define "delegraph.volumeNames" -}}
{{- $names := list -}}
{{- range include "delegraph.volumes" . | fromYamlArray }}{{ $names = append $names .name }}{{ end -}}
{{ toJson $names }}
{{- end -}}

{{- /* CEL expressions as above, for the annotations. A message does not repeat the value, which may be long or have line breaks. */ -}}
{{- define "delegraph.wrongAnnotations" -}}
{{- $wrong := "%q in variables.annotations && !(%s) ? [%s] : []" -}}
{{- $rules := list
  (list "delegraph.dev/image" "V.size() <= 512 && V.matches(\"^([a-z0-9]+([.-]+[a-z0-9]+)*(:[0-9]{1,5})?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[a-f0-9]{64})?$\")" "it must be an image reference, such as registry.example.org/delegraph:0.1.0")
  (list "delegraph.dev/log-level" "V in [\"debug\", \"info\", \"warn\", \"error\"]" "it must be debug, info, warn or error")
  (list "resource.opentelemetry.io/service.name" "V.matches(\"^[^\\\\pC]{1,255}$\") && V.trim() != \"\"" "it must have 1 to 255 characters, not only spaces and without control characters, such as billing-agent")
  (list "delegraph.dev/cpu-request" "isQuantity(V) && quantity(V).isGreaterThan(quantity(\"0\"))" "it must be a quantity above 0, such as 100m")
  (list "delegraph.dev/cpu-limit" "isQuantity(V) && quantity(V).isGreaterThan(quantity(\"0\"))" "it must be a quantity above 0, such as 500m")
  (list "delegraph.dev/memory-request" "isQuantity(V) && !quantity(V).isLessThan(quantity(\"1Mi\"))" "it must be a quantity of at least 1Mi, such as 128Mi")
  (list "delegraph.dev/memory-limit" "isQuantity(V) && !quantity(V).isLessThan(quantity(\"32Mi\"))" "it must be a quantity of at least 32Mi, such as 512Mi")
-}}
{{- range $rules }}
{{- $name := index . 0 }}
- {{ printf $wrong $name (index . 1 | replace "V" (printf "variables.annotations[%q]" $name)) (printf "annotation %s: %s" $name (index . 2) | toJson) | quote }}
{{- end }}
{{- range $resource := list "cpu" "memory" }}
{{- $request := printf "delegraph.dev/%s-request" $resource }}
{{- $limit := include "delegraph.annotated" (list $ "limits" $resource) }}
- {{ printf "%q in variables.annotations && isQuantity(variables.annotations[%q]) && %s.hasValue() && isQuantity(%s.value()) && quantity(variables.annotations[%q]).isGreaterThan(quantity(%s.value())) ? [%s] : []" $request $request $limit $limit $request $limit (printf "annotation %s: it is above the limit: lower it, or raise the annotation delegraph.dev/%s-limit" $request $resource | toJson) | quote }}
{{- end }}
{{- end -}}

{{- /* An optional of CEL: a resource's quantity from the annotation, or from the values. A default request stays within the limit. */ -}}
{{- define "delegraph.annotated" -}}
{{- $top := index . 0 }}{{ $part := index . 1 }}{{ $resource := index . 2 -}}
{{- $annotation := printf "variables.annotations[?\"delegraph.dev/%s-%s\"]" $resource (trimSuffix "s" $part) -}}
{{- $value := dig $part $resource "" ($top.Values.resources | default dict) | include "delegraph.plain" -}}
{{- if not $value -}}
{{ $annotation }}
{{- else if eq $part "limits" -}}
{{ $annotation }}.or(optional.of({{ toJson $value }}))
{{- else -}}
{{- $limit := printf "\"delegraph.dev/%s-limit\"" $resource -}}
{{ $annotation }}.or(optional.of({{ $limit }} in variables.annotations && quantity(variables.annotations[{{ $limit }}]).isLessThan(quantity({{ toJson $value }})) ? variables.annotations[{{ $limit }}] : {{ toJson $value }}))
{{- end -}}
{{- end -}}

{{- /*
CEL variables of the mutation: about the workload, for OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, after the OpenTelemetry conventions for
Kubernetes attributes, and the path of the new container. A Deployment's name is that of its ReplicaSet without the hash, which the
pod has as a label.
*/ -}}
{{- define "delegraph.mutationVariables" -}}
{{- $fixed := get (.Values.traces.resourceAttributes | default dict) "service.name" -}}
- name: labels
  expression: 'has(object.metadata.labels) ? object.metadata.labels : {}'
- name: owners
  expression: 'has(object.metadata.ownerReferences) ? object.metadata.ownerReferences.filter(o, has(o.controller) && o.controller && o.kind in ["ReplicaSet", "StatefulSet", "DaemonSet", "Job"] && o.apiVersion in ["apps/v1", "batch/v1"]) : []'
- name: deployment
  expression: >-
    variables.owners.filter(o, o.kind == "ReplicaSet" && "pod-template-hash" in variables.labels && o.name.endsWith("-" + variables.labels["pod-template-hash"]))
    .map(o, o.name.substring(0, o.name.size() - variables.labels["pod-template-hash"].size() - 1))
- name: workload
  expression: >-
    variables.deployment.map(d, ",k8s.deployment.name=" + d).join() +
    variables.owners.map(o, ",k8s." + o.kind.lowerAscii() + ".name=" + o.name).join()
- name: container
  expression: '"/spec/initContainers/" + string(has(object.spec.initContainers) ? object.spec.initContainers.size() : 0)'
- name: service
  expression: >-
    "resource.opentelemetry.io/service.name" in variables.annotations ? variables.annotations["resource.opentelemetry.io/service.name"].replace("$", "$$") :
    {{- if $fixed }}
    {{ $fixed | include "delegraph.plain" | replace "$" "$$" | toJson }}
    {{- else }}
    "app.kubernetes.io/instance" in variables.labels && variables.labels["app.kubernetes.io/instance"] != "" ? variables.labels["app.kubernetes.io/instance"] :
    "app.kubernetes.io/name" in variables.labels && variables.labels["app.kubernetes.io/name"] != "" ? variables.labels["app.kubernetes.io/name"] :
    variables.deployment.size() > 0 ? variables.deployment[0] :
    variables.owners.size() > 0 ? variables.owners[0].name : "$(POD_NAME)"
    {{- end }}
{{- end -}}

{{- /* The container for an injected pod, with CEL where an annotation or the pod's workload decides. See delegraph.cel. */ -}}
{{- define "delegraph.injectedContainer" -}}
{{- $given := list }}{{ range .Values.env }}{{ $given = append $given .name }}{{ end -}}
{{- $container := include "delegraph.anyContainer" . | fromYamlArray | first -}}
{{- $_ := set $container "image" (dict "$cel" (printf "variables.annotations[?\"delegraph.dev/image\"].orValue(%s)" (toJson $container.image))) -}}
{{- $args := list -}}
{{- range $container.args -}}
{{- if hasPrefix "--log.level=" . -}}
{{- $args = append $args (dict "$cel" (printf "\"--log.level=\" + variables.annotations[?\"delegraph.dev/log-level\"].orValue(%s)" (toJson $.Values.log.level))) -}}
{{- else }}{{ $args = append $args . }}{{ end -}}
{{- end -}}
{{- $_ := set $container "args" $args -}}
{{- $env := list -}}
{{- range $container.env -}}
{{- if has .name $given }}{{ $env = append $env . -}}
{{- else if eq .name "OTEL_SERVICE_NAME" }}{{ $env = append $env (dict "name" .name "value" (dict "$cel" "variables.service")) -}}
{{- else if eq .name "OTEL_RESOURCE_ATTRIBUTES" -}}
{{- $last := "k8s.container.name=delegraph" -}}{{- /* what the values add comes later and wins */ -}}
{{- $value := split $last .value -}}
{{- $env = append $env (dict "name" .name "value" (dict "$cel" (printf "%s + variables.workload + %s" (printf "%s%s" $value._0 $last | toJson) (toJson $value._1)))) -}}
{{- else if eq .name "GOMEMLIMIT" -}}
{{- $limit := "variables.annotations[\"delegraph.dev/memory-limit\"]" -}}
{{- $env = append $env (dict "$cel" (printf "\"delegraph.dev/memory-limit\" in variables.annotations ? dyn({\"name\": \"GOMEMLIMIT\", \"value\": string(int(quantity(%s).asApproximateFloat() * 0.9))}) : %s" $limit (include "delegraph.cel" .))) -}}
{{- else }}{{ $env = append $env . }}{{ end -}}
{{- end -}}
{{- $_ := set $container "env" $env -}}
{{- $resources := $container.resources | default dict -}}
{{- range $part := list "requests" "limits" -}}
{{- $quantities := get $resources $part | default dict -}}
{{- range $resource := list "cpu" "memory" -}}
{{- if get $quantities $resource -}}
{{- $_ := set $quantities $resource (dict "$cel" (printf "%s.value()" (include "delegraph.annotated" (list $ $part $resource)))) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $resources $part $quantities -}}
{{- end -}}
{{- $_ := set $container "resources" $resources -}}
{{ toYaml $container }}
{{- end -}}

{{- /* CEL: patches for the annotated resources that the values do not set. */ -}}
{{- define "delegraph.resourcePatches" -}}
{{- range $part := list "requests" "limits" -}}
{{- range $resource := list "cpu" "memory" -}}
{{- if not (dig $part $resource "" ($.Values.resources | default dict)) -}}
{{- $annotation := printf "delegraph.dev/%s-%s" $resource (trimSuffix "s" $part) }}
+ ({{ toJson $annotation }} in variables.annotations ? [JSONPatch{op: "add", path: variables.container + "/resources/{{ $part }}/{{ $resource }}", value: variables.annotations[{{ toJson $annotation }}]}] : [])
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
