{{/*
Refuses to change a run that has begun, whose sum is the second of (list ROOT SUM). Kubernetes would
refuse it too, but when the run file is changed already, and in words that nobody understands.
*/}}
{{- define "trainyard.unchanged" -}}
{{- $root := index . 0 }}
{{- $sum := index . 1 }}
{{- $run := include "trainyard.run" $root }}
{{- $other := printf "--set number=%d" (add1 $root.Values.number) }}
{{- with lookup "batch/v1" "Job" $root.Release.Namespace $run }}
{{- $before := dig "annotations" "trainyard/sum" "" .metadata }}
{{- if not $before }}
{{- fail (printf "the Job %s in namespace %s is not of this chart; install under another name, or with %s" $run $root.Release.Namespace $other) }}
{{- else if ne $before $sum }}
{{- fail (printf "%s has begun and does not change, but these values or this chart are not those it began with; start a new run in its place with %s, or one beside it under another name" $run $other) }}
{{- end }}
{{- end }}
{{- end }}
