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
  tolerations:
    # The usual five minutes are long for those who wait for the driver.
    - { key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 10 }
    - { key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 10 }
  # With what the container says, the standard "restricted".
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
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
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
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
