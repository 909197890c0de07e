"""A model of a disk. A power cut keeps all synced changes, and an arbitrary part of the others.

The model reads the steps of a program from the log of `disk-steps`. For any moment it makes the folders that a power cut at
this moment could leave:

- Bytes written to a file are there once an fsync, fdatasync or syncfs that began later has returned. Before, any part may
  be there.
- A made, moved or removed name is there after a sync of its folder, or syncfs; a sync of the file is not enough. Of the names
  that are not synced, the first ones may be there and the later ones not, as in journalling file systems. A move is done
  wholly or not at all.
- Modes, times and attributes are left out: nothing depends on them here."""

import os
import stat


class Node:
    """A file, folder or link."""

    def __init__(self, kind, inode, data=b"", target=None, made=0):
        self.kind, self.inode, self.target, self.made = kind, inode, target, made
        # The synced bytes, and the changes since: (number, offset, bytes) or (number, size, None).
        self.synced, self.pending = bytes(data), []
        # The synced names of a folder.
        self.names = {}

    def data(self, chosen):
        """Contents with the pending changes that `chosen` selects: all, none, zeros (their room without their bytes), or a
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
        """Begins with the present files, all of them synced."""
        self.root, self.count, self.begun = root, 0, {}
        # Nodes by DEVICE:INODE; a reused inode is another node.
        self.nodes = {}
        # Names made, moved and removed since the sync: (number, [(folder, name, node or None)]).
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

    # The steps

    def see(self, step):
        """Applies one line of the log."""
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
        """Syncs the names in a folder, and earlier changes in the folders from which they were moved; None for all."""
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

    # The disk after a power cut

    def left(self, names, data):
        """The remaining files, folders and links: by path, (kind, contents or target, (inode, time of its making)).

        names: number of the unsynced names that are there. data: as in `Node.data`, or a function of the node that
        returns that."""
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
    """Makes the folders. Returns the new inodes by the old ones. If two files had the same old inode, one after the other, the
    later one counts: no real file system would have brought the first one back."""
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
