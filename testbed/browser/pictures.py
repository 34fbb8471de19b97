"""Pictures: several at once, chosen and dropped, good and broken."""

import pathlib
import random

import samples
from check import Check, Skip
from page import Page


class Pictures:
    kind = "pictures"

    def __init__(self, page: Page, folder: pathlib.Path) -> None:
        self.page = page
        chance = random.Random(13)
        self.files = {kind: [samples.put(folder / f"{kind}-{number}.png", samples.shape(kind, chance)) for number in range(3)]
                      for kind in samples.SHAPES}
        self.broken = samples.put(folder / "broken.png", b"\x89PNG\r\n\x1a\nand no more")

    def checks(self) -> list[Check]:
        return [
            Check("several pictures are told apart", lambda: self.told(self.page.bring)),
            Check("several pictures are dropped", lambda: self.told(self.page.drop)),
            Check("a broken picture spoils no other", self.spoiled),
            Check("examples of pictures are looked at", self.examples),
        ]

    def show(self) -> None:
        self.page.bring(*self.files["discs"][:2], *self.files["stripes"][:2])
        self.answers(4)

    def answers(self, count: int) -> None:
        self.page.driver.until("return document.querySelectorAll('.cards li :is(.bars, .problem)').length === arguments[0]", count)

    def told(self, give) -> None:
        page = self.page.open()
        give(*self.files["discs"], *self.files["stripes"])
        self.answers(6)
        assert page.texts(".cards .said strong") == ["discs"] * 3 + ["stripes"] * 3, page.texts(".cards .said")
        seen = page.driver.script("return [...document.querySelectorAll('.cards img')].filter((one) => one.naturalWidth).length")
        assert seen == 6, f"{seen} of 6 pictures are seen"
        page.push("Clear")
        self.answers(0)

    def spoiled(self) -> None:
        page = self.page.open()
        page.bring(self.files["discs"][0], self.broken, self.files["stripes"][0])
        self.answers(3)
        assert page.texts(".cards .said strong") == ["discs", "stripes"], page.texts(".cards .said")
        assert len(page.texts(".cards .problem")) == 1 and page.text(".cards .problem").endswith("."), page.texts(".cards .problem")
        # The browser itself tells of answers that are errors.
        said = page.console()
        assert all("the server responded with a status of 4" in message for message in said), said

    def examples(self) -> None:
        page = self.page.open()
        count = len(page.texts(".picture"))
        if not count:
            raise Skip("the server offers no pictures to try")
        page.driver.script("document.querySelectorAll('.picture').forEach((one) => one.click())")
        self.answers(count)
