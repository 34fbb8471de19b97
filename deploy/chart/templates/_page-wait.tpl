{{/* A length of time as run files have it, `1s500ms`, in milliseconds. */}}
{{- define "trainyard.page.wait" -}}
{{- $scales := dict "d" 86400000 "h" 3600000 "m" 60000 "s" 1000 "ms" 1 }}
{{- $all := 0 }}
{{- range regexFindAll "[0-9.]+[a-z]+" . -1 }}
{{- $scale := get $scales (regexFind "[a-z]+" .) }}
{{- $all = mulf (regexFind "[0-9.]+" .) $scale | addf $all }}
{{- end }}
{{- int64 $all }}
{{- end }}
