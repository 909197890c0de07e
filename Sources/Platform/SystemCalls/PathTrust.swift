package import Glibc

/// Checks that only the user can change the file at a path, as ssh checks its own files.
///
/// Every folder from `/` down to the path must belong to the user or to root. Other users may write in it only if they
/// can remove nothing of others there (`/tmp`). They may not write the file at the path at all. A link must belong to
/// the user or to root, and its target must meet the same rules. A user's own group, which some distributions make for
/// each user, counts as the user.
package struct PathTrust: Sendable {
    private let user: uid_t

    /// Maximum number of links to follow, as in the kernel.
    private static let maximumLinks = 40

    /// - Parameter user: nil for the effective user of this process; 0 for what root alone may change.
    package init(user: uid_t? = nil) {
        self.user = user ?? geteuid()
    }

    /// Checks a path and all folders above it. If it is missing, only the folders above it are checked.
    ///
    /// - Parameter path: absolute.
    /// - Throws: `PathTrustError` for the first file or folder that another user could change.
    package func check(_ path: String) throws(PathTrustError) {
        var links = Self.maximumLinks
        _ = try resolve(path, from: "/", isEnd: true, &links)
    }

    /// - Parameters:
    ///   - isEnd: whether the last name is the one to check, and not a folder on the way to it.
    /// - Returns: the path without links; nil if a part is missing.
    private func resolve(
        _ path: String, from base: String, isEnd: Bool, _ links: inout Int
    ) throws(PathTrustError) -> String? {
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        var place = path.utf8.first == UInt8(ascii: "/") ? "/" : base
        // The target of an absolute link is checked from `/` as well.
        if place == "/" { _ = try look(at: "/", isEnd: isEnd && names.isEmpty) }
        for (index, name) in names.enumerated() where name != "." {
            if name == ".." {
                place = SmallFile.folder(of: place)
                continue
            }
            let next = place == "/" ? "/" + name : place + "/" + name
            let isLast = isEnd && index == names.count - 1
            switch try look(at: next, isEnd: isLast) {
            case .missing: return nil
            case .thing: place = next
            case .link(let target):
                links -= 1
                guard links > 0 else { return nil }
                guard let end = try resolve(target, from: place, isEnd: isLast, &links) else { return nil }
                place = end
            }
        }
        return place
    }

    private enum Look {
        case missing
        case thing
        case link(to: String)
    }

    private func look(at path: String, isEnd: Bool) throws(PathTrustError) -> Look {
        var status = stat()
        // A file that cannot be examined cannot be used either: using it reports the error.
        guard lstat(path, &status) == 0 else { return .missing }
        let isLink = status.st_mode & S_IFMT == S_IFLNK
        guard status.st_uid == user || status.st_uid == 0 else {
            throw .owner(path, status.st_uid, isLink: isLink, user: user)
        }
        if isLink { return Self.target(of: path).map { .link(to: $0) } ?? .missing }
        var others = status.st_mode & (S_IWGRP | S_IWOTH)
        let keepsOthersOut = !isEnd && status.st_mode & S_ISVTX != 0
        if others == 0 || keepsOthersOut { return .thing }
        // Looked up only if it matters: groups may come from a remote server.
        if others & S_IWGRP != 0, status.st_gid == ownGroup { others &= ~S_IWGRP }
        guard others == 0 else {
            throw .mode(path, status.st_mode & 0o7777, others, user: user, disk: MountedDisk.type(of: status.st_dev))
        }
        return .thing
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// The user's primary group, if it has the user's name and no other member.
    private var ownGroup: gid_t? {
        guard let entry = getpwuid(user)?.pointee, let name = entry.pw_name.map({ String(cString: $0) }),
            let group = getgrgid(entry.pw_gid)?.pointee, strcmp(group.gr_name, name) == 0
        else { return nil }
        var member = group.gr_mem
        while let word = member?.pointee {
            guard strcmp(word, name) == 0 else { return nil }
            member = member?.successor()
        }
        return entry.pw_gid
    }
}

/// Another user could change a file that Waft trusts.
package struct PathTrustError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line.
    package let reason: String
    private let remedy: String

    /// One line, with the command that repairs it.
    package var description: String { "\(reason); \(remedy)" }

    static func owner(_ path: String, _ owner: uid_t, isLink: Bool, user: uid_t) -> PathTrustError {
        let what = isLink ? "the link \(path) was made by" : "\(path) belongs to"
        return PathTrustError(
            reason: "\(what) another user (uid \(owner)), who could change what Waft does",
            remedy: "use another folder, or: chown \(isLink ? "-h " : "")\(user) \(ShellWord.quoted(path))")
    }

    /// - Parameter disk: the type of its file system; nil if it is unknown.
    static func mode(
        _ path: String, _ mode: mode_t, _ others: mode_t, user: uid_t, disk: String?
    ) -> PathTrustError {
        let who = others & S_IWOTH != 0 ? "every user" : "every member of its group"
        let digits = String(mode, radix: 8)
        let change = (others & S_IWGRP != 0 ? "g" : "") + (others & S_IWOTH != 0 ? "o" : "")
        // There chmod may change nothing, and may say that it did.
        let mount = disk.flatMap { disk in
            MountedDisk.mayDecideModes(disk)
                ? "; if that changes nothing, mount its disk (\(disk)) with the options uid=\(user),umask=022" : nil
        }
        return PathTrustError(
            reason:
                "\(who) can write to \(path) (mode \(String(repeating: "0", count: 4 - digits.count))\(digits)), "
                + "and could change what Waft does",
            remedy: "fix it with: chmod \(change)-w \(ShellWord.quoted(path))" + (mount ?? ""))
    }
}

/// The file systems that are mounted, by /proc/self/mountinfo.
package enum MountedDisk {
    /// - Parameter device: `st_dev`.
    /// - Returns: the type of the file system, such as `ext4` or `fuse.bindfs`; nil if it is not found.
    package static func type(of device: UInt) -> String? {
        guard let bytes = try? SmallFile.read("/proc/self/mountinfo", limit: 4 << 20) else { return nil }
        return type(of: device, in: String(decoding: bytes, as: UTF8.self))
    }

    static func type(of device: UInt, in table: String) -> String? {
        // As gnu_dev_major(3) and gnu_dev_minor(3).
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 6, words[2] == "\(major):\(minor)", let dash = words.firstIndex(of: "-") else {
                continue
            }
            return words[(dash + 1)...].first.map(String.init)
        }
        return nil
    }

    /// Whether the options of the mount may decide the modes of all files, whatever chmod says.
    package static func mayDecideModes(_ type: String) -> Bool {
        type.hasPrefix("fuse")
            || ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "cifs", "smb3", "9p", "vboxsf"].contains(type)
    }
}
