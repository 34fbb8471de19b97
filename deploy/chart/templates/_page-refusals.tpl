{{/*
What cannot be served, or not with Helm, in a sentence each; (list FILE STEP SERVE). The driver reads the rest of
the file, but these fields are already in the page's objects when it does.
*/}}
{{- define "trainyard.page.refusals" -}}
{{- $kubernetes := (index . 0).on.kubernetes }}
{{- $step := index . 1 }}
{{- $serve := index . 2 }}
{{- if not (regexMatch "^[a-z][a-z0-9-]{0,39}$" $step) }}
{{- fail (printf "a step cannot be called %q: a name has lower-case letters, digits and dashes, begins with a letter and has at most 40 characters" $step) }}
{{- end }}
{{- $fields := list "model" "port" "gallery" "combine" "batch" "wait" "queue" }}
{{- range $field, $value := $serve }}
{{- if not (has $field $fields) }}
{{- fail (printf "serve has no field %q; on a cluster it has %s" $field (join ", " $fields)) }}
{{- end }}
{{- end }}
{{- range $field, $most := dict "port" 65535 "batch" 65536 "queue" 65536 }}
{{- $value := get $serve $field }}
{{- if not (regexMatch "^[1-9][0-9]*$" (toJson $value)) }}
{{- fail (printf "serve.%s is %s, but is a whole number above 0" $field (toJson $value)) }}
{{- end }}
{{- if gt (int $value) $most }}
{{- fail (printf "serve.%s is %s, but is at most %d" $field (toJson $value) $most) }}
{{- end }}
{{- end }}
{{- if not (has $serve.combine (list "vote" "mean")) }}
{{- fail (printf "serve.combine is %s, but is vote or mean" (toJson $serve.combine)) }}
{{- end }}
{{- if not (regexMatch "^([0-9]+(\\.[0-9]+)?(d|h|m|s|ms))+$" (toString $serve.wait)) }}
{{- fail (printf "serve.wait is %s, but is a length of time such as 5ms" (toJson $serve.wait)) }}
{{- end }}
{{- if gt (include "trainyard.page.wait" $serve.wait | int64) 10000 }}
{{- fail (printf "serve.wait is %s, but is at most 10s; requests gather under load anyway" $serve.wait) }}
{{- end }}
{{- $services := list "ClusterIP" "NodePort" "LoadBalancer" }}
{{- if not (has ($kubernetes.service | default "ClusterIP") $services) }}
{{- fail (printf "on.kubernetes.service is %s, but is one of %s" (toJson $kubernetes.service) (join ", " $services)) }}
{{- end }}
{{- with $serve.gallery }}
{{- include "trainyard.page.gallery" (list $kubernetes .) }}
{{- end }}
{{- end }}

{{/* Refuses a gallery that pods would not find, (list KUBERNETES FOLDER): files do not travel with Helm. */}}
{{- define "trainyard.page.gallery" -}}
{{- $kubernetes := index . 0 }}
{{- $folder := index . 1 | toString | clean }}
{{- $places := list }}
{{- if kindIs "map" $kubernetes.storage }}
{{- if hasKey $kubernetes.storage "claim" }}
{{- $places = list "/runs" }}
{{- end }}
{{- end }}
{{- $pod := $kubernetes.pod | default dict }}
{{- range concat ($pod.containers | default list) (dig "spec" "containers" list $pod) }}
{{- range .volumeMounts }}
{{- $places = append $places (.mountPath | trimSuffix "/") }}
{{- end }}
{{- end }}
{{- $found := false }}
{{- range $places }}
{{- $found = or $found (hasPrefix (printf "%s/" .) (printf "%s/" $folder)) }}
{{- end }}
{{- if not $found }}
{{- fail (printf "serve.gallery is %s, which pods do not have, for files do not travel with Helm; mount a volume that has the pictures with the value pod and name the folder there, or run the file with `trainyard run FILE --on kubernetes`, which sends it" (index . 1)) }}
{{- end }}
{{- end }}
