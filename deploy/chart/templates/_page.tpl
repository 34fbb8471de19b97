{{/*
The steps of a run file that serve, by their names, as JSON. The short form has one at most, and it is called
`serve`.
*/}}
{{- define "trainyard.page.steps" -}}
{{- if and .steps (not (kindIs "invalid" .serve)) }}
{{- fail "serve belongs to the short form, but the run file has `steps`; put it into a step, or take `steps` away" }}
{{- end }}
{{- $steps := .steps | default (dict "serve" (pick . "serve")) }}
{{- $found := dict }}
{{- range $name, $step := kindIs "map" $steps | ternary $steps dict }}
{{- if and (kindIs "map" $step) (not (kindIs "invalid" $step.serve)) }}
{{- if not (kindIs "map" $step.serve) }}
{{- fail (printf "serve is %s, but is a mapping; write `serve: {}` for a page as it usually is" (toJson $step.serve)) }}
{{- end }}
{{- $_ := set $found $name $step.serve }}
{{- end }}
{{- end }}
{{- if gt (len $found) 1 }}
{{- fail (printf "the steps %s serve, and a run ends with one page; keep one of them" (keys $found | sortAlpha | join " and ")) }}
{{- end }}
{{- toJson $found }}
{{- end }}

{{/* Leaves out of a run file what it says of serving on one's own machine: pods listen to all, have a token of their own, and not the user's pictures. */}}
{{- define "trainyard.page.leave-out" -}}
{{- range concat (list .) (values (.steps | default dict)) }}
{{- if and (kindIs "map" .) (kindIs "map" .serve) }}
{{- $_ := set . "serve" (omit .serve "host" "token_file" "examples") }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The page that the run ends with, as JSON; {} where it ends with none. `name` is that of its objects, `model` the
step that trains what is served, `serve` has every field that there is, and `port` is where its pods listen.
*/}}
{{- define "trainyard.page" -}}
{{- $root := . }}
{{- $file := include "trainyard.file" . | fromJson }}
{{- $page := dict }}
{{- range $step, $given := include "trainyard.page.steps" $file | fromJson }}
{{- $serve := dict "port" 8080 "combine" "vote" "batch" 32 "wait" "0s" "queue" 256 }}
{{- range $field, $value := $given }}
{{- if not (kindIs "invalid" $value) }}
{{- $_ := set $serve $field $value }}
{{- end }}
{{- end }}
{{- include "trainyard.page.refusals" (list $file $step $serve) }}
{{- $page = dict
  "name" (include "trainyard.page.name" (list (include "trainyard.run" $root) $step))
  "model" (include "trainyard.page.model" (list $file $step $serve.model))
  "serve" $serve
  "port" (($file.on.kubernetes.serve | default dict).port | default 8080)
}}
{{- end }}
{{- toJson $page }}
{{- end }}

{{/* What tells the pods of the page from all others. */}}
{{- define "trainyard.page.selector" -}}
trainyard/run: {{ include "trainyard.run" . }}
app.kubernetes.io/component: serve
{{- end }}
