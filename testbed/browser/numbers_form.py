"""Any other model: a field for each number."""

import pathlib

import samples
from check import Check
from page import Page


class Numbers:
    kind = "numbers"

    def __init__(self, page: Page, folder: pathlib.Path) -> None:
        self.page = page

    def checks(self) -> list[Check]:
        return [
            Check("numbers that are typed are answered", self.typed),
            Check("what is no number is said to be none", self.wrong),
            Check("examples of numbers are answered", self.examples),
        ]

    def show(self) -> None:
        self.fill(0.1, 0.95, 0.2, 0.5)
        self.page.told(samples.FLOWERS[1])

    def fill(self, *values) -> None:
        for number, value in enumerate(values, 1):
            field = f".fields label:nth-child({number}) input"
            self.page.driver.script("document.querySelector(arguments[0]).value = ''", field)
            self.page.driver.type(field, str(value))
        self.page.driver.click("form button")

    def typed(self) -> None:
        page = self.page.open()
        for place, flower in enumerate(samples.FLOWERS):
            numbers = [0.1, 0.1, 0.1, 0.5]
            numbers[place] = 0.95
            self.fill(*numbers)
            page.told(flower)
        assert abs(sum(page.shares()) - 1) < 1e-3, page.shares()

    def wrong(self) -> None:
        page = self.page.open()
        self.fill(0.1, "much", 0.2, 0.5)
        page.failed("“much” is not a number")

    def examples(self) -> None:
        page = self.page.open()
        count = len(page.texts(".examples button"))
        assert count, "there is nothing to click"
        for number in range(1, 1 + count):
            page.driver.script("document.querySelector('.verdict').dataset.state = ''")
            page.driver.click(f".examples button:nth-child({number})")
            page.driver.until("return document.querySelector('.verdict').dataset.state === 'told'")
