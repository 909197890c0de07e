import Foundation
import Glibc
package import Lines
package import Logging
package import Operations
import Sharing
import SystemCalls
package import UniformTypes
import WebPages

/// The desk while it runs: two ports of loopback, for the pages and for the previews.
package struct DeskListener: Sendable {
    private let pages: LoopbackPages
    private let previews: LoopbackPages
    private let server: DeskServer
    private let previewServer: PreviewServer
    private let door: DeskDoor
    private let openWindows: DeskWindows
    private let folder: DeskFolder

    /// Binds both ports.
    /// - Parameters:
    ///   - strict: the Waft with the settings as they are now. It throws for settings with faults.
    ///   - forgiving: the same, where settings with faults have their defaults.
    ///   - settings: all settings, with rules in words.
    ///   - types: all that are known.
    ///   - run: the private folder of the session.
    ///   - shared: absolute paths that are to be shared.
    /// - Throws: `ListenerError`, `SystemError`.
    package static func bind(
        program: OwnProgram, strict: @escaping @Sendable () throws(WaftError) -> Waft,
        forgiving: @escaping @Sendable () throws(WaftError) -> Waft,
        settings: @escaping @Sendable (Waft) -> [SettingLine], name: String, version: String, shared: [String],
        types: @escaping @Sendable () -> TypeRegistry, run: String, logger: Logger
    ) async throws -> DeskListener {
        let (pages, previews) = (try await LoopbackPages.bind(logger), try await LoopbackPages.bind(logger))
        let folder = try DeskFolder(in: run)
        let (door, windows) = (DeskDoor(), DeskWindows())
        let host = DeskServer.Host(
            program: program, strict: strict, forgiving: forgiving, settings: settings, door: door, windows: windows,
            authorities: pages.authorities, previews: "http://127.0.0.1:\(previews.port)", name: name,
            version: version, shared: shared, types: types)
        return DeskListener(
            pages: pages, previews: previews, server: DeskServer(host),
            previewServer: PreviewServer(host, authorities: previews.authorities), door: door,
            openWindows: windows, folder: folder)
    }

    /// Of the pages.
    package var port: Int { pages.port }

    /// The address of a new window: with a secret of one use in the fragment, which browsers send nowhere.
    package func makeAddress() -> String { "http://127.0.0.1:\(pages.port)/#\(door.makeSecret())" }

    /// A private file that leads a browser to a new window. An argument with the address could be read by other users.
    /// - Throws: `SystemError`.
    package func makeDoorFile() throws -> String {
        let path = folder.path + "/open.html"
        let page = """
            <!doctype html><meta charset="utf-8"><title>Waft</title><meta http-equiv="refresh" content="0;url=\(makeAddress())">

            """
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(page.utf8), attributes: [.posixPermissions: 0o600])
        else { throw SystemError.last }
        return path
    }

    /// Serves until no window has been open for `grace`, or the task is cancelled. Then nothing listens, and nothing is left.
    package func run(grace: Duration = .seconds(180)) async {
        defer { folder.remove() }
        await serve(grace)
        // The windows are closed, and their sendings cancelled.
        await server.sendings.leave(within: .milliseconds(500))
    }

    private func serve(_ grace: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await pages.serve { await server.serve($0) } }
            group.addTask { await previews.serve { await previewServer.serve($0) } }
            group.addTask { await openWindows.waitUntilClosed(for: grace) }
            await group.next()
            group.cancelAll()
        }
    }
}

/// The private folder of a desk. Its lock shows that the desk lives: the next desk removes the folders of desks that were
/// killed.
final class DeskFolder: Sendable {
    private static let prefix = "desk-"

    let path: String
    /// Owned; the lock is on it.
    private let descriptor: Int32

    /// - Parameter run: the private folder of the session.
    /// - Throws: `SystemError`.
    init(in run: String) throws(SystemError) {
        // One desk at a time: a folder that has no lock yet would seem to be of a desk that was killed.
        let gate = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard gate >= 0 else { throw .last }
        defer { close(gate) }
        try systemCall { flock(gate, LOCK_EX) }
        Self.sweep(run)
        path = run + "/" + Self.prefix + WebSecret.make()
        let path = path
        try systemCall { mkdir(path, 0o700) }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .last }
    }

    deinit { close(descriptor) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func sweep(_ run: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: run)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = run + "/" + name
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
