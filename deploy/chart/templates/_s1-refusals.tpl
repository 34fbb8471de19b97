{{/* What the chart "distributed-tensorflow" took and this one does not, in a sentence each. */}}
{{- define "trainyard.s1.refusals" -}}
{{- range $role := list "worker" "ps" }}
{{- $given := get $.Values $role }}
{{- if gt (int $given.gpuCount) 0 }}
{{- fail (printf "%s.gpuCount is %d, but training on GPUs comes in a later version; leave it out to train on CPUs" $role (int $given.gpuCount)) }}
{{- end }}
{{- if $given.privileged }}
{{- fail (printf "%s.privileged is true, but no pod of a run needs or gets more rights than others; leave it out" $role) }}
{{- end }}
{{- end }}
{{- $env := .Values.ps.env | default dict }}
{{- range $name, $value := .Values.worker.env }}
{{- if and (hasKey $env $name) (ne (toJson $value) (toJson (get $env $name))) }}
{{- fail (printf "worker.env and ps.env differ in %s, but all pods of a run have one environment; give both the same value" $name) }}
{{- end }}
{{- end }}
{{- $policies := list }}
{{- range list .Values.worker .Values.ps }}
{{- with (.image | default dict).pullPolicy }}
{{- $policies = append $policies . }}
{{- end }}
{{- end }}
{{- if gt (len (uniq $policies)) 1 }}
{{- fail (printf "worker.image.pullPolicy is %s and ps.image.pullPolicy is %s, but all pods of a run have one image; give both the same" (first $policies) (last $policies)) }}
{{- end }}
{{- range .Values.volumes }}
{{- if has .name (list "file" "keys" "runs" "scratch" "tmp") }}
{{- fail (printf "volumes has one called %q, but pods of a run have a volume of that name; call it otherwise, in volumeMounts too" .name) }}
{{- end }}
{{- end }}
{{- $mounted := list }}
{{- range .Values.volumeMounts }}
{{- if has .mountPath $mounted }}
{{- fail (printf "volumeMounts has two volumes for %q, but one can be mounted there; give the other another mountPath" .mountPath) }}
{{- end }}
{{- $mounted = append $mounted .mountPath }}
{{- end }}
{{- end }}
