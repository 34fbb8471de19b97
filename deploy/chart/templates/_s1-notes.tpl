{{/* What is other than in the chart "distributed-tensorflow", where the values ask for it. */}}
{{- define "trainyard.s1.notes" -}}
{{- $other := list }}
{{- $replaced := list }}
{{- $ordered := list }}
{{- range $role := list "worker" "ps" }}
{{- $given := get $.Values $role }}
{{- if and $given.image (not (include "trainyard.s1.named" $given)) }}
{{- $replaced = append $replaced (printf "%s.image" $role) }}
{{- end }}
{{- if eq ($given.podManagementPolicy | default "Parallel") "OrderedReady" }}
{{- $ordered = append $ordered (printf "%s.podManagementPolicy" $role) }}
{{- end }}
{{- end }}
{{- with $replaced }}
{{- $other = append $other (printf "%s: the image of the chart distributed-tensorflow is replaced by Trainyard's." (join ", " .)) }}
{{- end }}
{{- with $ordered }}
{{- $other = append $other (printf "%s: OrderedReady makes no difference. All pods start at once, and none needs another to start." (join ", " .)) }}
{{- end }}
{{- if not (int .Values.hyperparams.trainsteps) }}
{{- $run := include "trainyard.run" . }}
{{- $other = append $other (printf "hyperparams.trainsteps is 0: it trains until you uninstall it. To keep the model, stop it first:\n  trainyard stop %s --on kubernetes --namespace %s" $run .Release.Namespace) }}
{{- end }}
{{- with include "trainyard.s1.logdir" . }}
{{- $other = append $other (printf "Pods also write their logs to %s, where user 65532 may write there; a hostPath volume is a folder of each\n  machine. All logs are in the run as well." .) }}
{{- end }}
{{- with .Values.hyperparams.datadir }}
{{- if not (include "trainyard.s1.datadir" $) }}
{{- $other = append $other (printf "hyperparams.datadir: no volume is mounted at %s, so MNIST is read from where the value data says." .) }}
{{- else if ne (toString ($.Values.data | default "mnist")) "mnist" }}
{{- $other = append $other "hyperparams.datadir: the value data says where to read from, so it is not used." }}
{{- end }}
{{- end }}
{{- with $other }}

Other than you may be used to:
{{- range . }}
- {{ . }}
{{- end }}
{{- end }}
{{- end }}
