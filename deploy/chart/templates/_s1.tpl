{{/* The run file that the values of the chart "distributed-tensorflow" describe, as JSON. */}}
{{- define "trainyard.s1" -}}
{{- include "trainyard.s1.refusals" . }}
{{- $data := .Values.data | default "mnist" }}
{{- if kindIs "string" $data }}
{{- $data = dict "from" $data }}
{{- if eq $data.from "mnist" }}
{{- /* As TensorFlow's reader of MNIST did, and from where it did. */}}
{{- $_ := set $data "validation" 5000 }}
{{- with include "trainyard.s1.datadir" . }}
{{- $_ := set $data "mirror" . }}
{{- end }}
{{- end }}
{{- end }}
{{- $model := dict "name" "mnist-mlp" }}
{{- with .Values.hyperparams.hiddenunits }}
{{- $_ := set $model "hidden_units" . }}
{{- end }}
{{- $train := dict
  "workers" .Values.worker.number
  "strategy" (dict "parameter_server" (dict "servers" .Values.ps.number "mode" "async"))
  "batch" .Values.hyperparams.batchsize
  "learning_rate" .Values.hyperparams.learningrate
  "steps" .Values.hyperparams.trainsteps
}}
{{- $kubernetes := dict
  "workers" (include "trainyard.s1.pods" .Values.worker | fromJson)
  "servers" (include "trainyard.s1.pods" .Values.ps | fromJson)
}}
{{- with include "trainyard.s1.image" . }}
{{- $_ := set $kubernetes "image" . }}
{{- end }}
{{- with include "trainyard.s1.pod" . | fromJson }}
{{- $_ := set $kubernetes "pod" . }}
{{- end }}
{{- dict "data" $data "model" $model "train" $train "on" (dict "kubernetes" $kubernetes) | toJson }}
{{- end }}

{{/* What pods of a role are given. Limits are requests too, as Kubernetes has it. */}}
{{- define "trainyard.s1.pods" -}}
{{- $pods := dict "port" .port }}
{{- $limits := dict }}
{{- range $name, $amount := .limit }}
{{- if $amount }}
{{- $_ := set $limits $name (kindIs "string" $amount | ternary $amount (toJson $amount)) }}
{{- end }}
{{- end }}
{{- with $limits }}
{{- $_ := set $pods "limits" . }}
{{- end }}
{{- toJson $pods }}
{{- end }}

{{/* What is merged into every pod: the value `pod`, and what volumes, mounts and environments ask for. */}}
{{- define "trainyard.s1.pod" -}}
{{- $pod := deepCopy .Values.pod }}
{{- $whole := or (hasKey $pod "spec") (hasKey $pod "metadata") }}
{{- $spec := $whole | ternary ($pod.spec | default dict) $pod }}
{{- with .Values.volumes }}
{{- $_ := set $spec "volumes" (concat ($spec.volumes | default list) .) }}
{{- end }}
{{- with include "trainyard.s1.container" . | fromJson }}
{{- $_ := set $spec "containers" (append ($spec.containers | default list) .) }}
{{- end }}
{{- if and $whole $spec }}
{{- $_ := set $pod "spec" $spec }}
{{- end }}
{{- toJson $pod }}
{{- end }}

{{/* What they ask for of our container. */}}
{{- define "trainyard.s1.container" -}}
{{- $container := dict }}
{{- $env := dict }}
{{- range list .Values.worker.env .Values.ps.env }}
{{- range $name, $value := . }}
{{- $_ := set $env $name $value }}
{{- end }}
{{- end }}
{{- with include "trainyard.s1.logdir" . }}
{{- $_ := set $env "TRAINYARD_LOG_DIR" . }}
{{- end }}
{{- $list := list }}
{{- range $name, $value := $env }}
{{- $list = append $list (dict "name" $name "value" (kindIs "string" $value | ternary $value (toJson $value))) }}
{{- end }}
{{- with $list }}
{{- $_ := set $container "env" . }}
{{- end }}
{{- with .Values.volumeMounts }}
{{- $_ := set $container "volumeMounts" . }}
{{- end }}
{{- range list .Values.worker .Values.ps }}
{{- with (.image | default dict).pullPolicy }}
{{- if ne . "IfNotPresent" }}
{{- $_ := set $container "imagePullPolicy" . }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $container }}
{{- end }}

{{/* The folder for logs: where it was said, else the one of old where a volume is mounted there. */}}
{{- define "trainyard.s1.logdir" -}}
{{- $folder := .Values.hyperparams.logdir | default "" }}
{{- range .Values.volumeMounts }}
{{- if and (not $folder) (eq (.mountPath | trimSuffix "/") "/tmp/mnist-log") }}
{{- $folder = "/tmp/mnist-log" }}
{{- end }}
{{- end }}
{{- $folder }}
{{- end }}

{{/* The folder that MNIST is read from, where one was said and lies on a volume. */}}
{{- define "trainyard.s1.datadir" -}}
{{- $folder := .Values.hyperparams.datadir | default "" | trimSuffix "/" }}
{{- $found := "" }}
{{- range .Values.volumeMounts }}
{{- if and $folder (hasPrefix (printf "%s/" (.mountPath | trimSuffix "/")) (printf "%s/" $folder)) }}
{{- $found = $folder }}
{{- end }}
{{- end }}
{{- $found }}
{{- end }}
