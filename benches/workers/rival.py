"""One worker of PyTorch's: alone, or one of a group that trains by DistributedDataParallel over gloo.

Started by run.py: `rival.py RANK WORLD FILE BATCH`. Each line it reads is a number of steps; each it writes the seconds they took.
"""

import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "train"))
import settings  # noqa: E402
from rivals import with_pytorch  # noqa: E402

WARM_UP_STEPS = 5


def main() -> None:
    rank, world, meeting, batch = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)
    model = with_pytorch.network(torch.nn, "mnist-cnn").train()
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world)
        model = DistributedDataParallel(model)
    x, y = (torch.from_numpy(array) for array in settings.samples(settings.Setting("mnist-cnn", batch, 1)))
    batches = list(zip(x.permute(0, 1, 4, 2, 3).contiguous(), y.long()))
    optimizer = torch.optim.Adam(model.parameters(), fused=True)

    def train(steps: int) -> float:
        if world > 1:
            dist.barrier()
        begun = time.perf_counter()
        for step in range(steps):
            pictures, labels = batches[step % len(batches)]
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(model(pictures), labels).backward()
            optimizer.step()
        return time.perf_counter() - begun

    train(WARM_UP_STEPS)
    print(json.dumps(torch.__version__), flush=True)
    for line in sys.stdin:
        print(json.dumps(train(int(line))), flush=True)


if __name__ == "__main__":
    main()
