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
    init(_ path: String) throws(CommandError) {
        do throws(SystemError) {
            try FolderMaking.make(path)
            folder = OpenFolder(try FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY))
            self.path = path
            sweep()
        } catch {
            throw CommandError(.unexpected, "\(TerminalText.escaped(path, limit: 1_000)): \(error)")
        }
    }

    private static let prefix = ".waft-saving-"
    /// Seconds after which a file is surely of a process that died.
    private static let oldSeconds: TimeInterval = 86_400

    /// Removes the files of processes that died while they saved.
    private func sweep() {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: path)) ?? [] where name.hasPrefix(Self.prefix) {
            let written =
                (try? files.attributesOfItem(atPath: PathText.joined(path, name)))?[.modificationDate] as? Date
            guard let written, written.timeIntervalSinceNow < -Self.oldSeconds else { continue }
            unlinkat(folder.raw, name, 0)
        }
    }

    /// Saves an item that is one file, durably, under its own name or with a number.
    /// - Returns: the absolute path.
    func save(_ item: ShareItems.Item) throws(CommandError) -> String {
        // Hidden, and of this process alone.
        let temporary = "\(Self.prefix)\(getpid())"
        unlinkat(folder.raw, temporary, 0)
        defer { unlinkat(folder.raw, temporary, 0) }
        try item.write(to: temporary, in: folder.raw)
        let name = try place(temporary, item.offered.name)
        fsync(folder.raw)
        return PathText.joined(path, name.text)
    }

    private func place(_ temporary: String, _ name: SafeName) throws(CommandError) -> SafeName {
        for number in 0..<Self.maximumTries {
            let name = number == 0 ? name : name.numbered(number)
            do throws(SystemError) {
                try Placement.byRename.move(temporary, isFolder: false, from: folder.raw, to: name.text, in: folder.raw)
                return name
            } catch {
                guard error.number == EEXIST else {
                    throw CommandError(.unexpected, "\(TerminalText.escaped(path, limit: 1_000)): \(error)")
                }
            }
        }
        throw CommandError(.unexpected, "\(TerminalText.escaped(path, limit: 1_000)): too many files have this name")
    }
}
