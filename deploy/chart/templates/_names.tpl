{{/* What the run is called, its number left out. A release is a run, so it has the release's name. */}}
{{- define "trainyard.name" -}}
{{- $name := .Release.Name }}
{{- if .Values.fullnameOverride }}
{{- $name = .Values.fullnameOverride }}
{{- else if .Values.nameOverride }}
{{- $name = printf "%s-%s" .Release.Name .Values.nameOverride }}
{{- end }}
{{- if not (regexMatch "^[a-z][a-z0-9-]{0,39}$" $name) }}
{{- fail (printf "a run cannot be called %q: a name has lower-case letters, digits and dashes, begins with a letter and has at most 40 characters; set fullnameOverride" $name) }}
{{- end }}
{{- $name }}
{{- end }}

{{/* What the run and its objects are called: mnist-1. */}}
{{- define "trainyard.run" -}}
{{- include "trainyard.name" . }}-{{ int .Values.number }}
{{- end }}

{{/* The labels of everything that belongs to the run, as the driver gives them to what it makes. */}}
{{- define "trainyard.labels" -}}
app.kubernetes.io/name: trainyard
app.kubernetes.io/instance: {{ include "trainyard.run" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
trainyard/run: {{ include "trainyard.run" . }}
trainyard/name: {{ include "trainyard.name" . }}
{{- end }}

{{/* What the metadata of every object has beside its name. */}}
{{- define "trainyard.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
  {{- include "trainyard.labels" . | nindent 2 }}
{{- end }}
