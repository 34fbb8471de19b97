"""What may happen to a run whose workers are on several hosts, and what must hold all the same."""

import pathlib
import time

import strangers
from check import Check
from hosts import Network
from runs import Run, TooEarly, Worker, Yard

# Enough to be hit on the way. A group that waits for somebody stands still, so this need not be long.
EPOCHS = {"all_reduce": 60, "average": 60, "parameter_server": 8}


class Cases:
    def __init__(self, yard: Yard, network: Network):
        self.yard, self.network = yard, network

    def run(self, strategy: str = "all_reduce", longer: int = 1) -> Run:
        return Run(self.yard, self.network, strategy, EPOCHS[strategy] * longer)

    def checks(self) -> list[Check]:
        """Each with the name that says what it proves."""
        whole = [Check(f"three hosts train one model: {s}", self.on(self.plain, s)) for s in EPOCHS]
        slow = [Check(f"delay and loss change nothing: {s}", self.on(self.slow, s)) for s in ("all_reduce", "average")]
        cut = [Check(f"a cable cut for good: {s}", self.on(self.cut, s)) for s in EPOCHS]
        others = {
            "a cable cut for a while": self.cut_for_a_while,
            "a worker that the driver hears no more": self.worker_unheard,
            "a driver that a worker hears no more": self.driver_unheard,
            "two workers of whom one hears the other no more": self.half_open,
            "a worker killed, another joins from another host": self.replaced,
            "the driver killed and run again": self.driver_again,
            "strangers are told of and not noticed": self.strangers,
            "the secret is on no command line": self.secrecy,
        }
        return whole + slow + cut + [Check(name, self.on(prove)) for name, prove in others.items()]

    def on(self, prove, *arguments):
        """The check, with all cables as new."""
        def proved() -> None:
            try:
                prove(*arguments)
            finally:
                self.network.end_wires()
                for host in self.network.hosts.values():
                    host.heal()
        return proved

    def plain(self, strategy: str) -> None:
        before = {name: self.network[name].bytes_sent() for name in ("one", "two", "three")}
        with self.run(strategy) as run:
            assert run.finish(*run.begin())["faults_survived"] == 0
        for name, sent in before.items():
            assert self.network[name].bytes_sent() - sent > 1_000_000, f"{name} did not send its numbers"

    def slow(self, strategy: str) -> None:
        print(f"        by {self.network.slow('one', 'two', 'three')}", flush=True)
        # Exchanges are slow here, so there are to be few; but who comes first must not do it all alone.
        for epochs in (3, 6, 12, 24) if strategy == "all_reduce" else (20, 60, 180):
            with Run(self.yard, self.network, strategy, epochs) as run:
                try:
                    workers = run.begin()
                except TooEarly:
                    continue
                assert run.finish(*workers)["faults_survived"] == 0
                return
        raise AssertionError("whoever came first always did it all alone")

    def cut(self, strategy: str) -> None:
        with self.run(strategy) as run:
            one, two, three = run.begin()
            two.host.cut()
            reason = run.until_lost(two)
            assert "has not been heard" in reason, reason
            run.until_trained_by([one, three])
            assert run.finish(one, three)["faults_survived"] == 1
            assert run.said().count(reason) == 1, f"the driver did not say once that {reason}"

    def cut_for_a_while(self) -> None:
        with self.run(longer=5) as run:
            one, two, three = run.begin()
            two.host.cut()
            run.until_lost(two)
            run.until_trained_by([one, three])
            two.host.mend()
            run.until_trained_by([one, two, three])
            run.finish(one, two, three)

    def worker_unheard(self) -> None:
        driver = self.network["driver"]
        with self.run(longer=5) as run:
            one, two, three = run.begin()
            two.host.lose_way_to(driver)
            run.until_lost(two)
            run.until_trained_by([one, three])
            two.host.find_way_to(driver)
            run.until_trained_by([one, two, three])
            run.finish(one, two, three)

    def driver_unheard(self) -> None:
        driver = self.network["driver"]
        with self.run(longer=5) as run:
            one, two, three = run.begin()
            driver.lose_way_to(two.host)
            run.until_lost(two)
            run.until_trained_by([one, three])
            driver.find_way_to(two.host)
            run.until_trained_by([one, two, three])
            run.finish(one, two, three)

    def half_open(self) -> None:
        with self.run() as run:
            one, two, three = run.begin()
            two.host.lose_way_to(three.host)
            run.finish(one)
            formed = run.events("formed")[-1]["processes"]
            apart = {run.number_of(two), run.number_of(three)}
            assert not apart <= set(formed), f"{apart} cannot reach each other, and were in one group: {formed}"

    def replaced(self) -> None:
        with self.run(longer=3) as run:
            one, two, three = run.begin()
            two.process.kill()
            run.until_lost(two)
            another = run.join("three")
            run.until_trained_by([one, three, another])
            assert run.finish(one, three, another)["faults_survived"] == 1

    def driver_again(self) -> None:
        for strategy in ("all_reduce", "average"):
            with self.run(strategy, longer=3) as run:
                workers = run.begin()
                run.kill_driver()
                time.sleep(1)
                run.drive()
                run.finish(*workers)
                kept = lambda w: [e.get("adopted", False) for e in run.events("task_started") if e["pid"] == w.pid]  # noqa: E731
                assert all(kept(worker)[1:] == [True] for worker in workers), "a worker did not find the next driver"

    def strangers(self) -> None:
        with self.run(longer=3) as run:
            workers = run.begin()
            address = strangers.driver_of(run)
            for speech in strangers.SPEECHES:
                process = strangers.send(run, self.network["one"], speech, address)
                process.wait(60)
            assert run.finish(*workers)["faults_survived"] == 0
            told = "".join(path.read_text() for path in (run.folder / "logs").glob("driver.*.log"))
            for speech, line in strangers.SPEECHES.items():
                assert told.count(line) == 1, f"of {speech} the driver's log does not say once `{line}`:\n{told}"

    def secrecy(self) -> None:
        with self.run() as run:
            workers = run.begin()
            key = (run.folder / "driver.key").read_text().split()
            run.secrets.update(key)
            private = [run.folder / "join.json", run.folder / "driver.key"]
            assert all(path.stat().st_mode & 0o777 == 0o600 for path in private), "others may read what is private"
            assert strangers.seen_in_processes(run.secrets) == []
            run.finish(*workers)
