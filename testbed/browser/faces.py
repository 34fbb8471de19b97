"""Faces: the three nearest people, the threshold, and two faces beside each other."""

import pathlib
import random

import samples
from check import Check, Skip
from page import Page


class Faces:
    kind = "faces"

    def __init__(self, page: Page, folder: pathlib.Path) -> None:
        self.page = page
        chance = random.Random(17)
        self.files = {person: [samples.put(folder / f"{person}-{number}.png", samples.face(person, chance)) for number in range(2)]
                      for person in samples.PEOPLE[:4]}

    def checks(self) -> list[Check]:
        return [
            Check("a face is looked up, and the three nearest are seen", self.looked_up),
            Check("the threshold is moved by keys and decides", self.threshold),
            Check("two faces are compared", self.compared),
            Check("examples of faces are looked at", self.examples),
        ]

    def show(self) -> None:
        person, (file, _) = next(iter(self.files.items()))
        self.page.bring(file)
        self.page.told(person)

    def looked_up(self) -> None:
        page = self.page.open()
        for person, (file, _) in self.files.items():
            page.bring(file)
            page.told(person)
            page.driver.until("const all = [...document.querySelectorAll('.people img')]; return all.length === 4 && all.every((one) => one.naturalWidth)")
            distances = [float(text) for text in page.texts(".people .sure")]
            assert len(distances) == 3 and distances == sorted(distances), distances
            assert len(page.texts(".dots span")) == 3, "the distances are not on the scale"

    def threshold(self) -> None:
        page = self.page.open()
        self.show()
        page.driver.script("document.getElementById('threshold').focus()")
        page.press("Home")
        page.told("Nobody known")
        assert len(page.texts(".people .far")) == 3, "somebody is still near"
        page.press(*["Right"] * 200)
        page.told(samples.PEOPLE[0])
        assert not page.texts(".people .far") and page.text("output") == "2.00", page.text("output")

    def compared(self) -> None:
        page = self.page.open()
        if page.texts(".switch"):
            page.driver.script("document.querySelector('input[value=pair]').click()")
        (one, same), (other, _) = list(self.files.values())[:2]
        page.bring(one, same)
        near = self.apart()
        page.bring(other)
        far = self.apart(near)
        assert near < far, f"two pictures of one person are {near} apart, and those of two people {far}"
        # How far people are apart is the model's affair; what it means, the threshold's.
        self.draw_line((near + far) / 2)
        page.told("Two people")
        page.bring(one)
        page.bring(same)
        page.told("One person")
        self.draw_line(0)
        page.told("Two people")

    def apart(self, before: float | None = None) -> float:
        """How far the page says two faces are apart, once it is not what it was."""
        return self.page.driver.until("""const told = document.querySelector('.verdict[data-state=told] .sure')?.textContent ?? '';
            const distance = told.endsWith(' apart') && parseFloat(told);
            return distance !== arguments[0] && distance""", before)

    def draw_line(self, distance: float) -> None:
        self.page.driver.script("""const slider = document.getElementById('threshold');
            slider.value = arguments[0];
            slider.dispatchEvent(new Event('input'))""", distance)

    def examples(self) -> None:
        page = self.page.open()
        count = len(page.texts(".picture"))
        if not count:
            raise Skip("the server offers no faces to try")
        for number in range(1, 1 + count):
            page.driver.click(f".picture:nth-child({number})")
            page.driver.until("return document.querySelector('.yours img')?.alt === document.querySelectorAll('.picture img')[arguments[0]].alt", number - 1)
