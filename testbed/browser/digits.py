"""A digit: drawn with a mouse, a finger and keys, brought along, and taken from the examples."""

import math
import pathlib

import samples
from check import Check
from page import PHONE, Page


def around(x: float, y: float, wide: float, high: float, start: float, end: float) -> list[tuple[float, float]]:
    angles = [math.radians(start + (end - start) * step / 24) for step in range(25)]
    return [(x + wide * math.cos(angle), y + high * math.sin(angle)) for angle in angles]


# Drawn otherwise than the page's own examples.
DRAWN = {
    "0": [around(.52, .5, .2, .32, -80, 275)],
    "1": [[(.5, .2), (.49, .5), (.48, .82)]],
    "2": [[*around(.5, .36, .19, .17, -165, 45), (.3, .8), (.45, .78), (.72, .8)]],
    "3": [[*around(.48, .35, .18, .15, -150, 85), *around(.48, .66, .2, .17, -85, 150)]],
    "4": [[(.35, .2), (.32, .35), (.28, .55), (.5, .55), (.72, .53)], [(.62, .3), (.61, .6), (.6, .85)]],
    "7": [[(.3, .22), (.5, .21), (.7, .22), (.6, .45), (.5, .65), (.43, .84)]],
}


class Digits:
    kind = "digits"

    def __init__(self, page: Page, folder: pathlib.Path) -> None:
        self.page, self.folder = page, folder

    def checks(self) -> list[Check]:
        return [
            Check("digits drawn with a mouse are read", lambda: self.drawn("mouse")),
            Check("digits drawn with a finger on a phone are read", self.finger),
            Check("a digit drawn with keys is read", self.keys),
            Check("probabilities change while one draws, and add up to 1", self.live),
            Check("undo and clear take back", self.taken_back),
            Check("a digit is brought along, dark on light and light on dark", self.brought),
            Check("every example is read as what it is", self.examples),
            Check("what is read is told to screen readers", self.spoken),
        ]

    def show(self) -> None:
        """Something to look at."""
        for line in DRAWN["3"]:
            self.page.stroke(line)
        self.page.told("3")

    def drawn(self, device: str) -> None:
        page = self.page.open(PHONE if device == "touch" else (1100, 800))
        for digit, lines in DRAWN.items():
            for line in lines:
                page.stroke(line, device)
            page.told(digit)
            assert page.driver.script("return document.querySelector('.spot').hidden"), "the pen of the keys is shown"
            page.push("Clear")
            page.empty()

    def finger(self) -> None:
        before = "return [scrollX, scrollY]"
        self.page.open(PHONE)
        at = self.page.driver.script(before)
        self.drawn("touch")
        assert self.page.driver.script(before) == at, "the page moved under the finger"

    def keys(self) -> None:
        page = self.page.open()
        page.press("Tab")
        assert page.driver.script("return document.activeElement.tagName") == "CANVAS", "the first stop is not the paper"
        page.press(" ", *["Down"] * 14, " ")
        assert not page.driver.script("return document.querySelector('.spot').hidden"), "nobody sees where the pen is"
        page.told("1")
        page.press("Delete")
        page.empty()
        page.press(*["Left"] * 6, *["Up"] * 14, " ", *["Right"] * 12, *["Down", "Down", "Left"] * 6, "Down", "Down", " ")
        page.told("7")

    def live(self) -> None:
        page = self.page.open()
        page.stroke(DRAWN["7"][0][:3], lift=False)
        page.driver.until("return document.querySelector('.verdict').dataset.state === 'told'")
        early = page.shares()
        page.stroke(DRAWN["7"][0][2:])
        page.told("7")
        late = page.shares()
        assert len(late) == 10 and abs(sum(late) - 1) < 1e-3, f"the probabilities are {late}"
        assert early != late, "nothing changed while the digit was drawn on"

    def taken_back(self) -> None:
        page = self.page.open()
        page.stroke(DRAWN["1"][0])
        page.told("1")
        page.stroke(DRAWN["0"][0])
        page.driver.until("return document.querySelector('.what').textContent !== '1'")
        page.push("Undo")
        page.told("1")
        page.driver.script("document.querySelector('canvas').focus()")
        page.press("z", held="Control")
        page.empty()
        page.stroke(DRAWN["1"][0])
        page.push("Clear")
        page.empty()

    def brought(self) -> None:
        page = self.page.open()
        for light in (True, False):
            page.bring(samples.put(self.folder / f"seven-{light}.png", samples.seven(light)))
            page.told("7")
            page.driver.until("return document.querySelector('.paper img')?.complete")
            page.stroke(DRAWN["1"][0])
            page.told("1")
            assert not page.texts(".paper img"), "a picture lies over the ink"
            page.drop(self.folder / f"seven-{light}.png")
            page.told("7")

    def examples(self) -> None:
        page = self.page.open()
        for digit in range(10):
            page.driver.click(f".examples button:nth-child({digit + 1})")
            page.told(str(digit))

    def spoken(self) -> None:
        page = self.page.open()
        page.driver.click(".examples button:nth-child(8)")
        page.driver.until("return document.getElementById('said').textContent.startsWith('7, ')")
