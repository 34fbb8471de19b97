"""A review: its verdict while it is written, and which words the model knew."""

import pathlib
import random

import samples
from check import Check
from page import Page


class Texts:
    kind = "texts"

    def __init__(self, page: Page, folder: pathlib.Path) -> None:
        self.page = page

    def checks(self) -> list[Check]:
        return [
            Check("reviews that are typed are judged", self.typed),
            Check("words that the model does not know are shown", self.unknown),
            Check("examples of reviews are judged", self.examples),
            Check("markup in a review is shown as text", self.markup),
        ]

    def show(self) -> None:
        self.write(f"A wonderful film and a great story, beautiful music, a {samples.UNKNOWN} and a dull evening.")
        self.page.driver.until("return document.querySelector('.words s')")

    def write(self, text: str) -> None:
        self.page.driver.script("document.getElementById('text').value = ''")
        self.page.driver.type("#text", text)

    def typed(self) -> None:
        page, chance = self.page.open(), random.Random(11)
        for good in (True, False, True):
            self.write(samples.review(good, chance))
            page.told("positive" if good else "negative")
            assert max(page.shares()) > 0.5 and abs(sum(page.shares()) - 1) < 1e-3, page.shares()

    def unknown(self) -> None:
        page = self.page.open()
        self.write(f"the film was {samples.UNKNOWN} and great")
        page.driver.until("return document.querySelector('.words s')")
        page.driver.until("return document.querySelector('.words').textContent.includes('great')")
        assert page.texts(".words s") == [samples.UNKNOWN], page.texts(".words s")
        assert "the film was" in page.text(".words"), page.text(".words")
        assert f"5 of these 6 words, and not {samples.UNKNOWN}" in page.text(".read .note"), page.text(".read .note")

    def examples(self) -> None:
        page = self.page.open()
        count = len(page.texts(".examples button"))
        assert count, "there is nothing to click"
        for number in range(1, 1 + count):
            page.driver.click(f".examples button:nth-child({number})")
            page.driver.until("""const words = document.querySelector('.words')?.textContent.trim().split(' ').length;
                return words && document.getElementById('text').value.split(' ').length === words""")
        page.push("Clear")
        page.empty()

    def markup(self) -> None:
        page = self.page.open()
        self.write("great <img src=x onerror=alert(1)> <b>film</b>")
        page.driver.until("return document.querySelector('.words')?.textContent.includes('film')")
        assert not page.texts("main img, main b"), "markup became part of the page"
