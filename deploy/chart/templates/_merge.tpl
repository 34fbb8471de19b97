{{/*
Merges what is given into a part of a pod, (list TARGET GIVEN), as {"value": …}: mappings field by field,
lists joined, and all else in the place of what was there. Entries of a list are the same where they have
the same name; what is said of a container without a name is said of ours, which has arguments.
The driver merges the same way into what it makes.
*/}}
{{- define "trainyard.merge" -}}
{{- $target := index . 0 }}
{{- $given := index . 1 }}
{{- $merged := $given }}
{{- if and (kindIs "map" $target) (kindIs "map" $given) }}
{{- $merged = deepCopy $target }}
{{- range $field, $value := $given }}
{{- $_ := set $merged $field (include "trainyard.merge" (list (get $merged $field) $value) | fromJson).value }}
{{- end }}
{{- else if and (kindIs "slice" $target) (kindIs "slice" $given) }}
{{- $merged = $target }}
{{- range $given }}
{{- $merged = (include "trainyard.merge.entry" (list $merged .) | fromJson).value }}
{{- end }}
{{- end }}
{{- dict "value" $merged | toJson }}
{{- end }}

{{/* Merges one entry into a list, (list ENTRIES ENTRY), as {"value": …}. */}}
{{- define "trainyard.merge.entry" -}}
{{- $entry := index . 1 }}
{{- $merged := list }}
{{- $found := false }}
{{- range index . 0 }}
{{- $same := false }}
{{- if and (not $found) (kindIs "map" .) (kindIs "map" $entry) }}
{{- $same = hasKey $entry "name" | ternary (eq (toJson (get . "name")) (toJson (get $entry "name"))) (hasKey . "args") }}
{{- end }}
{{- if $same }}
{{- $found = true }}
{{- $merged = append $merged (include "trainyard.merge" (list . $entry) | fromJson).value }}
{{- else }}
{{- $merged = append $merged . }}
{{- end }}
{{- end }}
{{- if not $found }}
{{- $merged = append $merged $entry }}
{{- end }}
{{- dict "value" $merged | toJson }}
{{- end }}
