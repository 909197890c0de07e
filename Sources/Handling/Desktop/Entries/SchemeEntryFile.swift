import Foundation
import Glibc
import Programs
package import SystemCalls

/// The file of the `SchemeEntry` of one user.
///
/// All calls may block on the disk.
package struct SchemeEntryFile: Sendable {
    /// The state of the file.
    package enum State: Hashable, Sendable {
        case missing
        case written(SchemeEntry)
        /// Another program or a person has written it.
        case foreign
    }

    /// Bytes of a file that Waft writes; a larger one is foreign.
    private static let maximumBytes = 1 << 20
    /// How long the desktop's tool may take.
    private static let timeout: Duration = .seconds(20)

    /// Absolute.
    package let path: String

    /// - Parameter environment: `XDG_DATA_HOME` or `HOME` names the folder.
    /// - Returns: nil if neither is an absolute path.
    package init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let data = folder("XDG_DATA_HOME") ?? folder("HOME").map({ $0 + "/.local/share" }) else { return nil }
        path = data + "/applications/" + SchemeEntry.fileName
    }

    package func read() throws(SystemError) -> State {
        do throws(SmallFile.AccessError) {
            let bytes = try SmallFile.read(path, limit: Self.maximumBytes)
            return SchemeEntry(reading: String(decoding: bytes, as: UTF8.self)).map { .written($0) } ?? .foreign
        } catch {
            switch error {
            case .missing: return .missing
            case .link, .notRegular, .tooLarge: return .foreign
            case .system(let error): throw error
            }
        }
    }

    /// Writes the entry, and replaces an existing file.
    package func write(_ entry: SchemeEntry) throws(SystemError) {
        try FolderMaking.make(SmallFile.folder(of: path))
        try SmallFile.replace(path, with: Array(entry.text.utf8), mode: 0o644)
    }

    package func remove() throws(SystemError) {
        try systemCall { unlink(path) }
        try SmallFile.syncFolder(SmallFile.folder(of: path))
    }

    /// Gives an entry that is there the schemes of the present handlers. Does nothing to any other file.
    /// - Parameters:
    ///   - schemes: of the handlers.
    ///   - home: `WAFT_HOME` as an absolute path; nil for the usual one. An entry of another home is left alone.
    /// - Returns: whether the entry was changed.
    @discardableResult
    package func refresh(schemes: [String], home: String?) async throws(SystemError) -> Bool {
        guard case .written(let entry) = try read(), entry.isOf(home: home) else { return false }
        let fresh = entry.with(schemes: schemes)
        guard fresh != entry else { return false }
        try write(fresh)
        await updateDatabase()
        return true
    }

    /// Lets the desktop read its entries again, by `update-desktop-database`.
    /// - Returns: whether the tool is there and has done it.
    @discardableResult
    package func updateDatabase() async -> Bool {
        let program = Program("update-desktop-database", ["-q", SmallFile.folder(of: path)])
        guard let running = try? await program.start() else { return false }
        if case .exited(let exit) = await running.ending(within: Self.timeout) { return exit == .code(0) }
        await running.end([EndStep(SIGKILL, .seconds(10))])
        return false
    }
}
