{{/* The driver's pod before anything is merged into it. */}}
{{- define "trainyard.driver" -}}
{{- $run := include "trainyard.run" . }}
{{- $kubernetes := (include "trainyard.file" . | fromJson).on.kubernetes }}
{{- $driver := $kubernetes.driver | default dict }}
{{- $port := $driver.port | default 7070 | int }}
metadata:
  labels:
    {{- include "trainyard.labels" . | nindent 4 }}
    app.kubernetes.io/component: driver
spec:
  restartPolicy: Never
  serviceAccountName: {{ $kubernetes.service_account | default $run }}
  # The driver makes and watches the pods of workers; theirs have no token.
  automountServiceAccountToken: true
  enableServiceLinks: false
  terminationGracePeriodSeconds: 10
  {{- with $driver.node_selector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  tolerations: {{- include "trainyard.pod.tolerations" . | nindent 4 }}
  securityContext: {{- include "trainyard.pod.security" . | nindent 4 }}
  containers:
    - name: driver
      image: {{ $kubernetes.image | quote }}
      imagePullPolicy: IfNotPresent
      args:
        - drive
        - {{ $run }}
        - --file
        - /etc/trainyard/run/run.yaml
        - --join
        - /etc/trainyard/keys/join.json
        - --listen
        - $(POD_IP):{{ $port }}
        {{- if eq (toString $kubernetes.storage) "none" }}
        # What was made is in the pod alone, and somebody may want to fetch it.
        - --linger
        - "3600"
        {{- end }}
      env:
        - name: POD_IP
          valueFrom: { fieldRef: { fieldPath: status.podIP } }
        - name: TRAINYARD_NAMESPACE
          valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
        # What the driver makes belongs to its Job, and goes with it.
        - name: TRAINYARD_JOB_UID
          valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" } }
        - name: TRAINYARD_RUNS
          value: /runs
        - name: TRAINYARD_CACHE
          value: /runs/.cache
      ports:
        - name: trainyard
          containerPort: {{ $port }}
      {{- with pick $driver "requests" "limits" }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      terminationMessagePolicy: FallbackToLogsOnError
      securityContext: {{- include "trainyard.pod.container-security" . | nindent 8 }}
      volumeMounts:
        - { name: runs, mountPath: /runs }
        - { name: file, mountPath: /etc/trainyard/run }
        - { name: keys, mountPath: /etc/trainyard/keys }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: runs
      {{- if eq (toString $kubernetes.storage) "none" }}
      emptyDir: {}
      {{- else }}
      persistentVolumeClaim:
        claimName: {{ $kubernetes.storage.claim | default $run }}
      {{- end }}
    - name: file
      configMap:
        name: {{ $run }}
    - name: keys
      secret:
        secretName: {{ $run }}
        defaultMode: 0440
    - name: tmp
      emptyDir: {}
{{- end }}
