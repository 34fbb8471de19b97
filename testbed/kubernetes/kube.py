"""The cluster as checks use it: kubectl as one of its users, and the `cluster` command."""

import itertools
import json
import pathlib
import subprocess
import time
from collections.abc import Callable

COMMAND = pathlib.Path(__file__).with_name("cluster")
STRICT, PLAIN = "trainyard-test", "trainyard-plain"
# Nothing that works takes as long, not on a busy machine either.
PATIENCE = 120


class Kube:
    """kubectl as one user, in one namespace."""

    def __init__(self, user: str = "admin", namespace: str = STRICT):
        self.user, self.namespace = user, namespace
        shown = f'eval "$({COMMAND} env {user})" && echo "$KUBECONFIG" && command -v kubectl'
        config, self.program = output("bash", "-c", shown).split("\n")[:2]
        self.begin = [self.program, f"--kubeconfig={config}", f"--namespace={namespace}"]

    def __call__(self, *arguments: str, given: str | None = None) -> str:
        """What kubectl prints; raises with its message when it fails."""
        return output(*self.begin, *arguments, given=given)

    def start(self, *arguments: str) -> subprocess.Popen:
        """kubectl, left running."""
        return subprocess.Popen([*self.begin, *arguments], stdout=subprocess.PIPE, text=True)

    def get(self, *arguments: str) -> dict:
        return json.loads(self("get", *arguments, "--output=json"))

    def pods(self, selector: str) -> list[dict]:
        return self.get("pods", f"--selector={selector}")["items"]

    def wait(self, condition: str, name: str) -> None:
        self("wait", f"--for={condition}", name, f"--timeout={PATIENCE}s")

    def apply(self, *objects: dict, dry: bool = False) -> None:
        text = json.dumps(listed(list(objects)))
        self("apply", "--filename=-", *(["--dry-run=server"] if dry else []), given=text)

    def delete(self, *arguments: str) -> None:
        """Deletes, waits until it is gone, and is content when it never was."""
        self("delete", "--ignore-not-found", f"--timeout={PATIENCE}s", *arguments)

    def allowed(self, verbs: list[str], kinds: list[str], namespace: str) -> list[str]:
        """What of it the API server would let this user do; `""` is no namespace, for what belongs to all.
        This is `kubectl auth can-i` for many questions at once."""
        questions = list(itertools.product(verbs, kinds))
        text = json.dumps(listed([review(verb, kind, namespace) for verb, kind in questions]))
        printed = ["--output", 'jsonpath={.status.allowed}{"\\n"}']
        answers = self("create", "--validate=false", "--filename=-", *printed, given=text).splitlines()
        return [f"{verb} {kind}" for (verb, kind), answer in zip(questions, answers, strict=True) if answer == "true"]


def listed(objects: list[dict]) -> dict:
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def review(verb: str, kind: str, namespace: str) -> dict:
    """The question whether one may; a kind may have its group after a dot."""
    resource, _, group = kind.partition(".")
    asked = {"verb": verb, "resource": resource, "group": group, "namespace": namespace}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    }


def cluster(*arguments: str) -> str:
    """The `cluster` command."""
    return output(str(COMMAND), *arguments)


def heal() -> None:
    """Ends whatever has befallen nodes and the API server."""
    told = cluster("status")
    if "kube-apiserver stopped" in told:
        cluster("apiserver", "start")
    for line in told.splitlines():
        number = line[4:5]
        if line.startswith("node") and "killed" in line:
            cluster("node", "start", number)
        if line.startswith("node") and "cable cut" in line:
            cluster("node", "mend", number)
        if line.startswith("node") and "kubelet stopped" in line:
            cluster("node", "start-kubelet", number)


def output(*command: str, given: str | None = None) -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode:
        name = pathlib.Path(command[0]).name
        raise RuntimeError(f"{name} {' '.join(command[1:])}: {done.stderr.strip()}")
    return done.stdout


def until(what: str, holds: Callable[[], object], seconds: float = PATIENCE) -> object:
    """Waits for something to be true, and returns it."""
    end = time.monotonic() + seconds
    while True:
        try:
            value, problem = holds(), ""
        except RuntimeError as error:
            value, problem = None, f"; lately {error}"
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not so after {seconds} s: {what}{problem}")
        time.sleep(0.2)
