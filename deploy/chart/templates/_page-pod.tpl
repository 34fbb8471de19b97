{{/*
A pod of the page before anything is merged into it, (list ROOT PAGE). It reads the model on the run's volume, which
nobody else has when the driver is gone; where there is none, in a ConfigMap that the driver makes.
*/}}
{{- define "trainyard.page.pod" -}}
{{- $root := index . 0 }}
{{- $page := index . 1 }}
{{- $run := include "trainyard.run" $root }}
{{- $kubernetes := (include "trainyard.file" $root | fromJson).on.kubernetes }}
{{- $pods := $kubernetes.serve | default dict }}
{{- $bare := eq (toString $kubernetes.storage) "none" }}
metadata:
  labels:
    {{- include "trainyard.labels" $root | nindent 4 }}
    app.kubernetes.io/component: serve
spec:
  restartPolicy: Always
  automountServiceAccountToken: false
  enableServiceLinks: false
  # For what was asked to be answered.
  terminationGracePeriodSeconds: 45
  {{- with $pods.node_selector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  tolerations: {{- include "trainyard.pod.tolerations" $root | nindent 4 }}
  # On the driver's node, or that of others like it, where that can be: a volume may be had by one node at a time.
  affinity:
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                trainyard/run: {{ $run }}
              matchExpressions:
                - { key: app.kubernetes.io/component, operator: In, values: [driver, serve] }
  securityContext: {{- include "trainyard.pod.security" $root | nindent 4 }}
  containers:
    - name: serve
      image: {{ $kubernetes.image | quote }}
      imagePullPolicy: IfNotPresent
      args:
        - serve
        - {{ $bare | ternary "/model" (printf "/runs/%s/models/%s" $run $page.model) }}
        - --host
        - 0.0.0.0
        - --port
        - {{ int $page.port | quote }}
        - --token-file
        - /etc/trainyard/keys/token
        - --combine
        - {{ $page.serve.combine }}
        - --batch
        - {{ int $page.serve.batch | quote }}
        - --wait
        - {{ include "trainyard.page.wait" $page.serve.wait | quote }}
        - --queue
        - {{ int $page.serve.queue | quote }}
        {{- with $page.serve.gallery }}
        - --gallery
        - {{ . | quote }}
        {{- end }}
      env:
        - name: TRAINYARD_RUNS
          value: /runs
        - name: TRAINYARD_CACHE
          value: /tmp/cache
      ports:
        - name: trainyard
          containerPort: {{ int $page.port }}
      {{- with pick $pods "requests" "limits" }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      # It may take minutes to load, when there is a gallery.
      startupProbe:
        httpGet: { path: /healthz, port: trainyard }
        periodSeconds: 1
        failureThreshold: 600
      readinessProbe:
        httpGet: { path: /readyz, port: trainyard }
        periodSeconds: 2
        timeoutSeconds: 2
      livenessProbe:
        httpGet: { path: /healthz, port: trainyard }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        preStop:
          exec:
            # Until others have heard that it leaves, and send it nothing more.
            command: [/usr/bin/trainyard, rest, --seconds, "3"]
      terminationMessagePolicy: FallbackToLogsOnError
      securityContext: {{- include "trainyard.pod.container-security" $root | nindent 8 }}
      volumeMounts:
        {{- if $bare }}
        - { name: model, mountPath: /model, readOnly: true }
        {{- else }}
        - { name: runs, mountPath: /runs, readOnly: true }
        {{- end }}
        - { name: keys, mountPath: /etc/trainyard/keys, readOnly: true }
        - { name: tmp, mountPath: /tmp }
  volumes:
    {{- if $bare }}
    - name: model
      configMap:
        name: {{ $page.name }}
    {{- else }}
    - name: runs
      persistentVolumeClaim:
        claimName: {{ $kubernetes.storage.claim | default $run }}
    {{- end }}
    - name: keys
      secret:
        secretName: {{ $page.name }}
        defaultMode: 0440
    - name: tmp
      emptyDir: {}
{{- end }}
