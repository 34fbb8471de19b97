{{/*
What all objects of a page are called, (list RUN STEP). The driver looks for them under this name, so that one that
is too long is cut as the driver cuts it.
*/}}
{{- define "trainyard.page.name" -}}
{{- $name := join "-" . }}
{{- if gt (len $name) 52 }}
{{- $name = printf "%s-%s" (trunc 43 $name | regexFind "^.*[^-]") (include "trainyard.page.hash" $name) }}
{{- end }}
{{- $name }}
{{- end }}

{{/* FNV-1a of a text, with 32 bits. Templates know no "exclusive or", so it is made of bits that differ. */}}
{{- define "trainyard.page.hash" -}}
{{- $text := . }}
{{- $hash := 2166136261 }}
{{- range $place := until (len $text) }}
{{- $byte := index $text $place }}
{{- $low := 0 }}
{{- range $bit := list 1 2 4 8 16 32 64 128 }}
{{- if ne (mod (div $hash $bit) 2) (mod (div $byte $bit) 2) }}
{{- $low = add $low $bit }}
{{- end }}
{{- end }}
{{- $hash = mod (mul (add (sub $hash (mod $hash 256)) $low) 16777619) 4294967296 }}
{{- end }}
{{- printf "%08x" $hash }}
{{- end }}
