"""One process of a gloo group (PyTorch), which does an all-reduce when it is told to.

Started by run.py: `rival.py RANK WORLD FILE`. Each line it reads is `BYTES TIMES`; each it writes is the list of seconds.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist


def main() -> None:
    rank, world, meeting = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world)
    print(json.dumps(torch.__version__), flush=True)
    for line in sys.stdin:
        size, times = map(int, line.split())
        values = torch.empty(size // 4)
        print(json.dumps([one(values, rank, world) for _ in range(times)]), flush=True)


def one(values: torch.Tensor, rank: int, world: int) -> float:
    """The values are written anew and all meet, which is not counted."""
    values.fill_(rank + 1)
    dist.barrier()
    begun = time.perf_counter()
    dist.all_reduce(values)
    took = time.perf_counter() - begun
    assert bool((values == world * (world + 1) / 2).all()), "the sum is right"
    return took


if __name__ == "__main__":
    main()
