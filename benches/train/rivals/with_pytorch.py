"""PyTorch: eager or compiled, pictures channels first or last, with its fused Adam; and its answers."""

from collections.abc import Callable

import settings

# Its threads spin while they wait for each other, which is slow when anything else runs on the
# machine; `passive` ones sleep.
FORMS = {
    "mnist-mlp": ["eager", "eager-passive", "compile"],
    "mnist-cnn": ["eager", "compile", "eager-last", "eager-last-passive", "compile-last"],
    "small-xception": ["eager", "eager-last", "compile-last"],
    "imdb-bigru": ["eager", "eager-passive"],
}
# `traced` is TorchScript, its normalizations folded.
ANSWERING = {
    "mnist-mlp": ["eager", "compile", "traced"],
    "mnist-cnn": ["eager-last", "compile-last", "traced-last"],
    "small-xception": ["eager-last", "compile-last", "traced-last"],
    "imdb-bigru": ["eager"],
}


def prepare(setting: settings.Setting, form: str) -> tuple[Callable[[int], None], str]:
    import torch

    torch.set_num_threads(setting.threads)
    torch.set_num_interop_threads(1)
    model = network(torch, setting.network)
    x, y = (torch.from_numpy(array) for array in settings.samples(setting))
    batches = list(zip(x, y.long() if setting.work.classes > 2 else y[..., None].float()))
    if len(setting.work.shape) == 3:
        layout = torch.channels_last if "-last" in form else torch.contiguous_format
        model = model.to(memory_format=layout)
        batches = [(x.permute(0, 3, 1, 2).contiguous(memory_format=layout), y) for x, y in batches]
    prepared = answering if setting.answers else training
    return prepared(torch, model, batches, setting, form), torch.__version__


def answering(torch, model, batches: list, setting: settings.Setting, form: str) -> Callable[[int], None]:
    ending = torch.nn.Softmax(-1) if setting.work.classes > 2 else torch.nn.Sigmoid()
    model = torch.nn.Sequential(model, ending).eval()
    with torch.inference_mode():
        if form.startswith("compile"):
            model = torch.compile(model)
        elif form.startswith("traced"):
            model = torch.jit.optimize_for_inference(torch.jit.trace(model, batches[0][0]))

    def passes(count: int) -> None:
        with torch.inference_mode():
            for _ in range(count):
                for x, _ in batches:
                    model(x)

    return passes


def training(torch, model, batches: list, setting: settings.Setting, form: str) -> Callable[[int], None]:
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)

    of = torch.nn.functional
    loss = of.cross_entropy if setting.work.classes > 2 else of.binary_cross_entropy_with_logits

    def loss_of(x, y):
        return loss(model(x), y)

    if form.startswith("compile"):
        loss_of = torch.compile(loss_of)

    def passes(count: int) -> None:
        for _ in range(count):
            for batch in batches:
                optimizer.zero_grad(set_to_none=True)
                loss_of(*batch).backward()
                optimizer.step()

    return passes


def network(torch, name: str):
    nn = torch.nn
    if name == "small-xception":
        return xception(torch)
    if name == "imdb-bigru":
        return bigru(torch)
    if name == "mnist-mlp":
        return nn.Sequential(nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Dropout(0.25), nn.Flatten(), nn.Dropout(0.5), nn.Linear(9216, 10),
    )


def bigru(torch):
    nn = torch.nn

    class Bigru(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.last = nn.Embedding(10_000, 100), nn.Linear(256, 1)
            self.first = nn.GRU(100, 128, batch_first=True, bidirectional=True)
            self.second = nn.GRU(256, 128, batch_first=True, bidirectional=True)

        def forward(self, x):
            _, ends = self.second(self.first(self.embed(x))[0])
            return self.last(torch.cat([ends[0], ends[1]], 1))

    return Bigru()


def xception(torch):
    """S4's network, without the flips and turns that ours does in the same time."""
    nn = torch.nn

    def normed(channels: int):
        return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)

    def separable(before: int, after: int):
        return [nn.Conv2d(before, before, 3, padding=1, groups=before, bias=False), nn.Conv2d(before, after, 1)]

    class Block(nn.Module):
        def __init__(self, before: int, after: int):
            super().__init__()
            self.short = nn.Conv2d(before, after, 1, stride=2)
            self.long = nn.Sequential(
                nn.ReLU(), *separable(before, after), normed(after),
                nn.ReLU(inplace=True), *separable(after, after), normed(after), nn.MaxPool2d(3, 2, padding=1))

        def forward(self, x):
            return self.long(x) + self.short(x)

    class Xception(nn.Module):
        def __init__(self):
            super().__init__()
            sides = [64, 128, 256, 512, 728]
            self.layers = nn.Sequential(
                nn.Conv2d(3, 32, 3, stride=2, padding=1), normed(32), nn.ReLU(inplace=True),
                nn.Conv2d(32, 64, 3, padding=1), normed(64), nn.ReLU(inplace=True),
                *[Block(before, after) for before, after in zip(sides, sides[1:])],
                *separable(728, 1024), normed(1024), nn.ReLU(inplace=True),
                nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5), nn.Linear(1024, 1))

        def forward(self, x):
            return self.layers(x / 255)

    return Xception()
