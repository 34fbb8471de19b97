"""Kubernetes objects, as small as they can be where nothing is allowed that need not be."""

IMAGE = "localhost/busybox:1"


def pod_spec(script: str, **more) -> dict:
    """A pod of one container, which the strictest rules let pass."""
    container = {
        "name": "main",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", script],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        **more.pop("container", {}),
    }
    secure = {"runAsNonRoot": True, "runAsUser": 1000, "fsGroup": 2000, "seccompProfile": {"type": "RuntimeDefault"}}
    return {"containers": [container], "securityContext": secure, "terminationGracePeriodSeconds": 0, **more}


def pod(name: str, script: str, **more) -> dict:
    meta = {"name": name, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec(script, **more)}


def deployment(name: str, replicas: int, script: str, **more) -> dict:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod_spec(script, **more)}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def indexed_job(name: str, count: int, script: str) -> dict:
    """Pods that know each other by name, one on each node where there are as many."""
    apart = {"topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
    apart["labelSelector"] = {"matchLabels": {"job-name": name}}
    template = {"spec": pod_spec(script, restartPolicy="Never", subdomain=name, topologySpreadConstraints=[apart])}
    spec = {"completions": count, "parallelism": count, "completionMode": "Indexed", "backoffLimit": 0}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {**spec, "template": template}}


def service(name: str, selector: dict, **more) -> dict:
    spec = {"selector": selector, **more}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def claim(name: str, volume: str | None = None) -> dict:
    """A claim of the default class, or of one volume."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec.update({"volumeName": volume} if volume else {})
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def on(number: int) -> dict:
    """Puts a pod on one node."""
    return {"nodeSelector": {"disktype": f"worker-{number}"}}
