"""PyTorch: eager or compiled, pictures channels first or last, with its fused Adam."""

from collections.abc import Callable

import settings

# Its threads spin while they wait for each other, which is slow when anything else runs on the
# machine; `passive` ones sleep.
FORMS = {
    "mnist-mlp": ["eager", "eager-passive", "compile"],
    "mnist-cnn": ["eager", "compile", "eager-last", "eager-last-passive", "compile-last"],
}


def prepare(setting: settings.Setting, form: str) -> tuple[Callable[[int], None], str]:
    import torch

    torch.set_num_threads(setting.threads)
    torch.set_num_interop_threads(1)
    model = network(torch.nn, setting.network).train()
    x, y = (torch.from_numpy(array) for array in settings.samples(setting))
    batches = list(zip(x, y.long()))
    if setting.network == "mnist-cnn":
        layout = torch.channels_last if "-last" in form else torch.contiguous_format
        model = model.to(memory_format=layout)
        batches = [(x.permute(0, 3, 1, 2).contiguous(memory_format=layout), y) for x, y in batches]
    optimizer = torch.optim.Adam(model.parameters(), fused=True)

    def loss_of(x, y):
        return torch.nn.functional.cross_entropy(model(x), y)

    if form.startswith("compile"):
        loss_of = torch.compile(loss_of)

    def passes(count: int) -> None:
        for _ in range(count):
            for batch in batches:
                optimizer.zero_grad(set_to_none=True)
                loss_of(*batch).backward()
                optimizer.step()

    return passes, torch.__version__


def network(nn, name: str):
    if name == "mnist-mlp":
        return nn.Sequential(nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Dropout(0.25), nn.Flatten(), nn.Dropout(0.5), nn.Linear(9216, 10),
    )
