"""Two hosts, kitchen and study, as network namespaces that Scripts/lab makes."""

import os
import subprocess


class Lab:
    """The hosts of a case, for all its runs; avahi is as Scripts/lab takes it."""

    ADDRESSES = {"kitchen": "192.168.77.1", "study": "192.168.77.2"}

    def __init__(self, places, name, avahi="none"):
        self.program, self.name = os.path.join(places.root, "Scripts/lab"), f"bench-{name}-{os.getpid()}"
        subprocess.run([self.program, "up", self.name, "--hosts", "kitchen,study", "--avahi", avahi], check=True)
        places.on_close(lambda: subprocess.run([self.program, "down", self.name]))
        for host in self.ADDRESSES:
            # localsendd asks the system for the address towards the Internet.
            subprocess.run(self.on(host, *"ip route add default dev eth0".split()), check=True)

    def on(self, host, *words):
        return [self.program, "run", self.name, host, *words]

    def at(self, host, *words):
        """The same without the start of a shell, for what takes some milliseconds."""
        with open(f"/run/waft-lab/{self.name}/{host}.holder") as file:
            return ["nsenter", "--target", file.read().strip(), "--net", "--mount", "--uts", "--", *words]
