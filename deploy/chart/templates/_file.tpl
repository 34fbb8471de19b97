{{/* The value `run` as JSON: a run file given as a mapping or as text. */}}
{{- define "trainyard.given" -}}
{{- $given := .Values.run }}
{{- if kindIs "string" $given }}
{{- $given = fromYaml .Values.run }}
{{- with $given.Error }}
{{- fail (printf "run is not YAML: %s" .) }}
{{- end }}
{{- end }}
{{- $given = deepCopy $given }}
{{- /* Helm's YAML takes the bare word `on` for true. */}}
{{- if hasKey $given "true" }}
{{- $_ := set $given "on" (get $given "true") }}
{{- $_ := unset $given "true" }}
{{- end }}
{{- toJson $given }}
{{- end }}

{{/* The whole run file as JSON. All objects are made from it alone. */}}
{{- define "trainyard.file" -}}
{{- $file := dict }}
{{- if .Values.run }}
{{- $file = include "trainyard.given" . | fromJson }}
{{- else }}
{{- $file = include "trainyard.s1" . | fromJson }}
{{- end }}
{{- $on := $file.on | default dict }}
{{- $kubernetes := $on.kubernetes | default dict }}
{{- $unsaid := dict "storage" .Values.storage "service_account" .Values.serviceAccount "driver" .Values.driver "pod" .Values.pod }}
{{- if include "trainyard.page.steps" $file | fromJson }}
{{- $_ := set $unsaid "serve" .Values.serve }}
{{- $_ := set $unsaid "service" .Values.service }}
{{- include "trainyard.page.leave-out" $file }}
{{- end }}
{{- range $field, $value := $unsaid }}
{{- if and $value (not (hasKey $kubernetes $field)) }}
{{- $_ := set $kubernetes $field $value }}
{{- end }}
{{- end }}
{{- $usual := printf "trainyard:%s" .Chart.AppVersion }}
{{- $_ := set $kubernetes "image" (.Values.image | default $kubernetes.image | default $usual) }}
{{- $_ := set $kubernetes "storage" (include "trainyard.storage" $kubernetes.storage | fromJson).value }}
{{- $_ := set $on "kubernetes" $kubernetes }}
{{- $_ := set $file "on" $on }}
{{- $_ := set $file "name" (include "trainyard.name" .) }}
{{- toJson $file }}
{{- end }}

{{/* What a storage comes to, as {"value": …}: "none", {pvc: …} with all its fields, or {claim: …}. */}}
{{- define "trainyard.storage" -}}
{{- $storage := . | default "none" }}
{{- if eq (toString $storage) "auto" }}
{{- $storage = "none" }}
{{- range (lookup "storage.k8s.io/v1" "StorageClass" "" "").items }}
{{- if eq (dig "metadata" "annotations" "storageclass.kubernetes.io/is-default-class" "" .) "true" }}
{{- $storage = "pvc" }}
{{- end }}
{{- end }}
{{- end }}
{{- if eq (toString $storage) "pvc" }}
{{- $storage = dict "pvc" dict }}
{{- end }}
{{- if and (kindIs "map" $storage) (hasKey $storage "pvc") }}
{{- $claim := deepCopy ($storage.pvc | default dict) }}
{{- range $field, $value := dict "size" "1Gi" "keep" true }}
{{- if not (hasKey $claim $field) }}
{{- $_ := set $claim $field $value }}
{{- end }}
{{- end }}
{{- $storage = dict "pvc" $claim }}
{{- end }}
{{- dict "value" $storage | toJson }}
{{- end }}
