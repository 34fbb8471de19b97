{{/*
The step that trains what a step serves, (list FILE STEP NAMED): the one that it names, else the only one among
its needs and, through steps that do not train, their needs. The driver finds it in the same way.
*/}}
{{- define "trainyard.page.model" -}}
{{- $step := index . 1 }}
{{- $named := index . 2 }}
{{- $short := dict "train" (dict "train" dict) $step (dict "needs" (list "train")) }}
{{- $steps := (index . 0).steps | default $short }}
{{- $trained := list }}
{{- range $name, $each := $steps }}
{{- if and (kindIs "map" $each) (not (kindIs "invalid" $each.train)) }}
{{- $trained = append $trained $name }}
{{- end }}
{{- end }}
{{- $found := list }}
{{- $open := list $step }}
{{- /* No way from need to need is longer than there are steps, unless it goes in a circle. */}}
{{- range $steps }}
{{- $next := list }}
{{- range $open }}
{{- $each := get $steps . | default dict }}
{{- $needs := kindIs "slice" $each.needs | ternary $each.needs list }}
{{- range $needs }}
{{- if and (has . $trained) (not (has . $found)) }}
{{- $found = append $found . }}
{{- else if not (has . $trained) }}
{{- $next = append $next . }}
{{- end }}
{{- end }}
{{- end }}
{{- $open = uniq $next }}
{{- end }}
{{- if $named }}
{{- if not (has $named $trained) }}
{{- fail (printf "the step %s serves the model of %q, which is no step that trains; name one of: %s" $step $named (sortAlpha $trained | join ", ")) }}
{{- end }}
{{- $found = list $named }}
{{- end }}
{{- if not $found }}
{{- fail (printf "the step %s serves a model, but needs no step that trains; add one to its needs, of: %s" $step (sortAlpha $trained | join ", ")) }}
{{- end }}
{{- if gt (len $found) 1 }}
{{- fail (printf "the step %s serves one model, but needs %s; say which with `model`" $step (sortAlpha $found | join " and ")) }}
{{- end }}
{{- first $found }}
{{- end }}
