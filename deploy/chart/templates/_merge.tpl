{{/*
Merges what is given into a part of a pod, (list TARGET GIVEN FIELD), as {"value": …}: mappings field by
field, lists entry by entry, and all else in the place of what was there. The driver merges the same way
into what it makes.
*/}}
{{- define "trainyard.merge" -}}
{{- $target := index . 0 }}
{{- $given := index . 1 }}
{{- $list := index . 2 }}
{{- $merged := $given }}
{{- if and (kindIs "map" $target) (kindIs "map" $given) }}
{{- $merged = deepCopy $target }}
{{- range $field, $value := $given }}
{{- $_ := set $merged $field (include "trainyard.merge" (list (get $merged $field) $value $field) | fromJson).value }}
{{- end }}
{{- else if and (kindIs "slice" $target) (kindIs "slice" $given) }}
{{- $merged = $target }}
{{- range $given }}
{{- $merged = (include "trainyard.merge.entry" (list $merged . $list) | fromJson).value }}
{{- end }}
{{- end }}
{{- dict "value" $merged | toJson }}
{{- end }}

{{/*
Merges one entry into a list, (list ENTRIES ENTRY FIELD), as {"value": …}. Entries are the same where they
have the same name, and mounts where they are in the same place. What is said of a container without a
name is said of ours, the first.
*/}}
{{- define "trainyard.merge.entry" -}}
{{- $entry := index . 1 }}
{{- $list := index . 2 }}
{{- $key := eq $list "volumeMounts" | ternary "mountPath" "name" }}
{{- $merged := list }}
{{- $found := false }}
{{- range index . 0 }}
{{- $same := false }}
{{- if and (not $found) (kindIs "map" .) (kindIs "map" $entry) }}
{{- $same = hasKey $entry $key | ternary (eq (toJson (get . $key)) (toJson (get $entry $key))) (eq $list "containers") }}
{{- end }}
{{- if $same }}
{{- $found = true }}
{{- $merged = append $merged (include "trainyard.merge" (list . $entry "") | fromJson).value }}
{{- else }}
{{- $merged = append $merged . }}
{{- end }}
{{- end }}
{{- if not $found }}
{{- $merged = append $merged $entry }}
{{- end }}
{{- dict "value" $merged | toJson }}
{{- end }}
