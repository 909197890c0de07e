import Foundation
import Glibc
import Inbox
import Lines
import Settings
import Sharing
import SystemCalls

/// The user's folder for pictures (`XDG_PICTURES_DIR`).
struct PicturesFolder {
    private let path: String
    private let folder: OpenFolder

    /// Numbers tried for a name that is taken.
    private static let maximumTries = 10_000

    /// Absolute; nil if no variable and no file names it. The folder may be missing.
    static var path: String? {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].flatMap { PathText.isAbsolute($0) ? $0 : nil }
        if let path = environment["XDG_PICTURES_DIR"], PathText.isAbsolute(path) { return path }
        let configuration = environment["XDG_CONFIG_HOME"].flatMap { PathText.isAbsolute($0) ? $0 : nil }
        guard let home else { return nil }
        let file = (configuration ?? home + "/.config") + "/user-dirs.dirs"
        return UserDirectories.path(of: "XDG_PICTURES_DIR", in: file, home: home) ?? home + "/Pictures"
    }

    /// Opens the folder; makes it if it is missing.
    init(_ path: String) throws(WaftError) {
        do throws(SystemError) {
            try FolderMaking.make(path)
            folder = OpenFolder(try FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY))
            self.path = path
            // Files of processes that died while they saved.
            OldFiles.sweep(path, Self.prefix) { unlinkat(folder.raw, $0, 0) }
        } catch {
            throw WaftError(.unexpected, "\(path): \(error)")
        }
    }

    private static let prefix = ".waft-saving-"

    /// Saves an item that is one file, durably, under its own name or with a number.
    /// - Returns: the absolute path.
    func save(_ item: ShareItems.Item) throws(WaftError) -> String {
        // Hidden, and of this process alone.
        let temporary = "\(Self.prefix)\(getpid())"
        unlinkat(folder.raw, temporary, 0)
        defer { unlinkat(folder.raw, temporary, 0) }
        try item.write(to: temporary, in: folder.raw)
        let name = try place(temporary, item.offered.name)
        fsync(folder.raw)
        return PathText.joined(path, name.text)
    }

    private func place(_ temporary: String, _ name: SafeName) throws(WaftError) -> SafeName {
        for number in 0..<Self.maximumTries {
            let name = number == 0 ? name : name.numbered(number)
            do throws(SystemError) {
                try Placement.byRename.move(temporary, isFolder: false, from: folder.raw, to: name.text, in: folder.raw)
                return name
            } catch {
                guard error.number == EEXIST else {
                    throw WaftError(.unexpected, "\(path): \(error)")
                }
            }
        }
        throw WaftError(.unexpected, "\(path): too many files have this name")
    }
}
