import DBusClient
import Foundation
import TestSupport
import Testing

/// A gnome-keyring-daemon on a session bus of its own, with a home of its own. Its collection is open at first.
final class RealKeyring: Sendable {
    let address: BusAddress
    private let folder = TemporaryFolder()
    private let bus: TestBus
    private let daemon: TestProcess
    private let client: BusClient
    private let environment: [String: String]

    init() async throws {
        bus = try await TestBus()
        address = try #require(BusAddress.session(bus.environment))
        client = try await BusClient.connect(to: address, limits: BusLimits(messageBytes: 64 << 10))
        let changes = try await client.signals(BusMatch.owner(of: "org.freedesktop.secrets")) { $0.string() }
        mkdir(folder / "run", 0o700)
        environment = bus.environment.merging(["HOME": folder.path, "XDG_RUNTIME_DIR": folder / "run"]) { $1 }
        let password = folder.file("password", "correct horse", mode: 0o600)
        daemon = try TestProcess(
            "/bin/sh",
            [
                "-c", "exec gnome-keyring-daemon --unlock --foreground --components=secrets <\"$0\"", password,
            ], environment: environment)
        for await _ in changes { break }
        // It has its name a moment before it can answer.
        let question = BusCall(
            to: "org.freedesktop.secrets", path: "/org/freedesktop/secrets",
            interface: "org.freedesktop.Secret.Service", member: "ReadAlias"
        ) { $0.string("default") }
        while (try? await client.call(question, reading: { $0.objectPath() })) == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Locks its collection.
    func lock() async throws {
        let call = BusCall(
            to: "org.freedesktop.secrets", path: "/org/freedesktop/secrets",
            interface: "org.freedesktop.Secret.Service", member: "Lock"
        ) { arguments in
            arguments.array(of: "o") { $0.objectPath("/org/freedesktop/secrets/collection/login") }
        }
        let locked = try await client.call(call) { $0.objectPaths(most: 2) }
        try #require(locked.count == 1)
    }

    /// Runs secret-tool.
    ///
    /// - Returns: its output, then a space and its exit code.
    func secretTool(_ words: String) async throws -> String {
        let shell = try TestProcess(
            "/bin/sh", ["-c", "secret-tool \(words) 2>/dev/null; echo \" $?\""], environment: environment)
        return await shell.end().joined(separator: "\n")
    }

    func end() async {
        await daemon.kill()
        await bus.kill()
    }
}
