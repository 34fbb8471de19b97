"""The page as people have it before them: opened, looked at, and drawn on."""

import json
import pathlib
import urllib.parse

from check import Check
from webdriver import Driver

# Keys by WebDriver's numbers.
KEYS = {name: chr(code) for name, code in {
    "Tab": 0xE004, "Control": 0xE009, "Home": 0xE011, "Left": 0xE012, "Up": 0xE013, "Right": 0xE014, "Down": 0xE015,
    "Delete": 0xE017}.items()}

# Of many things that are wrong, so many are told.
MOST_TOLD = 5

DESK, PHONE, SMALL_PHONE = (1100, 800), (390, 844), (320, 568)


class Page:
    """A page of one server, in a browser that others use too."""

    def __init__(self, driver: Driver, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, size: tuple[int, int] = DESK, scheme: str = "light") -> "Page":
        """A fresh page, of a model that has answered what it is."""
        self.look(size, scheme)
        self.driver.go(self.address)
        self.driver.until("return document.querySelector('main section, main .problem')")
        return self

    def look(self, size: tuple[int, int], scheme: str = "light") -> None:
        phone = size[0] < 500
        self.driver.devtools("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=phone)
        self.driver.devtools("Emulation.setTouchEmulationEnabled", enabled=phone)
        # Nothing moves by itself, so that what is seen is what stays.
        self.driver.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def text(self, selector: str) -> str:
        return self.driver.script("return document.querySelector(arguments[0])?.textContent ?? ''", selector).replace("\u00a0", " ")

    def texts(self, selector: str) -> list[str]:
        return self.driver.script("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def told(self, expected: str) -> None:
        """Waits until this is the verdict."""
        try:
            self.driver.until("""const verdict = document.querySelector('.verdict');
                return verdict.dataset.state === 'told' && verdict.querySelector('.what').textContent === arguments[0]""", expected)
        except AssertionError:
            raise AssertionError(f"the verdict is {self.text('.verdict')!r}, not {expected!r}") from None

    def empty(self) -> None:
        self.driver.until("return document.querySelector('.verdict').dataset.state === 'empty'")

    def failed(self, words: str) -> None:
        """Waits until the page says so in place of an answer."""
        self.driver.until("return document.querySelector('.verdict[data-state=failed]')?.textContent.includes(arguments[0])", words)

    def shares(self) -> list[float]:
        """What the bars show, each from 0 to 1."""
        return self.driver.script("return [...document.querySelectorAll('.bars .fill')].map((bar) => Number(bar.style.getPropertyValue('--share')))")

    def bring(self, *files: pathlib.Path) -> None:
        self.driver.type("input[type=file]", "\n".join(map(str, files)))

    def drop(self, *files: pathlib.Path) -> None:
        """Drops files, as a desktop would."""
        contents = [[file.name, list(file.read_bytes())] for file in files]
        self.driver.script("""const carried = new DataTransfer();
            for (const [name, bytes] of arguments[0]) carried.items.add(new File([new Uint8Array(bytes)], name, { type: 'image/png' }));
            for (const kind of ['dragover', 'drop'])
              document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));""", contents)

    def press(self, *keys: str, held: str | None = None) -> None:
        """Presses keys one after another, with another one held if one is named."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        if held:
            actions = [{"type": "keyDown", "value": KEYS[held]}, *actions, {"type": "keyUp", "value": KEYS[held]}]
        self.driver.act({"type": "key", "id": "keys", "actions": actions})

    def push(self, name: str) -> None:
        """Presses the button of this name."""
        self.driver.script("[...document.querySelectorAll('button')].find((one) => one.textContent === arguments[0]).click()", name)

    def stroke(self, points: list[tuple[float, float]], device: str = "mouse", lift: bool = True) -> None:
        """A line over the sheet of paper; points are shares of its sides."""
        box = self.driver.script("""const canvas = document.querySelector('canvas');
            canvas.scrollIntoView({ block: 'nearest' });
            const { x, y, width, height } = canvas.getBoundingClientRect();
            return [x, y, width, height];""")
        moves = [{"type": "pointerMove", "duration": 5, "x": round(box[0] + x * box[2]), "y": round(box[1] + y * box[3])} for x, y in points]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], *([{"type": "pointerUp", "button": 0}] if lift else [])]
        source = {"type": "pointer", "id": device, "parameters": {"pointerType": device}, "actions": actions}
        self.driver.ask("POST", "/actions", {"actions": [source]})

    def quietly(self, check: Check) -> Check:
        """The check, after which the console is empty and nothing was asked of anybody else."""
        def prove() -> None:
            self.console(), self.requests()
            check.prove()
            said = self.console()
            assert not said, f"the console says {said[:MOST_TOLD]}"
            elsewhere = sorted({address for address in self.requests() if not ours(address, self.address)})
            assert not elsewhere, f"the page asked {elsewhere[:MOST_TOLD]}"

        return Check(check.name, prove)

    def console(self) -> list[str]:
        """What the console says since the last time."""
        return [entry["message"] for entry in self.driver.log("browser")]

    def requests(self) -> list[str]:
        """Every address that was asked since the last time."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.log("performance")]
        return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]


def ours(address: str, page: str) -> bool:
    one, other = urllib.parse.urlsplit(address), urllib.parse.urlsplit(page)
    return one.scheme in ("blob", "data") or one.netloc == other.netloc
