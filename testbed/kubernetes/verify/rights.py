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


def allowed(kube: Kube, verbs: list[str], kinds: list[str], namespace: str) -> list[str]:
    asked = itertools.product(verbs, kinds)
    return [f"{verb} {kind}" for verb, kind in asked if kube.may(verb, kind, namespace)]


def alice() -> None:
    kube = Kube("alice")
    missing = set(f"{verb} {kind}" for verb, kind in itertools.product(VERBS, KINDS)) - set(allowed(kube, VERBS, KINDS, STRICT))
    assert not missing, f"alice may not {sorted(missing)}"
    for verbs, kinds, namespace in ((["create"], POWERS, STRICT), (["create", "list"], SHARED, STRICT), (["create", "list"], KINDS, PLAIN)):
        found = allowed(kube, verbs, kinds, namespace)
        assert not found, f"alice may {found} in {namespace}"


def bob() -> None:
    admin, kube = Kube(), Kube("bob")
    admin.delete("role/bob", "rolebinding/bob")
    until("bob may do nothing", lambda: not kube.may("list", "pods"))
    found = allowed(kube, ["create", "list"], [*KINDS, *SHARED], STRICT)
    assert not found, f"bob may {found}"
    admin.apply(BOBS)
    admin("create", "rolebinding", "bob", "--role=bob", "--user=bob")
    until("bob may list pods", lambda: kube.may("list", "pods"))
    kube("get", "pods")
    found = allowed(kube, ["create", "list"], KINDS, STRICT)
    assert found == ["list pods"], f"bob may {found}"
    admin.delete("rolebinding/bob", "role/bob")


def privileged() -> None:
    wanted = pod("privileged", "true", container={"securityContext": {"privileged": True}})
    Kube("admin", PLAIN).apply(wanted, dry=True)
    try:
        Kube("admin", STRICT).apply(wanted, dry=True)
    except RuntimeError as refusal:
        assert 'violates PodSecurity "restricted' in str(refusal), refusal
    else:
        raise AssertionError("a privileged pod is let in")
