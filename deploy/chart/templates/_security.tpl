{{/*
Refuses volumes that the namespace's Pod Security Standard forbids: pods that have them would be refused
one after another, long after the install. Everything else in our pods is allowed everywhere.
*/}}
{{- define "trainyard.security" -}}
{{- $kubernetes := (include "trainyard.file" . | fromJson).on.kubernetes }}
{{- $pod := $kubernetes.pod | default dict }}
{{- $unrestricted := list "configMap" "csi" "downwardAPI" "emptyDir" "ephemeral" "persistentVolumeClaim" "projected" "secret" }}
{{- range concat ($pod.volumes | default list) (dig "spec" "volumes" list $pod) }}
{{- $volume := . }}
{{- range $kind := without (keys $volume) "name" }}
{{- if not (has $kind $unrestricted) }}
{{- $level := include "trainyard.security.level" $ }}
{{- if or (eq $level "restricted") (and (eq $level "baseline") (eq $kind "hostPath")) }}
{{- $values := ternary "on.kubernetes.pod of the run file" "the values volumes and volumeMounts" (not (empty $.Values.run)) }}
{{- fail (printf "namespace %s enforces the Pod Security Standard %s, which forbids the %s volume %q; drop it from %s, for logs are kept in the run all the same, or use another namespace" $.Release.Namespace $level $kind $volume.name $values) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The standard that the namespace enforces. A namespace that is not there yet enforces nothing. */}}
{{- define "trainyard.security.level" -}}
{{- if ne .Values.podSecurity "auto" }}
{{- .Values.podSecurity }}
{{- else }}
{{- dig "metadata" "labels" "pod-security.kubernetes.io/enforce" "privileged" (lookup "v1" "Namespace" "" .Release.Namespace) }}
{{- end }}
{{- end }}
