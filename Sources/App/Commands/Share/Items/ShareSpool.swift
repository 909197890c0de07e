import Foundation
import Glibc
import Lines
import Sharing
import Synchronization
import SystemCalls

/// A folder for the files that are made for an activity. It is made when the first one is, and removed with this object.
final class ShareSpool: Sendable {
    private struct State {
        var folder: String?
        var count = 0
        var isKept = false
    }

    /// A folder that another program may still read goes after this many seconds.
    private static let keptSeconds: TimeInterval = 86_400

    private let parent: String
    private let state = Mutex(State())

    /// - Parameter parent: absolute path of a folder of its own; made if it is missing.
    init(in parent: String) {
        self.parent = parent
    }

    deinit {
        state.withLock { state in
            guard let folder = state.folder, !state.isKept else { return }
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    /// Absolute path; nil as long as no file was made.
    var folder: String? { state.withLock { $0.folder } }

    /// Leaves the files: another program reads them later. They go a day after this, at the next call of `add`.
    func keep() {
        state.withLock { $0.isKept = true }
    }

    /// Makes the file of an item, private to this user.
    /// - Returns: its absolute path.
    /// - Throws: `CommandError`; then no file is left.
    func add(_ item: ShareItems.Item) throws(CommandError) -> String {
        let folder = try makeFolder()
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        // Each in a folder of its own: two items may have one name.
        let path = "\(folder)/\(number)"
        guard mkdir(path, 0o700) == 0 else { throw failure(path) }
        let raw = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { throw failure(path) }
        defer { close(raw) }
        try item.write(to: item.offered.name.text, in: raw)
        return "\(path)/\(item.offered.name.text)"
    }

    private func makeFolder() throws(CommandError) -> String {
        if let folder = state.withLock({ $0.folder }) { return folder }
        do throws(SystemError) {
            try FolderMaking.make(parent)
        } catch {
            throw CommandError(.unexpected, "\(TerminalText.escaped(parent, limit: 1_000)): \(error)")
        }
        sweep()
        var template = Array((parent + "/share.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw failure(parent) }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        state.withLock { $0.folder = folder }
        return folder
    }

    /// Removes the folders of earlier activities.
    private func sweep() {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix("share.") {
            let path = parent + "/" + name
            let made = (try? files.attributesOfItem(atPath: path))?[.modificationDate] as? Date
            guard let made, made.timeIntervalSinceNow < -Self.keptSeconds else { continue }
            try? files.removeItem(atPath: path)
        }
    }

    private func failure(_ path: String) -> CommandError {
        CommandError(.unexpected, "\(TerminalText.escaped(path, limit: 1_000)): \(SystemError.last)")
    }
}
