"""What Helm tells people to type next."""

from chart import S1, Chart
from check import Check

ORDERED = {"worker": {"podManagementPolicy": "OrderedReady"}}
OLD = "the image of the chart distributed-tensorflow is replaced by Trainyard's"
UNMOUNTED = {"hyperparams": {"datadir": "/nowhere"}}
REGISTRY = {"image": "registry.example/trainyard:1"}
RUN = {"run": {"data": "mnist-sample", "model": "mnist-cnn", "train": {"epochs": 1}}}
PAGE = {"run": {**RUN["run"], "serve": {}}}
OPEN = "trainyard open mnist-1 --on kubernetes --namespace ml"

# Values, and what the notes then say, or do not.
SAID = [
    ([S1], "kubectl get jobs,pods --namespace ml --selector trainyard/run=mnist-1"),
    ([S1], "kubectl logs --namespace ml --follow job/mnist-1"),
    ([S1], "trainyard status mnist-1 --on kubernetes --namespace ml"),
    ([S1], "trainyard get mnist-1 --on kubernetes --namespace ml"),
    ([S1], "helm uninstall mnist --namespace ml"),
    ([S1], f"worker.image, ps.image: {OLD}"),
    ([S1], "Pods also write their logs to /tmp/mnist-log"),
    ([S1], "within an hour after the end"),
    ([S1], "load it on every machine"),
    ([S1, ORDERED], "worker.podManagementPolicy: OrderedReady makes no difference"),
    ([S1, {"storage": "pvc"}], "Remove everything but the volume mnist-1, which is kept:"),
    ([S1, UNMOUNTED], "hyperparams.datadir: no volume is mounted at /nowhere"),
    ([], "it trains until you uninstall it"),
    ([PAGE], OPEN),
    ([PAGE], "Without a volume, a page can have a model of 1 MiB"),
    ([PAGE, {"service": "NodePort"}], "Others on the network reach it where its NodePort says, with its token:"),
    ([PAGE, {"service": "NodePort"}], "kubectl get secret --namespace ml mnist-1-serve --output jsonpath='{.data.token}' | base64 --decode"),
]
UNSAID = [
    ([], OLD),
    ([S1], "OrderedReady"),
    ([S1], "until you uninstall it"),
    ([S1, REGISTRY], "load it on every machine"),
    ([S1, {"storage": "pvc"}], "within an hour"),
    ([S1, {"storage": {"pvc": {"keep": False}}}], "is kept"),
    ([RUN], "Other than you may be used to"),
    ([RUN], OPEN),
    ([PAGE], "Others on the network"),
    ([PAGE, {"storage": "pvc"}], "Without a volume"),
]


def checks(chart: Chart) -> list[Check]:
    def told() -> None:
        for values, words in SAID:
            notes = chart.notes(*values)
            assert words in notes, f"{words!r} is missing: {notes}"
        for values, words in UNSAID:
            notes = chart.notes(*values)
            assert words not in notes, f"{words!r} should not be there: {notes}"

    return [Check("the notes tell what to type next, and what is other than before", told)]
