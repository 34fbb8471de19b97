"""Who may do what, and what pods may be."""

import itertools

from check import Check
from kube import PLAIN, STRICT, Kube, until

from .objects import pod

# What our tool makes and looks at in a namespace.
KINDS = ["pods", "jobs.batch", "services", "secrets", "configmaps", "persistentvolumeclaims", "deployments.apps"]
VERBS = ["create", "get", "list", "watch", "delete"]
# What lets people give themselves more than they have, and what belongs to everybody.
POWERS = ["roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io"]
SHARED = ["nodes", "persistentvolumes", "namespaces", "storageclasses.storage.k8s.io"]
EVERYWHERE = ""
BOBS = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "bob"},
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}],
}


def checks() -> list[Check]:
    proofs = {
        "alice may do in her namespace what people do, and no more": alice,
        "bob may do nothing, and then exactly what he is let": bob,
        "a privileged pod is refused where the rules are strict": privileged,
    }
    return [Check(name, prove) for name, prove in proofs.items()]


def alice() -> None:
    kube = Kube("alice")
    wanted = {f"{verb} {kind}" for verb, kind in itertools.product(VERBS, KINDS)}
    missing = wanted - set(kube.allowed(VERBS, KINDS, STRICT))
    assert not missing, f"alice may not {sorted(missing)}"
    may_not(kube, POWERS, STRICT)
    may_not(kube, SHARED, EVERYWHERE)
    may_not(kube, KINDS, PLAIN)


def bob() -> None:
    admin, kube = Kube(), Kube("bob")
    admin.delete("role/bob", "rolebinding/bob")
    until("bob may do nothing", lambda: not kube.allowed(VERBS, KINDS, STRICT))
    may_not(kube, SHARED, EVERYWHERE)
    admin.apply(BOBS)
    admin("create", "rolebinding", "bob", "--role=bob", "--user=bob")
    until("bob may do what he is let", lambda: kube.allowed(VERBS, KINDS, STRICT) == ["get pods", "list pods"])
    kube("get", "pods")
    admin.delete("rolebinding/bob", "role/bob")


def may_not(kube: Kube, kinds: list[str], namespace: str) -> None:
    found = kube.allowed(["create", "list"], kinds, namespace)
    assert not found, f"{kube.user} may {found} in `{namespace}`"


def privileged() -> None:
    wanted = pod("privileged", "true", container={"securityContext": {"privileged": True}})
    Kube("admin", PLAIN).apply(wanted, dry=True)
    try:
        Kube("admin", STRICT).apply(wanted, dry=True)
    except RuntimeError as refusal:
        assert 'violates PodSecurity "restricted' in str(refusal), refusal
    else:
        raise AssertionError("a privileged pod is let in")
