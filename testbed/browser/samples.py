"""Samples of every kind, made from a seed: what small models learn in seconds, and what the browser then brings along."""

import csv
import pathlib
import random
import struct
import zlib

PEOPLE = [f"person-{letter}" for letter in "abcdefghijkl"]
SHAPES = ["discs", "stripes"]
FLOWERS = ["daisy", "poppy", "thistle"]

GOOD = "wonderful beautiful great excellent moving brilliant funny charming perfect lovely".split()
BAD = "terrible boring awful dull stupid wasted poor horrible weak annoying".split()
PLAIN = "the film was a story with actors and music in it that i saw on a monday evening at home".split()

# A word that no review has.
UNKNOWN = "flibbertigibbet"


def png(rows: list[list[tuple[int, ...]]]) -> bytes:
    """A picture as PNG, from rows of pixels of one or three numbers."""
    height, width, channels = len(rows), len(rows[0]), len(rows[0][0])
    lines = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def shape(kind: str, chance: random.Random) -> bytes:
    """A disc or stripes, in two colours by chance."""
    side = 32
    light = tuple(chance.randrange(160, 256) for _ in range(3))
    dark = tuple(chance.randrange(0, 96) for _ in range(3))
    x, y, radius = chance.uniform(11, 21), chance.uniform(11, 21), chance.uniform(6, 10)
    wide, shift = chance.randrange(3, 6), chance.randrange(6)
    if kind == "discs":
        def inside(column, row):
            return (column - x) ** 2 + (row - y) ** 2 < radius ** 2
    else:
        def inside(column, row):
            return (column + shift) // wide % 2 == 0
    return png([[light if inside(column, row) else dark for column in range(side)] for row in range(side)])


def face(person: str, chance: random.Random) -> bytes:
    """What stands for a face: squares of grey that a person always has, a little moved and lit by chance."""
    own = random.Random(person)
    squares = [[own.randrange(40, 216) for _ in range(5)] for _ in range(6)]
    right, down, light = chance.randrange(3), chance.randrange(3), chance.randrange(-15, 16)

    def pixel(column, row):
        value = squares[min((row + down) // 8, 5)][min((column + right) // 8, 4)]
        return (max(0, min(255, value + light + chance.randrange(-8, 9))),)

    return png([[pixel(column, row) for column in range(40)] for row in range(48)])


def review(good: bool, chance: random.Random) -> str:
    words = [*chance.sample(GOOD if good else BAD, 3), *chance.sample(PLAIN, 12)]
    chance.shuffle(words)
    return " ".join(words)


def write_all(folder: pathlib.Path) -> None:
    """Everything to train with."""
    chance = random.Random(7)
    for kind in SHAPES:
        for number in range(60):
            put(folder / "shapes" / "train" / kind / f"{number}.png", shape(kind, chance))
    for person in PEOPLE:
        for number in range(6):
            put(folder / "people" / person / f"{number}.png", face(person, chance))
    reviews = [(review(good, chance), "pos" if good else "neg") for good in [True, False] * 150]
    table(folder / "reviews.csv", ["text", "label"], reviews)
    table(folder / "flowers.csv", ["a", "b", "c", "d", "label"], [flower(chance) for _ in range(300)])


def flower(chance: random.Random) -> tuple:
    """The class is which of the first three numbers is the largest."""
    numbers = [round(chance.uniform(0, 1), 3) for _ in range(4)]
    return *numbers, FLOWERS[numbers.index(max(numbers[:3]))]


def put(path: pathlib.Path, content: bytes) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def table(path: pathlib.Path, header: list[str], rows: list[tuple]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def seven(light: bool) -> bytes:
    """A seven in grey, of ink on light paper or the other way round, not in the middle."""
    paper, ink = (235, 30) if light else (10, 240)

    def near(x, y, one, other):
        (ax, ay), (bx, by) = one, other
        along = max(0, min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)))
        return (x - ax - along * (bx - ax)) ** 2 + (y - ay - along * (by - ay)) ** 2 < 36

    def pixel(x, y):
        drawn = near(x, y, (30, 25), (90, 25)) or near(x, y, (90, 25), (55, 115))
        return (ink if drawn else paper,)

    return png([[pixel(x, y) for x in range(140)] for y in range(140)])
