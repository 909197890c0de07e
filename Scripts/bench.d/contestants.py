"""The measured programs: each function runs one transfer and returns its figures (seconds, MiB)."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time


class Places:
    """The paths, and the files that are made once for all cases."""

    def __init__(self, root, disk, memory, divisor):
        self.root, self.disk, self.memory, self.divisor = root, disk, memory, divisor
        self.waft = os.path.join(root, ".build/release/waft")
        self.waftd = os.path.join(root, ".build/release/waftd")
        self._sshd = None
        self._number = 0
        self._closing = []
        self.reference = os.path.join(disk, "reference")
        Measured.program = os.path.join(disk, "measure")
        for program in [self.reference, Measured.program]:
            source = os.path.join(root, "Scripts/bench.d", os.path.basename(program) + ".c")
            run(["cc", "-O2", "-o", program, source, "-lssl", "-lcrypto"])
        self.certificate, self.key = os.path.join(disk, "c.pem"), os.path.join(disk, "k.pem")
        run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=bench", "-keyout", self.key, "-out", self.certificate])
        self.sender = self.home("sender")

    def fresh(self, base, name):
        self._number += 1
        path = os.path.join(base, f"{name}.{self._number}")
        os.makedirs(path)
        return path

    def discard(self, folder):
        """Removes the files of a run. Many files on the disk stay until the end: ext4 does not reuse an inode that was
        deleted in the last minutes, and looks through all such inodes for each new file. The next run would pay for
        that: 6 s of a processor for 10,000 files."""
        many = sum(len(files) for _, _, files in os.walk(folder)) > 1_000
        if not (many and folder.startswith(self.disk)):
            shutil.rmtree(folder, ignore_errors=True)

    def warm(self, base, items, count=1):
        """Uses as much memory as that many copies of the items will use, right before they use it. A virtual machine's host
        takes back memory that has been free for two seconds, and the next program that needs the memory pays for it: up to
        twice the wall time, by chance. On the disk there is nothing to do."""
        if base != self.memory:
            return
        size = count * sum(os.path.getsize(file) for item in items for file in _files(item))
        with open(os.path.join(base, "warm"), "wb", buffering=0) as file:
            piece = bytes(4 << 20)
            for _ in range(size // len(piece) * 9 // 8):
                file.write(piece)
        os.unlink(file.name)

    def home(self, name, base=None):
        return self.fresh(base or self.disk, name)

    def file(self, name, size):
        """A file of random bytes, made once."""
        path = os.path.join(self.disk, name)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                left = size
                while left > 0:
                    left -= file.write(os.urandom(min(left, 16 << 20)))
        return path

    def tree(self, name, folders, files, size):
        """A folder of folders of files of random bytes, made once."""
        path = os.path.join(self.disk, name)
        if not os.path.exists(path):
            for folder in range(folders):
                inside = os.path.join(path, f"folder-{folder:03}")
                os.makedirs(inside)
                for number in range(files // folders):
                    with open(os.path.join(inside, f"file-{number:05}.bin"), "wb") as file:
                        file.write(os.urandom(size))
        return path

    def on_close(self, action):
        self._closing.append(action)

    def close(self):
        for action in reversed(self._closing):
            action()

    def sshd(self):
        """A server of our own on loopback, with keys of its own: its port and the words for a client."""
        if self._sshd:
            return self._sshd
        folder = self.fresh(self.disk, "sshd")
        os.chmod(folder, 0o700)
        for name in ["host", "user"]:
            run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)])
        shutil.copy(os.path.join(folder, "user.pub"), os.path.join(folder, "keys"))
        port = free_port()
        with open(os.path.join(folder, "config"), "w") as file:
            file.write(f"""Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/keys
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
Subsystem sftp internal-sftp
""")
        os.makedirs("/run/sshd", exist_ok=True)
        server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", os.path.join(folder, "config")],
                                  stderr=subprocess.DEVNULL)
        self.on_close(lambda: end(server))
        options = ["-i", f"{folder}/user", "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known",
                   "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR", "-c", "aes128-gcm@openssh.com"]
        for _ in range(200):
            if subprocess.run(["ssh", *options, "-p", str(port), "127.0.0.1", "true"],
                              capture_output=True).returncode == 0:
                break
            time.sleep(0.02)
        else:
            raise SystemExit("bench: sshd does not answer")
        self._sshd = (port, options)
        return self._sshd


def _files(path):
    if os.path.isfile(path):
        return [path]
    return [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]


def run(words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait()


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Measured:
    """A running program, and the resources that it has used when it has ended."""

    program = None

    def __init__(self, words, **options):
        self.words = words
        descriptor, self._report = tempfile.mkstemp(prefix="waft-bench-")
        os.close(descriptor)
        self.process = subprocess.Popen([self.program, self._report, *words], **options)

    def usage(self, prefix, ends_with=0):
        """Waits until it has ended. An unexpected exit code ends the benchmark."""
        code = self.process.wait()
        with open(self._report) as file:
            user, system, memory = file.read().split()
        os.unlink(self._report)
        if code != ends_with:
            raise SystemExit(f"bench: {' '.join(self.words[:3])} … ended with {code}")
        return {f"{prefix}_user": float(user), f"{prefix}_system": float(system), f"{prefix}_memory": int(memory) / 1024}


def environment(home):
    return {**os.environ, "WAFT_HOME": home, "WAFT_LOG_LEVEL": "error", "WAFT_DISCOVERY": "false"}


# The public key of age's own manual.
RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"


class WaftReceiver:
    """A receiver that takes everything, in an Inbox of its own."""

    def __init__(self, places, base, once=True, prefix=(), seals=False, contacts=()):
        self.places = places
        self.home = places.home("receiver", base)
        if contacts:
            # The homes of senders that are contacts: strangers of one address share little.
            lines = []
            for number, home in enumerate(contacts):
                said = subprocess.run([places.waft, "contacts", "me", "--json"], env=environment(home), check=True,
                                      capture_output=True)
                lines.append(f"{json.loads(said.stdout)['id']} sender-{number}")
            words = [places.waft, "contacts", "allow", "--from", "-", "--policy", "accept", "--for", "ever"]
            subprocess.run(words, env=environment(self.home), input="\n".join(lines), text=True, check=True,
                           stdout=subprocess.DEVNULL)
        if seals:
            # A drop box: as much work as with keys of its own, and no second for a passphrase.
            subprocess.run([places.waft, "protection", "set-up", "--class", "unlessOpen", "--recipient", RECIPIENT],
                           env=environment(self.home), check=True, capture_output=True)
        words = [*prefix, places.waft, "receive", "--accept", "everyone", "--port", "0", "--json"]
        self.words = words + (["--once"] if once else [])
        self.measured = Measured(self.words, env=environment(self.home), stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        self.process = self.measured.process
        ready = json.loads(self.process.stdout.readline())
        self.port = ready["port"]

    def drain(self):
        """Reads its events on another thread, so that it never waits for us."""
        import threading
        thread = threading.Thread(target=self.process.stdout.read, daemon=True)
        thread.start()
        return thread

    def remove(self):
        self.process.stdout.close()
        self.places.discard(self.home)


class Path:
    """The way from one side to the other: the words that start each side's programs, and the receiver's address."""

    def __init__(self, sending=(), receiving=(), address="127.0.0.1"):
        self.sending, self.receiving, self.address = sending, receiving, address


LOOPBACK = Path()


def waft(places, base, items, path=LOOPBACK, seals=False):
    """One transfer to a receiver that ends after it."""
    def measure():
        os.sync()
        receiver = WaftReceiver(places, base, prefix=path.receiving, seals=seals)
        thread = receiver.drain()
        places.warm(base, items)
        words = [*path.sending, places.waft, "send", *items, "--to", f"{path.address}:{receiver.port}", "--quiet"]
        began = time.monotonic()
        figures = Measured(words, env=environment(places.sender)).usage("sender")
        figures["wall"] = time.monotonic() - began
        figures.update(receiver.measured.usage("receiver"))
        thread.join()
        receiver.remove()
        return figures
    return measure


class Reference:
    """The bare C loop's receiving side; plain is without TLS: the cost of reading, TCP and writing alone; digest is with the
    SHA-256 of what arrives."""

    def __init__(self, places, base, path=LOOPBACK, plain=False, digest=False):
        self.places, self.path, self.plain = places, path, plain
        self.folder = places.fresh(base, "reference")
        words = [*path.receiving, places.reference, "listen", "-" if plain else places.certificate, places.key,
                 os.path.join(self.folder, "out"), path.address, *(["digest"] if digest else [])]
        self.measured = Measured(words, stdout=subprocess.PIPE)
        self.port = self.measured.process.stdout.readline().decode().strip()

    def sender(self, file):
        words = [*self.path.sending, self.places.reference, "send", self.path.address, self.port, file]
        return Measured(words + (["plain"] if self.plain else []))

    def remove(self):
        self.measured.process.stdout.close()
        self.places.discard(self.folder)


def reference(places, base, file, path=LOOPBACK, plain=False, digest=False):
    """One transfer by the bare C loop."""
    return references(places, base, file, 1, path, plain, digest)


def references(places, base, file, count, path=LOOPBACK, plain=False, digest=False):
    """The bare C loop, as many times at once."""
    def measure():
        os.sync()
        receivers = [Reference(places, base, path, plain, digest) for _ in range(count)]
        places.warm(base, [file], count)
        began = time.monotonic()
        senders = [receiver.sender(file) for receiver in receivers]
        figures = together([sender.usage("sender") for sender in senders])
        figures["wall"] = time.monotonic() - began
        figures.update(together([receiver.measured.usage("receiver") for receiver in receivers]))
        for receiver in receivers:
            receiver.remove()
        return figures
    return measure


def together(figures):
    """The resources of several programs: the sum of their processor time, the largest of their memories."""
    return {key: (max if "memory" in key else sum)(figure[key] for figure in figures) for key in figures[0]}


def command(places, base, items, words_of, name):
    """A program that ends when the far side has everything. None of these syncs the files, unlike Waft and the C loop."""
    def measure():
        os.sync()
        port, options = places.sshd()
        folder = places.fresh(base, name)
        words = words_of(port, options, folder)
        places.warm(base, items)
        began = time.monotonic()
        figures = Measured(words, stdout=subprocess.DEVNULL).usage("sender")
        figures["wall"] = time.monotonic() - began
        places.discard(folder)
        return figures
    return measure


def scp(places, base, items):
    return command(places, base, items, lambda port, options, folder:
                   ["scp", "-q", "-r", *options, "-P", str(port), *items, f"127.0.0.1:{folder}/"], "scp")


def rsync(places, base, items):
    return command(places, base, items, lambda port, options, folder:
                   ["rsync", "-aW", "-e", f"ssh {' '.join(options)} -p {port}", *items, f"127.0.0.1:{folder}/"], "rsync")


def tar(places, base, path):
    def words(port, options, folder):
        ssh = " ".join(["ssh", *options, "-p", str(port), "127.0.0.1"])
        parent, name = os.path.split(path)
        return ["sh", "-c", f"tar -C {parent} -cf - {name} | {ssh} 'tar -C {folder} -xf -'"]
    return command(places, base, [path], words, "tar")


def forgotten(item, measure):
    """Drops the item's files from the kernel's cache, so that the measured program reads them from the disk."""
    def measured():
        os.sync()
        for path in _files(item):
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
        return measure()
    return measured
