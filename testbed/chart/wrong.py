"""What is refused, and in which words."""

from chart import S1, Chart
from check import Check

# The values of a GPU example that people have; they are understood, up to the GPU.
GPU = {
    "worker": {"number": 2, "port": 9090, "gpuCount": 1, "image": {"repository": "dysproz/distributed-tf", "tag": "1.7.0-gpu"}},
    "ps": {"number": 2, "port": 8080, "image": {"repository": "dysproz/distributed-tf", "tag": "1.7.0-gpu"}},
    "hyperparams": {"batchsize": 20, "learningrate": 0.001, "trainsteps": 10000},
}
OTHER = {"image": {"repository": "mine", "tag": "1"}}
HOST = {"run": {"data": "mnist", "on": {"kubernetes": {"pod": {"spec": {"volumes": [{"name": "h", "hostPath": {"path": "/x"}}]}}}}}}


def served(serve: object, kubernetes: dict | None = None) -> dict:
    """A run file of the short form."""
    return {"data": "mnist-sample", "model": "mnist-cnn", "serve": serve, "on": {"kubernetes": kubernetes or {}}}


def steps(**serving: dict) -> dict:
    """A run file of the long form with two models."""
    train = {"needs": ["load"], "train": {"model": "mnist-cnn"}}
    return {"steps": {"load": {"prepare": {"data": "mnist-sample"}}, "a": train, "b": train, **serving}}


PAGE = {"needs": ["a"], "serve": {}}
MOUNTED = {"containers": [{"volumeMounts": [{"name": "faces", "mountPath": "/faces"}]}]}
ELSEWHERE = "which pods do not have, for files do not travel with Helm; mount a volume"
# Run files with a page that cannot be made.
PAGES = {
    "a page that is no mapping": (served(True), "serve is true, but is a mapping; write `serve: {}`"),
    "a misspelt field of a page": (served({"prot": 80}), 'serve has no field "prot"; on a cluster it has model, port, gallery'),
    "a page at no port": (served({"port": 0}), "serve.port is 0, but is a whole number above 0"),
    "a page at half a port": (served({"port": 80.5}), "serve.port is 80.5, but is a whole number above 0"),
    "a page at too high a port": (served({"port": 65536}), "serve.port is 65536, but is at most 65535"),
    "words for a batch": (served({"batch": "8"}), 'serve.batch is "8", but is a whole number above 0'),
    "too long a queue": (served({"queue": 65537}), "serve.queue is 65537, but is at most 65536"),
    "models that quarrel": (served({"combine": "quarrel"}), 'serve.combine is "quarrel", but is vote or mean'),
    "a wait without a unit": (served({"wait": 5}), "serve.wait is 5, but is a length of time such as 5ms"),
    "a long wait": (served({"wait": "10s1ms"}), "serve.wait is 10s1ms, but is at most 10s"),
    "a service that is none": (
        served({}, {"service": "Nodeport"}),
        'on.kubernetes.service is "Nodeport", but is one of ClusterIP, NodePort, LoadBalancer',
    ),
    "a gallery beside the file": (served({"gallery": "people"}), f"serve.gallery is people, {ELSEWHERE}"),
    "a gallery on one's machine": (served({"gallery": "/home/people"}, {"pod": MOUNTED}), f"serve.gallery is /home/people, {ELSEWHERE}"),
    "a gallery beside a volume": (served({"gallery": "/faces/../people"}, {"pod": MOUNTED}), ELSEWHERE),
    "a gallery in a new volume": (served({"gallery": "/runs/people"}, {"storage": "pvc"}), ELSEWHERE),
    "two pages": (steps(one=PAGE, two=PAGE), "the steps one and two serve, and a run ends with one page; keep one of them"),
    "a page beside steps": ({**steps(), "serve": {}}, "serve belongs to the short form, but the run file has `steps`"),
    "a page of two models": (
        steps(page={"needs": ["b", "a"], "serve": {}}),
        "the step page serves one model, but needs a and b; say which with `model`",
    ),
    "a page of nothing": (steps(page={"serve": {}}), "the step page serves a model, but needs no step that trains; add one to its needs, of: a, b"),
    "a page of what does not train": (
        steps(page={"needs": ["a"], "serve": {"model": "load"}}),
        'the step page serves the model of "load", which is no step that trains; name one of: a, b',
    ),
    "a page in a circle": (steps(page={"needs": ["page"], "serve": {}}), "needs no step that trains"),
    "a page whose name is none": (steps(**{"My page": PAGE}), 'a step cannot be called "My page"'),
}

# Values beside S1's, and what must be said.
SENTENCES = {
    "GPUs": (GPU, "worker.gpuCount is 1, but training on GPUs comes in a later version; leave it out"),
    "a privileged pod": ({"ps": {"privileged": True}}, "ps.privileged is true, but no pod of a run needs"),
    "two images": ({"worker": OTHER}, "worker.image is mine:1 and ps.image is the old chart's own, but all pods of a run have one image"),
    "an image twice": ({"worker": OTHER, "ps": OTHER, "image": "a:2"}, "image is a:2 and worker.image is mine:1"),
    "another image twice": ({"image": "a:2", "ps": OTHER, "worker": {"image": None}}, "image is a:2 and ps.image is mine:1"),
    "two pull policies": ({"ps": {"image": {"pullPolicy": "Always"}}}, "worker.image.pullPolicy is IfNotPresent and ps.image.pullPolicy is Always"),
    "two environments": ({"worker": {"env": {"A": 1}}, "ps": {"env": {"A": 2}}}, "worker.env and ps.env differ in A"),
    "a volume of ours": ({"volumes": [{"name": "keys", "emptyDir": {}}]}, 'volumes has one called "keys"'),
    "two volumes in one place": (
        {"volumeMounts": [{"name": "logs", "mountPath": "/a"}, {"name": "more", "mountPath": "/a"}]},
        'volumeMounts has two volumes for "/a"',
    ),
    "a hostPath in a restricted namespace": (
        {"podSecurity": "restricted"},
        'namespace ml enforces the Pod Security Standard restricted, which forbids the hostPath volume "logs"; '
        "drop it from the values volumes and volumeMounts",
    ),
    "a hostPath in a baseline namespace": ({"podSecurity": "baseline"}, 'Pod Security Standard baseline, which forbids the hostPath volume "logs"'),
    "a hostPath in a run file": ({**HOST, "podSecurity": "baseline"}, 'the hostPath volume "h"; drop it from on.kubernetes.pod of the run file'),
    "nfs in a restricted namespace": (
        {"podSecurity": "restricted", "volumes": [{"name": "logs", "nfs": {"server": "a", "path": "/"}}]},
        'forbids the nfs volume "logs"',
    ),
    "a name that is none": ({"fullnameOverride": "9lives"}, 'a run cannot be called "9lives"'),
    "a long name": ({"nameOverride": "a" * 40}, "has at most 40 characters; set fullnameOverride"),
    "a run file that is not YAML": ({"run": "a: [1"}, "run is not YAML: "),
    **{name: ({"run": file}, words) for name, (file, words) in PAGES.items()},
}

# Values beside S1's, and where the schema finds a mistake.
MISTAKES = {
    "a misspelt value": ({"workers": {"number": 2}}, "additional properties 'workers' not allowed"),
    "a misspelt value of a role": ({"worker": {"numbr": 2}}, "at '/worker': additional properties 'numbr' not allowed"),
    "a misspelt hyperparameter": ({"hyperparams": {"trainstep": 2}}, "at '/hyperparams': additional properties 'trainstep' not allowed"),
    "no workers": ({"worker": {"number": 0}}, "at '/worker/number': minimum: got 0, want 1"),
    "half a worker": ({"worker": {"number": 1.5}}, "at '/worker/number': got number, want integer"),
    "a port that needs rights": ({"ps": {"port": 80}}, "at '/ps/port': minimum: got 80"),
    "no port at all": ({"ps": {"port": 70000}}, "at '/ps/port': maximum: got 70,000"),
    "a policy that is none": ({"ps": {"podManagementPolicy": "Serial"}}, "at '/ps/podManagementPolicy': value must be one of 'Parallel', 'OrderedReady'"),
    "an amount that is none": ({"worker": {"limit": {"memory": "125MB"}}}, "at '/worker/limit/memory': '125MB' does not match"),
    "a negative number of steps": ({"hyperparams": {"trainsteps": -1}}, "at '/hyperparams/trainsteps': minimum: got -1"),
    "words for a number": ({"hyperparams": {"batchsize": "20"}}, "at '/hyperparams/batchsize': got string, want integer"),
    "a learning rate of 0": ({"hyperparams": {"learningrate": 0}}, "at '/hyperparams/learningrate': exclusiveMinimum: got 0, want 0"),
    "a storage that is none": ({"storage": "big"}, "at '/storage': value must be one of 'auto', 'none', 'pvc'"),
    "data from nowhere": ({"data": {"mirror": "x"}}, "at '/data': missing property 'from'"),
    "a mount without a path": ({"volumeMounts": [{"name": "logs"}]}, "at '/volumeMounts/0': missing property 'mountPath'"),
    "a service that is none, as a value": ({"service": "Ingress"}, "at '/service': value must be one of 'ClusterIP', 'NodePort', 'LoadBalancer'"),
    "a misspelt value of a page": ({"serve": {"replicas": 2}}, "at '/serve': additional properties 'replicas' not allowed"),
    "number 0": ({"number": 0}, "at '/number': minimum: got 0, want 1"),
}


def checks(chart: Chart) -> list[Check]:
    def refused(values: dict, words: str):
        def prove() -> None:
            said = chart.refusal(S1, values)
            assert words in said, f"{said!r} does not say {words!r}"

        return prove

    def allowed() -> None:
        chart.text(S1, {"podSecurity": "privileged"})
        chart.text(S1, {"podSecurity": "restricted", "volumes": None, "volumeMounts": None})
        chart.text(S1, {"worker": {"gpuCount": 0, "privileged": False, "env": None}})
        chart.text(S1, {"global": {"any": "thing"}})
        chart.text(S1, {"volumeMounts": [{"name": "logs", "mountPath": "/a"}, {"name": "logs", "mountPath": "/b"}]})
        chart.text({"run": served({"gallery": "/faces/people/", "wait": "10s"}, {"pod": MOUNTED})})
        chart.text({"run": served({"gallery": "/faces"}, {"pod": {"spec": MOUNTED}})})
        chart.text({"run": served({"gallery": "/runs/people"}, {"storage": {"claim": "mine"}})})

    sentences = [Check(f"in a sentence: {name}", refused(*case)) for name, case in SENTENCES.items()]
    mistakes = [Check(f"by the schema: {name}", refused(*case)) for name, case in MISTAKES.items()]
    return [*sentences, *mistakes, Check("what is close to a mistake, and is none", allowed)]
