{{/* The image that a role of the chart "distributed-tensorflow" names: nothing for that chart's own. */}}
{{- define "trainyard.s1.named" -}}
{{- $image := .image | default dict }}
{{- $repository := $image.repository | default "dysproz/distributed-tf" }}
{{- if not (regexMatch "^(docker\\.io/)?(dysproz|cheyang)/distributed-tf$" $repository) }}
{{- $repository }}{{ with $image.tag }}:{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* The image that the roles name: both the same, or one of them. */}}
{{- define "trainyard.s1.image" -}}
{{- $worker := include "trainyard.s1.named" .Values.worker }}
{{- $server := include "trainyard.s1.named" .Values.ps }}
{{- if and .Values.worker.image .Values.ps.image (ne $worker $server) }}
{{- fail (printf "worker.image is %s and ps.image is %s, but all pods of a run have one image; give both the same, or leave both out and set image" ($worker | default "the old chart's own") ($server | default "the old chart's own")) }}
{{- end }}
{{- $named := $worker | default $server }}
{{- if and .Values.image $named (ne .Values.image $named) }}
{{- fail (printf "image is %s and %s.image is %s, but all pods of a run have one image; leave one of them out" .Values.image (empty $worker | ternary "ps" "worker") $named) }}
{{- end }}
{{- $named }}
{{- end }}
