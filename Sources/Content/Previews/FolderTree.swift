import CLinuxShims
import Glibc

/// The names in a folder, a few levels deep. Links are not followed.
package struct FolderTree: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// With its bytes.
            case file(UInt64)
            case folder
            case link
            /// A device, a socket, a pipe.
            case other
            /// Stands for as many further names of its folder, which are left out.
            case omitted(Int)
        }

        /// 0 for the names in the folder itself.
        package let level: Int
        /// Bytes that are not UTF-8 are replaced.
        package let name: String
        package let kind: Kind
    }

    /// In the order of a tree: a folder before its contents, names in the order of their bytes.
    package private(set) var entries: [Entry] = []
    /// Whether names are left out.
    package private(set) var isCut = false

    /// - Parameter path: of a folder; it may be a link to one.
    /// - Returns: nil if it cannot be read.
    package init?(path: String) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        add(owning: folder, level: 0)
    }

    private mutating func add(owning descriptor: Int32, level: Int) {
        guard let folder = fdopendir(descriptor) else {
            close(descriptor)
            return
        }
        defer { closedir(folder) }
        let names = names(in: folder)
        for (index, name) in names.enumerated() {
            guard index < PreviewBounds.namesOfOneFolder, entries.count < PreviewBounds.folderNames else {
                isCut = true
                entries.append(Entry(level: level, name: "", kind: .omitted(names.count - index)))
                return
            }
            let (kind, inner) = look(at: name, in: descriptor, opens: level + 1 < PreviewBounds.levels)
            let text = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
            entries.append(Entry(level: level, name: text, kind: kind))
            if let inner { add(owning: inner, level: level + 1) }
        }
    }

    /// With their NUL.
    private mutating func names(in folder: OpaquePointer) -> [[CChar]] {
        var names: [[CChar]] = []
        while let entry = readdir(folder) {
            guard let name = CLinuxShims_dirent_name(entry), strcmp(name, ".") != 0, strcmp(name, "..") != 0 else {
                continue
            }
            guard names.count < PreviewBounds.namesRead else {
                isCut = true
                break
            }
            names.append(Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)))
        }
        return names.sorted { strcmp($0, $1) < 0 }
    }

    /// - Returns: the kind, and the folder, open, if its contents are wanted.
    private func look(at name: [CChar], in folder: Int32, opens: Bool) -> (Entry.Kind, Int32?) {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return (.other, nil) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return (.file(UInt64(max(0, status.st_size))), nil)
        case S_IFLNK: return (.link, nil)
        case S_IFDIR:
            let inner = opens ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1
            return (.folder, inner >= 0 ? inner : nil)
        default: return (.other, nil)
        }
    }
}
