"""Hosts made of network namespaces, each with a cable to one switch, and what can befall a cable.

Everything lies in namespaces whose names have this process's number in them, the switch too, so that nothing of the
machine's own network is touched and two suites can run beside each other.
"""

import os
import pathlib
import shutil
import subprocess
import sys

PREFIX = "10.77.0."
# No card has this address: what is sent there arrives nowhere, and nobody is told.
NOBODY = "02:00:00:00:00:ff"
DELAY = ["delay", "20ms", "5ms", "loss", "1%"]


def why_not() -> str:
    """Why there can be no hosts here; empty where there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "`ip` is not here; install iproute2"
    name = f"ty{os.getpid()}-try"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if tried.returncode:
        return f"no network namespace can be made here: {tried.stderr.strip()}"
    run("ip", "netns", "del", name)
    return ""


def run(*command: str) -> None:
    """Runs a command that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


class Network:
    """Hosts at one switch. Used in a `with`, it is taken down whatever happens."""

    def __init__(self, *names: str):
        self.tag = f"ty{os.getpid()}"
        self.switch = f"{self.tag}-switch"
        self.wires: list[subprocess.Popen] = []
        self.hosts = {name: Host(self, name, f"{PREFIX}{number}") for number, name in enumerate(names, start=1)}

    def __getitem__(self, name: str) -> "Host":
        return self.hosts[name]

    def __enter__(self) -> "Network":
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def build(self) -> None:
        run("ip", "netns", "add", self.switch)
        run("ip", "-n", self.switch, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self.switch, "link", "set", "bridge", "up")
        for host in self.hosts.values():
            run("ip", "netns", "add", host.space)
            run("ip", "-n", host.space, "link", "set", "lo", "up")
            peer = ["type", "veth", "peer", "name", host.name, "netns", self.switch]
            run("ip", "-n", host.space, "link", "add", "eth0", *peer)
            run("ip", "-n", self.switch, "link", "set", host.name, "master", "bridge", "up")
            run("ip", "-n", host.space, "address", "add", f"{host.address}/24", "dev", "eth0")
            run("ip", "-n", host.space, "link", "set", "eth0", "up")

    def __exit__(self, *_) -> None:
        self.end_wires()
        for space in [host.space for host in self.hosts.values()] + [self.switch]:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)

    def end_wires(self) -> None:
        for wire in self.wires:
            wire.kill()
            wire.wait()
        self.wires.clear()

    def slow(self, *names: str) -> str:
        """Makes the cables of some hosts slow and lossy, and says by what means."""
        if all(self[name].shape() for name in names):
            return "netem"
        for name in names:
            self[name].unshape()
            self[name].stretch()
        return "wire.py, for this kernel has no netem"


class Host:
    """A network namespace with an address of its own."""

    def __init__(self, network: Network, name: str, address: str):
        self.network, self.name, self.address = network, name, address
        self.space = f"{network.tag}-{name}"

    def command(self, *arguments: str | pathlib.Path) -> list[str]:
        """A command as it is run on this host."""
        return ["ip", "netns", "exec", self.space, *map(str, arguments)]

    def cut(self) -> None:
        """Pulls the cable out."""
        run("ip", "-n", self.network.switch, "link", "set", self.name, "down")

    def mend(self) -> None:
        """Puts the cable back."""
        run("ip", "-n", self.network.switch, "link", "set", self.name, "up")

    def lose_way_to(self, other: "Host") -> None:
        """What this host sends to the other one is lost from now on; what comes from there arrives."""
        lost = ["lladdr", NOBODY, "dev", "eth0", "nud", "permanent"]
        run("ip", "-n", self.space, "neigh", "replace", other.address, *lost)

    def find_way_to(self, other: "Host") -> None:
        """Ends what `lose_way_to` began."""
        run("ip", "-n", self.space, "neigh", "del", other.address, "dev", "eth0")

    def bytes_sent(self) -> int:
        """What has left this host so far."""
        path = "/sys/class/net/eth0/statistics/tx_bytes"
        return int(subprocess.run(self.command("cat", path), capture_output=True, check=True).stdout)

    def shape(self) -> bool:
        """Has the kernel delay and lose what this host sends, if it can."""
        command = ["tc", "-n", self.space, "qdisc", "add", "dev", "eth0", "root", "netem", *DELAY]
        return shutil.which("tc") is not None and subprocess.run(command, capture_output=True).returncode == 0

    def unshape(self) -> None:
        """Ends what `shape` began, if it did."""
        if shutil.which("tc"):
            subprocess.run(["tc", "-n", self.space, "qdisc", "del", "dev", "eth0", "root"], capture_output=True)

    def stretch(self) -> None:
        """Puts a program between this host and the switch that delays and loses packets both ways."""
        switch, near = self.network.switch, f"{self.name}-near"
        run("ip", "-n", switch, "link", "set", self.name, "nomaster")
        run("ip", "-n", switch, "link", "add", near, "type", "veth", "peer", "name", f"{self.name}-far")
        run("ip", "-n", switch, "link", "set", near, "master", "bridge", "up")
        run("ip", "-n", switch, "link", "set", f"{self.name}-far", "up")
        # One packet at a time, as on a cable, not sixty joined to one.
        run("ip", "-n", self.space, "link", "set", "eth0", "gso_max_segs", "1")
        program = pathlib.Path(__file__).with_name("wire.py")
        command = ["ip", "netns", "exec", switch, sys.executable, str(program), self.name, f"{self.name}-far"]
        self.network.wires.append(subprocess.Popen(command))

    def straighten(self) -> None:
        """Ends what `stretch` began. The wires have ended."""
        switch = self.network.switch
        if subprocess.run(["ip", "-n", switch, "link", "del", f"{self.name}-near"], capture_output=True).returncode:
            return
        run("ip", "-n", switch, "link", "set", self.name, "master", "bridge")
        run("ip", "-n", self.space, "link", "set", "eth0", "gso_max_segs", "65535")

    def heal(self) -> None:
        """Ends whatever has befallen this host's cable."""
        self.unshape()
        self.straighten()
        self.mend()
        run("ip", "-n", self.space, "neigh", "flush", "all", "nud", "permanent")
