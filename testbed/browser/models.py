"""Models of every kind, trained by our binary when they are first wanted."""

import pathlib
import subprocess

import samples

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A bound: the first example takes seconds on a quiet machine.
TRAIN_S = 900

RUNS = {
    "texts": """
name: texts
data: { from: DATA/reviews.csv, vocabulary_size: 200 }
model:
  layers:
    - Embedding: { input_dim: 200, output_dim: 8 }
    - GlobalAveragePooling1D
    - Dense: { units: 1, activation: sigmoid }
train: { epochs: 40, batch: 10, learning_rate: 0.01 }
evaluate: { split: train }
""",
    "pictures": """
name: pictures
data: { from: DATA/shapes, image_size: [24, 24] }
model:
  layers:
    - Conv2D: { filters: 8, kernel_size: 3, activation: relu }
    - MaxPooling2D
    - Conv2D: { filters: 8, kernel_size: 3, activation: relu }
    - Flatten
    - Dense: { units: 2, activation: softmax }
train: { epochs: 20, batch: 10 }
evaluate: { split: train }
""",
    "faces": """
name: faces
data: { from: DATA/people, color: grey, image_size: [24, 20], hold_out_people: 4 }
model:
  layers:
    - Conv2D: { filters: 8, kernel_size: 3, activation: relu }
    - MaxPooling2D
    - Flatten
    - Dense: { units: 16 }
train:
  epochs: 6
  batch: 16
  loss: { name: triplet, alpha: 0.4, pairs: 6, negatives: 3 }
""",
    "numbers": """
name: numbers
data: { from: DATA/flowers.csv }
model:
  layers:
    - Dense: { units: 16, activation: relu }
    - Dense: { units: 3, activation: softmax }
train: { epochs: 60, batch: 10, learning_rate: 0.01 }
evaluate: { split: train }
""",
}


class Models:
    """What our binary trained, in a folder of their own."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path) -> None:
        self.binary, self.folder = binary, folder
        self.data = folder / "data"
        samples.write_all(self.data)
        self.trained: dict[str, list[str]] = {}

    def words(self, kind: str) -> list[str]:
        """What `serve` is told to serve a model of this kind."""
        if kind not in self.trained:
            self.trained[kind] = self._train(kind)
        return self.trained[kind]

    def _train(self, kind: str) -> list[str]:
        file = ROOT / "examples" / "01-mnist-sample.yaml"
        if kind in RUNS:
            file = self.folder / f"{kind}.yaml"
            file.write_text(RUNS[kind].replace("DATA", str(self.data)))
        runs = self.folder / "runs" / kind
        print(f"        training {kind}", flush=True)
        done = subprocess.run([self.binary, "run", file, "--no-serve", "--out", runs], capture_output=True, text=True, timeout=TRAIN_S)
        if done.returncode:
            raise RuntimeError(f"the model for {kind} was not trained: {done.stderr.strip()}")
        (model,) = runs.glob("*/models/train/model.safetensors")
        offered = {"faces": ["--gallery", str(self.data / "people")], "pictures": ["--examples", str(self.data / "shapes" / "train")]}
        return [str(model), *offered.get(kind, [])]
