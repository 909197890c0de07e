import Digests
import Glibc
import Lines
import SystemCalls

/// The file of a unit. Its first line shows a later `waft service` whether anybody has changed it.
struct UnitFile {
    let path: String

    private static let mark = "# Written by waft service install; put changes into a drop-in: systemctl edit. Check: "
    private static let longest = 64 << 10

    enum Owner {
        case nobody
        case waft
        /// Another program, or a person who has changed it.
        case other
    }

    /// The writer of the present file.
    var owner: Owner {
        do throws(SmallFile.AccessError) {
            let text = String(decoding: try SmallFile.read(path, limit: Self.longest), as: UTF8.self)
            guard let end = text.firstIndex(of: "\n") else { return .other }
            let unit = String(text[text.index(after: end)...])
            return text == Self.marked(unit) ? .waft : .other
        } catch {
            return error == .missing ? .nobody : .other
        }
    }

    /// - Throws: `CommandError` if another one has written it.
    func requireOwn(orForced force: Bool) throws(CommandError) {
        guard owner == .other, !force else { return }
        throw CommandError(
            .usage, "\(TerminalText.escaped(path, limit: 1_000)) was written by another hand, and is not touched",
            hint: "with --force it is replaced or removed all the same")
    }

    func write(_ unit: String) throws(CommandError) {
        do throws(SystemError) {
            try FolderMaking.make(SmallFile.folder(of: path))
            try SmallFile.replace(path, with: Array(Self.marked(unit).utf8), mode: 0o644)
            // With any umask: the service manager of the machine is another user.
            try systemCall { chmod(path, 0o644) }
        } catch {
            throw CommandError(.unexpected, "\(TerminalText.escaped(path, limit: 1_000)) cannot be written: \(error)")
        }
    }

    func remove() throws(CommandError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            let reason = SystemError.last
            throw CommandError(.unexpected, "\(TerminalText.escaped(path, limit: 1_000)) cannot be removed: \(reason)")
        }
        // The folder of drop-ins, unless it has others.
        if path.hasSuffix(".conf") { rmdir(SmallFile.folder(of: path)) }
    }

    private static func marked(_ unit: String) -> String { "\(mark)\(Digest.of(.xxh3_128, Array(unit.utf8)))\n\(unit)" }
}
