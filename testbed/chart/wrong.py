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
    "a run file with a page": ({"run": {"data": "mnist", "serve": {}}}, "this chart makes no page; take it away"),
    "a page as a step": ({"run": {"steps": {"page": {"serve": {"port": 80}}}}}, "this chart makes no page; take it away"),
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

    sentences = [Check(f"in a sentence: {name}", refused(*case)) for name, case in SENTENCES.items()]
    mistakes = [Check(f"by the schema: {name}", refused(*case)) for name, case in MISTAKES.items()]
    return [*sentences, *mistakes, Check("what is close to a mistake, and is none", allowed)]
