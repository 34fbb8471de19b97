"""What holds for the page of every model: phones, the dark, people who do not see it, and who does without scripts."""

import pathlib

from check import Check, Skip
from page import DESK, PHONE, SMALL_PHONE, Page

LOOKS = [(size, scheme) for size in (DESK, PHONE) for scheme in ("light", "dark")]
NAMES = {DESK: "desk", PHONE: "phone"}

# Findings of these weights keep somebody out.
GRAVE = ("serious", "critical")


class Everywhere:
    """Checks of a page with something on it. `cases` are those of its kind."""

    def __init__(self, page: Page, cases, axe: pathlib.Path | None, shots: pathlib.Path | None) -> None:
        self.page, self.cases, self.axe, self.shots = page, cases, axe, shots

    def checks(self) -> list[Check]:
        kind = self.cases.kind
        return [
            Check(f"{kind}: says what the model is, how good, and what to do", self.lede),
            Check(f"{kind}: no phone is too narrow", self.narrow),
            Check(f"{kind}: it is dark in the dark", self.dark),
            Check(f"{kind}: axe finds nothing grave, light and dark, on desks and phones", self.accessible),
            Check(f"{kind}: every control is reached by Tab, and seen to be", self.tabbed),
            Check(f"{kind}: nothing is allowed that the page does not need", self.policy),
            *([Check(f"{kind}: pictures are taken", self.pictured)] if self.shots else []),
        ]

    def lede(self) -> None:
        page = self.page.open()
        assert len(page.texts("h1")) == 1 and page.text("h1") != "Try the model", page.text("h1")
        card = page.driver.script("return fetch('/v1/model').then((answer) => answer.json())")
        name, told = card["name"], page.text("#lede")
        assert name in told and told.endswith("."), told
        measured = card["metrics"] and self.cases.kind != "faces"
        assert not measured or " % " in told, f"how good it is, is not said: {told}"
        assert page.driver.script("return document.title").startswith(name)

    def narrow(self) -> None:
        for size in (PHONE, SMALL_PHONE):
            page = self.page.open(size)
            self.cases.show()
            page.driver.script("document.getElementById('about').open = true")
            width = page.driver.script("return document.documentElement.scrollWidth")
            assert width <= size[0], f"the page is {width} wide on a phone of {size[0]}"
            small = page.driver.script("""return [...document.querySelectorAll('main :is(button, .button, .switch label)')]
                .map((one) => [one.textContent, one.getBoundingClientRect()])
                .filter(([, box]) => box.height && Math.min(box.width, box.height) < 40).map(([text]) => text)""")
            assert not small, f"too small for a finger: {small}"

    def dark(self) -> None:
        light = {}
        for scheme in ("light", "dark"):
            page = self.page.open(DESK, scheme)
            colours = page.driver.script("""const { backgroundColor, color } = getComputedStyle(document.body);
                return [backgroundColor, color].map((one) => one.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))""")
            light[scheme] = colours[0] > colours[1]
        assert light == {"light": True, "dark": False}, light

    def accessible(self) -> None:
        if not self.axe:
            raise Skip("axe-core is not here; npm would have fetched it")
        for size, scheme in LOOKS:
            for filled in (False, True):
                page = self.page.open(size, scheme)
                if filled:
                    self.cases.show()
                    page.driver.script("document.getElementById('about').open = true")
                page.driver.script(self.axe.read_text() + "; window.axe = axe")
                found = page.driver.script("return window.axe.run(document).then((result) => result.violations)")
                grave = [f"{one['id']} at {one['nodes'][0]['target']}" for one in found if one["impact"] in GRAVE]
                assert not grave, f"{NAMES[size]}, {scheme}: {grave}"

    def tabbed(self) -> None:
        page = self.page.open()
        self.cases.show()
        page.driver.script("document.activeElement.blur(); window.getSelection().removeAllRanges()")
        wanted = page.driver.script("""return [...document.querySelectorAll('main :is(button, input, textarea, canvas):not(:disabled)')]
            .filter((one) => one.offsetParent && !(one.type === 'radio' && !one.checked)).length""")
        reached = set()
        for _ in range(wanted + 8):
            page.press("Tab")
            number, seen = page.driver.script("""const at = document.activeElement;
                const ringed = [at, at.closest('label')].some((one) => one && getComputedStyle(one).outlineStyle !== 'none');
                return [[...document.querySelectorAll('main :is(button, input, textarea, canvas)')].indexOf(at), ringed]""")
            if number >= 0:
                reached.add(number)
                assert seen, f"control {number} does not show that it has the focus"
        assert len(reached) == wanted, f"{len(reached)} of {wanted} controls were reached"

    def policy(self) -> None:
        page = self.page.open()
        headers = page.driver.script("""return fetch('/').then((answer) => Object.fromEntries(answer.headers))""")
        policy = headers.get("content-security-policy", "")
        assert "default-src 'none'" in policy and "unsafe" not in policy, f"the policy is {policy!r}"
        # What it forbids is forbidden: the browser itself must refuse it.
        refused = page.driver.script("""const made = document.createElement('script');
            made.textContent = 'window.broken = true';
            document.body.append(made);
            return !window.broken""")
        assert refused, "a script inside the page was run"
        page.console()

    def pictured(self) -> None:
        for size, scheme in LOOKS:
            page = self.page.open(size, scheme)
            self.cases.show()
            high = page.driver.script("return document.documentElement.scrollHeight")
            page.look((size[0], max(high, size[1])), scheme)
            path = self.shots / f"{self.cases.kind}-{NAMES[size]}-{scheme}.png"
            path.write_bytes(page.driver.picture())
            assert path.stat().st_size > 10_000, f"there is next to nothing on {path.name}"
