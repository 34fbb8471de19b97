"""How one comes in: without scripts by a form, and with a token by a link that is good once."""

import pathlib
import re
import urllib.parse

import samples
from check import Check
from page import DESK, Page
from server import Server
from webdriver import Driver, patiently


def without_scripts(page: Page, kind: str, folder: pathlib.Path) -> list[Check]:
    """The forms that are there where no script runs."""
    def proved() -> None:
        driver = page.driver
        page.look(DESK)
        driver.devtools("Emulation.setScriptExecutionDisabled", value=True)
        try:
            driver.go(page.address)
            if kind == "digits":
                driver.type("input[name=file]", str(samples.put(folder / "form.png", samples.seven(True))))
                driver.click("form:has([name=file]) button")
                expected = "7"
            else:
                driver.type("textarea[name=review]", "a wonderful and great film")
                driver.click("form:has([name=review]) button")
                expected = "pos"
            patiently(lambda: driver.address() == page.address + "upload", "the form's answer")
            answer = patiently(lambda: in_body(driver.source()), "a page with an answer")
            assert f"predict {expected}" in answer, f"the answer is {answer!r}"
        finally:
            driver.devtools("Emulation.setScriptExecutionDisabled", value=False)

    return [Check(f"{kind}: a form does without scripts", proved)] if kind in ("digits", "texts") else []


def in_body(html: str) -> str:
    """What stands in a page; nothing while it is still on its way."""
    found = re.search("<body[^>]*>(.*)</body>", html, re.DOTALL)
    return found[1].strip() if found else ""


class Door:
    """A server that asks for a token."""

    def __init__(self, driver: Driver, start) -> None:
        self.driver, self.start = driver, start

    def checks(self) -> list[Check]:
        return [Check("a link with a token opens the page once, and becomes a cookie", self.once)]

    def once(self) -> None:
        with self.start() as server:
            link = server.address
            plain = urllib.parse.urlunsplit(urllib.parse.urlsplit(link)._replace(query=""))
            assert link != plain, f"the link {link} has no token"
            self.driver.devtools("Network.clearBrowserCookies")
            self.refused(plain)
            page = Page(self.driver, link).open()
            assert page.text("h1") == "Draw a digit", page.text("h1")
            assert self.driver.address() == plain, f"the token stays in the address: {self.driver.address()}"
            cookies = self.driver.devtools("Network.getCookies", urls=[plain])["cookies"]
            assert len(cookies) == 1 and cookies[0]["httpOnly"] and cookies[0]["sameSite"] in ("Strict", "Lax"), cookies
            Page(self.driver, plain).open()
            self.driver.click(".examples button:nth-child(8)")
            Page(self.driver, plain).told("7")
            self.driver.log("browser")
            self.driver.devtools("Network.clearBrowserCookies")
            self.refused(link)

    def refused(self, address: str) -> None:
        self.driver.go(address)
        assert not self.driver.script("return document.querySelector('#title')"), f"{address} opens without being allowed to"
        self.driver.log("browser")


def with_token(binary: pathlib.Path, words: list[str], folder: pathlib.Path) -> Server:
    token = folder / "token"
    token.write_text("0123456789abcdef0123456789abcdef\n")
    token.chmod(0o600)
    return Server(binary, [*words, "--token-file", str(token)], folder / "cache")
