import CLinuxShims
import Glibc
import Sharing
import SystemCalls

/// The abilities that some disks lack: FAT, exFAT, NTFS, shares, and file systems in user space. They are found by
/// trying, once for each folder in which items are written.
///
/// Storing tries hard links and the rename that refuses to replace anyway (`Placement`): here they are for people.
package struct DiskAbilities: Hashable, Sendable {
    /// Whether chmod changes executable bits. On NTFS, FAT, exFAT and many shares every file has one mode, which the
    /// mount decides.
    package var keepsModes = true
    /// Whether there are symbolic links.
    package var hasLinks = true
    package var hasHardLinks = true
    /// Whether a rename can refuse to replace.
    package var refusesToReplace = true
    /// Those of `DiskNeeds.rareCharacters` that are taken in no name.
    package var refusedCharacters = ""
    /// Whether `a` and `A` are two names.
    package var tellsCase = true
    /// Whether files can have attributes of the user.
    package var hasAttributes = true
    /// Whether parts of files that were never written need no room, as far as the disk shows it: sshfs does not.
    package var keepsHoles = true
    /// Bytes of a name.
    package var longestName = SafeName.maximumBytes

    /// A disk that lacks nothing.
    package init() {}

    /// Tries them in a folder of its own, which is removed again.
    ///
    /// If nothing can be tried, nothing counts as lacking: nothing can be stored there either.
    /// - Parameter name: of that folder; nothing in `holder` has it.
    init(of holder: Int32, trying name: String) {
        guard mkdirat(holder, name, 0o700) == 0 else { return }
        defer { try? OwnTree.remove(name, in: holder) }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        guard let raw = try? systemCall({ openat(holder, name, flags) }) else { return }
        let folder = FileDescriptor(owning: raw)
        guard let file = Self.file("file", in: folder.raw) else { return }
        keepsModes =
            Self.isExecutable(file.raw) == false && fchmod(file.raw, 0o700) == 0 && Self.isExecutable(file.raw) == true
        hasAttributes = Self.works(CLinuxShims_set_attribute(file.raw, "user.waft.try", "1", 1))
        keepsHoles = Self.keepsHoles(file.raw)
        hasLinks = Self.works(symlinkat("file", folder.raw, "link"))
        hasHardLinks = Self.works(linkat(folder.raw, "file", folder.raw, "hard", 0))
        var status = stat()
        tellsCase = fstatat(folder.raw, "FILE", &status, AT_SYMLINK_NOFOLLOW) != 0
        refusesToReplace = Self.works(CLinuxShims_renameat2_noreplace(folder.raw, "file", folder.raw, "moved"))
        if Self.file("a\(DiskNeeds.rareCharacters)z", in: folder.raw) == nil {
            refusedCharacters = DiskNeeds.rareCharacters.filter { Self.file("a\($0)z", in: folder.raw) == nil }
        }
        var figures = statvfs()
        if fstatvfs(folder.raw, &figures) == 0, figures.f_namemax > 0 {
            longestName = min(SafeName.maximumBytes, Int(clamping: figures.f_namemax))
        }
    }

    private static func file(_ name: String, in folder: Int32) -> FileDescriptor? {
        let raw = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        return raw < 0 ? nil : FileDescriptor(owning: raw)
    }

    /// - Parameter result: of a system call. A full disk shows no lack.
    private static func works(_ result: Int32) -> Bool { result == 0 || [ENOSPC, EDQUOT].contains(errno) }

    private static func isExecutable(_ file: Int32) -> Bool? {
        var status = stat()
        return fstat(file, &status) == 0 ? status.st_mode & 0o111 != 0 : nil
    }

    private static func keepsHoles(_ file: Int32) -> Bool {
        let size = off_t(4 * ZeroBlocks.byteCount)
        var status = stat()
        guard ftruncate(file, size) == 0, fstat(file, &status) == 0 else { return true }
        return Int64(status.st_blocks) * 512 < size
    }

    /// Looks at the mark of an Inbox, which nobody makes executable: for programs that write nothing there. It does not
    /// find a disk on which no file is executable, but there the bits are of no effect anyway.
    ///
    /// - Parameter inbox: path of the Inbox.
    static func keepsModes(inInboxAt inbox: String) -> Bool {
        var status = stat()
        return lstat("\(inbox)/\(InboxMark.name)", &status) != 0 || status.st_mode & 0o111 == 0
    }

    /// Those of an Inbox's disk, tried in the folder in which a receiver writes; in the folder above the Inbox if there
    /// is none.
    package static func ofInbox(at path: String) -> DiskAbilities {
        let above = SmallFile.folder(of: path)
        var (inbox, status) = (stat(), stat())
        let isThere = stat(path, &inbox) == 0
        for place in ["\(path)/\(StagingFolder.name)", "\(above)/\(StagingFolder.name)", above] {
            guard let folder = try? FileDescriptor.opening(place, O_RDONLY | O_DIRECTORY),
                fstat(folder.raw, &status) == 0, !isThere || status.st_dev == inbox.st_dev
            else { continue }
            return DiskAbilities(of: folder.raw, trying: ".waft-trying-\(getpid())")
        }
        return DiskAbilities()
    }
}

// MARK: - In words

extension DiskAbilities {
    /// Why an item cannot be stored; nil if this disk can hold it.
    ///
    /// - Parameters:
    ///   - needs: of a folder.
    ///   - disk: this disk, in words.
    func refusal(of name: SafeName, _ needs: DiskNeeds, isSealed: Bool = false, by disk: String) -> String? {
        if let refusal = refusal(ofName: name.text, by: disk) { return refusal }
        let characters = needs.characters.filter(refusedCharacters.contains)
        if !characters.isEmpty {
            return "\(disk) takes no names with \(Self.list(characters)), and \(name) has such names in it"
        }
        if needs.links, !hasLinks { return "\(Self.noLinks(disk)), and \(name) has some in it" }
        if needs.alike, !tellsCase {
            return "\(Self.noCase(disk)), and \(name) has names in it that differ in nothing else"
        }
        let limit = isSealed ? min(longestName, SafeName.maximumBytes) - SealedName.ending.utf8.count : longestName
        if needs.longestName > limit {
            return "\(name) has a file in it whose name is too long\(isSealed ? " to be sealed" : ""): "
                + "\(needs.longestName) bytes, and \(limit) are the most"
        }
        return nil
    }

    /// - Returns: nil if the name can be used.
    func refusal(ofName name: String, by disk: String) -> String? {
        let characters = refusedCharacters.filter { name.contains($0) }
        return characters.isEmpty ? nil : "\(disk) takes no names with \(Self.list(characters))"
    }

    static func noLinks(_ disk: String) -> String { "\(disk) has no symbolic links" }

    static func noCase(_ disk: String) -> String { "\(disk) does not tell capital letters from small ones" }

    /// The Inbox's disk, for senders, who do not learn its path.
    static let inboxDisk = "the disk of the Inbox"

    private static func list(_ characters: String) -> String { characters.map(String.init).joined(separator: " ") }

    /// The lacks because of which items are refused, for the user of this machine.
    package var refusing: [String] {
        var lacks: [String] = []
        if !hasLinks { lacks.append("has no symbolic links") }
        if !refusedCharacters.isEmpty { lacks.append("takes no names with \(Self.list(refusedCharacters))") }
        if !tellsCase { lacks.append("does not tell a.txt from A.TXT") }
        return lacks
    }

    /// The other lacks, each with its consequence.
    package var remarks: [String] {
        var lacks: [String] = []
        if !keepsModes { lacks.append("keeps no executable bits") }
        if !hasAttributes { lacks.append("keeps no attributes: only Waft knows who sent an item") }
        if !keepsHoles { lacks.append("shows no holes: empty parts of files may take room") }
        if !refusesToReplace, !hasHardLinks {
            lacks.append("cannot refuse to replace: save nothing in the Inbox while items arrive")
        }
        return lacks
    }
}
