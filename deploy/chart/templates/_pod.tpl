{{/* What every pod of a run may do: little. With what its container says, the standard "restricted". */}}
{{- define "trainyard.pod.security" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* The same of its container. */}}
{{- define "trainyard.pod.container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* How soon it leaves a node that is not heard of: the usual five minutes are long for those who wait for it. */}}
{{- define "trainyard.pod.tolerations" -}}
- { key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 10 }
- { key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 10 }
{{- end }}

{{/* A pod with what the run file gives all pods merged into it, (list FILE POD), as JSON: into its spec, unless it says otherwise. */}}
{{- define "trainyard.pod" -}}
{{- $pod := index . 1 }}
{{- with (index . 0).on.kubernetes.pod }}
{{- $whole := or (hasKey . "spec") (hasKey . "metadata") }}
{{- $pod = (include "trainyard.merge" (list $pod (ternary . (dict "spec" .) $whole) "") | fromJson).value }}
{{- end }}
{{- toJson $pod }}
{{- end }}
