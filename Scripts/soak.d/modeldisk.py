"""A disk that keeps over a power cut only what was synced, and of the rest whatever it likes.

It is told the steps of a program, as `disk-steps` writes them down, and makes at any moment folders as a power cut there
could leave them:

- What was written to a file is there after fsync, fdatasync or syncfs has returned that began later; before, any of it.
- A name made, moved or taken away is there after a sync of its folder, or syncfs; a sync of the file is not enough. Of the
  names that are not synced those that came first may be there and the later ones not, as journalling file systems have it;
  a move is done or not.
- Modes, times and attributes are left out: nothing depends on them here."""

import os
import stat


class Node:
    """A file, folder or link."""

    def __init__(self, kind, inode, data=b"", target=None, made=0):
        self.kind, self.inode, self.target, self.made = kind, inode, target, made
        # What is on the disk for sure, and what was done to it since: (number, offset, bytes) or (number, size, None).
        self.synced, self.pending = bytes(data), []
        # Of a folder, what is on the disk for sure.
        self.names = {}

    def data(self, chosen):
        """Contents with those of the pending changes that `chosen` names: all, none, zeros (their room without them), or a
        function of their number."""
        data = bytearray(self.synced)
        for number, place, piece in self.pending:
            if chosen == "none" or callable(chosen) and not chosen(number):
                continue
            if piece is None:
                data = data[:place] + bytes(max(0, place - len(data)))
            else:
                piece = bytes(len(piece)) if chosen == "zeros" else piece
                data += bytes(max(0, place - len(data)))
                data[place:place + len(piece)] = piece
        return bytes(data)

    def sync(self, until):
        keep = self.pending
        self.pending = [change for change in keep if change[0] <= until]
        self.synced, self.pending = self.data("all"), [change for change in keep if change[0] > until]


class ModelDisk:
    def __init__(self, root):
        """Begins with what lies there, all of it synced."""
        self.root, self.count, self.begun = root, 0, {}
        # By DEVICE:INODE; an inode that is used again is another node.
        self.nodes = {}
        # Names made, moved and taken away since: (number, [(folder, name, node or None)]).
        self.pending = []
        self.top = self.take(root)

    def take(self, path):
        status = os.lstat(path)
        key = f"{status.st_dev}:{status.st_ino}"
        if key in self.nodes:
            return self.nodes[key]
        kind = stat.S_IFMT(status.st_mode)
        node = self.nodes[key] = Node(kind, status.st_ino)
        if kind == stat.S_IFREG:
            with open(path, "rb") as file:
                node.synced = file.read()
        elif kind == stat.S_IFLNK:
            node.target = os.readlink(path)
        elif kind == stat.S_IFDIR:
            node.names = {name: self.take(os.path.join(path, name)) for name in os.listdir(path)}
        return node

    # What happens

    def see(self, step):
        """One line of the log."""
        call, thread = step["call"], step["thread"]
        if step["n"] == "0":
            self.begun[thread] = self.count
            return
        self.count += 1
        node = self.nodes.get(step.get("file"))
        if call in ("create", "mkdir", "symlink"):
            if "size" in step and node:
                node.pending.append((self.count, 0, None))
            else:
                self.make(step)
        elif call == "write":
            node.pending.append((self.count, int(step["offset"]), bytes.fromhex(step["data"])))
        elif call == "truncate":
            node.pending.append((self.count, int(step["size"]), None))
        elif call == "fallocate":
            if int(step["size"]) > len(node.data("all")):
                node.pending.append((self.count, int(step["size"]), None))
        elif call == "unlink":
            self.change((self.folder(step), self.name(step), None))
        elif call == "link":
            self.change((self.folder(step), self.name(step), node))
        elif call == "rename":
            old = (self.folder(step, "from-folder"), self.name(step, "from-name"), None)
            self.change(old, (self.folder(step), self.name(step), node))
        elif call in ("fsync", "fdatasync"):
            node.sync(self.begun[thread])
            if node.kind == stat.S_IFDIR:
                self.sync_names(node, self.begun[thread])
        elif call == "syncfs":
            for node in self.nodes.values():
                node.sync(self.begun[thread])
            self.sync_names(None, self.begun[thread])
        elif call not in ("chmod", "utimes", "setxattr", "removexattr", "say"):
            raise ValueError(f"nobody knows what {call} does to a disk")

    def make(self, step):
        kind = stat.S_IFMT(int(step["mode"], 8))
        target = bytes.fromhex(step["target"]).decode() if "target" in step else None
        node = self.nodes[step["file"]] = Node(kind, int(step["file"].split(":")[1]), target=target,
                                              made=self.count)
        self.change((self.folder(step), self.name(step), node))

    def folder(self, step, field="folder"):
        return self.nodes[step[field]]

    @staticmethod
    def name(step, field="name"):
        return bytes.fromhex(step[field]).decode()

    def change(self, *changes):
        self.pending.append((self.count, list(changes)))

    def sync_names(self, folder, until):
        """Names in a folder, and whatever came before them in folders that they were moved from; nil for all."""
        folders, chosen = {folder}, []
        for number, changes in reversed(self.pending):
            if number <= until and (folder is None or any(change[0] in folders for change in changes)):
                folders |= {change[0] for change in changes}
                chosen.append((number, changes))
        for entry in reversed(chosen):
            self.pending.remove(entry)
            self.apply(entry[1], lambda node: node.names)

    @staticmethod
    def apply(changes, names):
        for folder, name, node in changes:
            if node is None:
                names(folder).pop(name, None)
            else:
                names(folder)[name] = node

    # What a power cut leaves

    def left(self, names, data):
        """The files, folders and links that are left: by their paths, (kind, contents or target, (inode, when it was made)).

        names: how many of the names that are not synced are there. data: as in `Node.data`, or a function of the node that
        gives that."""
        changed = {}
        for _, changes in self.pending[:names]:
            self.apply(changes, lambda node: changed.setdefault(node, dict(node.names)))
        left, pending = {}, [("", self.top)]
        while pending:
            path, node = pending.pop()
            chosen = data(node) if callable(data) else data
            left[path] = (node.kind, node.target if node.target is not None else node.data(chosen), (node.inode, node.made))
            for name, inner in changed.get(node, node.names).items():
                pending.append((f"{path}/{name}", inner))
        return left


def lay_out(left, root):
    """Makes the folders: the inodes that things have there, by those that they had. Of two that had the same, one after
    the other, that of the later one: no real file system would have brought the first one back."""
    inodes, latest = {}, {}
    for path, (kind, contents, (inode, made)) in sorted(left.items()):
        place = root + path
        if kind == stat.S_IFDIR:
            os.mkdir(place, 0o700)
        elif kind == stat.S_IFLNK:
            os.symlink(contents, place)
        elif kind == stat.S_IFREG:
            with open(place, "wb") as file:
                file.write(contents)
            os.chmod(place, 0o600)
        else:
            continue
        if made >= latest.get(inode, 0):
            inodes[inode], latest[inode] = os.lstat(place).st_ino, made
    return inodes
