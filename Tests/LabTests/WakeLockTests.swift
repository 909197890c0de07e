import FakeLogind
import Foundation
import Subprocess
import TestSupport
import Testing

/// The inhibitor locks that the real programs take, from a fake logind.
@Suite("The machine is kept awake", .serialized, .timeLimit(.minutes(3)))
struct WakeLockTests {
    private struct Places: Sendable {
        var folder: String
        var kitchen: Host
        var study: Host
        /// Each host's own.
        var logindOfKitchen: FakeLogind
        var logindOfStudy: FakeLogind
        var gate: String

        /// Pipes data to the other side that stops in the middle until the gate is opened.
        func sending(
            to receiver: RunningReceiver, _ body: @Sendable @escaping (RunningProgram) async throws -> Void
        ) async throws -> Int {
            let script = """
                { head -c 1048576 /dev/zero; cat '\(gate)'; head -c 4194304 /dev/zero; } \
                    | exec '\(Programs.waft)' send - --name pipe.bin --timeout 5 --to \(receiver.address)
                """
            return try await study.withProgram("/bin/sh", ["-c", script], body).exit
        }

        func openGate() { close(open(gate, O_WRONLY)) }
    }

    private func withPlaces(_ body: (Places) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let logind = (try await FakeLogind(), try await FakeLogind())
            defer {
                logind.0.end()
                logind.1.end()
            }
            var (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            kitchen.environment["DBUS_SYSTEM_BUS_ADDRESS"] = logind.0.address
            study.environment["DBUS_SYSTEM_BUS_ADDRESS"] = logind.1.address
            let gate = folder + "/gate"
            try #require(mkfifo(gate, 0o600) == 0)
            try await body(
                Places(
                    folder: folder, kitchen: kitchen, study: study, logindOfKitchen: logind.0, logindOfStudy: logind.1,
                    gate: gate))
        }
    }

    /// The events of the two locks.
    private static let taken = ["idle", "sleep"].map { what in
        FakeLogind.Heard.inhibit([what, "Waft", "Something is being sent or received", "block"])
    }

    /// Waits until both sides hold the locks, and checks that neither has released them.
    private func heldByBoth(_ places: Places) async throws {
        for logind in [places.logindOfKitchen, places.logindOfStudy] {
            for taken in Self.taken { try await logind.heard.first { $0 == taken } }
            #expect(!logind.heard.all.contains(.released))
        }
    }

    private func releasedByBoth(_ places: Places) async throws {
        for logind in [places.logindOfKitchen, places.logindOfStudy] {
            try await eventually { logind.heard.all.count { $0 == .released } == 2 }
            // Two locks, for the whole transfer. A notification of the arrival asks whether the screen is locked.
            #expect(logind.heard.all.filter { $0 != .askedForHint } == [.ready] + Self.taken + [.released, .released])
        }
    }

    @Test("on both sides while something is moved, and not after it")
    func whole() async throws {
        try await withPlaces { places in
            try await places.kitchen.withReceiver { kitchen in
                #expect(places.logindOfKitchen.heard.all == [.ready])
                let exit = try await places.sending(to: kitchen) { _ in
                    _ = try await kitchen.log.first("progress")
                    try await heldByBoth(places)
                    places.openGate()
                    _ = try await kitchen.log.first("stored")
                }
                #expect(exit == 0)
                try await releasedByBoth(places)
            }
        }
    }

    @Test("until the sender is killed")
    func senderKilled() async throws {
        try await withPlaces { places in
            try await places.kitchen.withReceiver { kitchen in
                _ = try await places.sending(to: kitchen) { sender in
                    _ = try await kitchen.log.first("progress")
                    try await heldByBoth(places)
                    // The processes that the shell has started, the sender among them.
                    let shell = sender.process.value
                    let children = try String(contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8)
                    for child in children.split(separator: " ").compactMap({ Int32($0) }) { kill(child, SIGKILL) }
                    // One of them has started the process that waits at the gate; without it the loop ends.
                    close(open(places.gate, O_RDWR))
                    try await releasedByBoth(places)
                }
            }
        }
    }

    @Test("until the receiver is killed and the sender has given up")
    func receiverKilled() async throws {
        try await withPlaces { places in
            try await places.kitchen.withReceiver { kitchen in
                let exit = try await places.sending(to: kitchen) { _ in
                    _ = try await kitchen.log.first("progress")
                    try await heldByBoth(places)
                    kitchen.signal(.kill)
                    places.openGate()
                }
                #expect(exit == 11)
                try await releasedByBoth(places)
            }
        }
    }

    @Test("while the daemon sends a job of its outbox, and not while a job only waits or needs an answer")
    func outbox() async throws {
        try await withPlaces { places in
            let path = places.folder + "/a.bin"
            try "".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(truncate(path, 50_000_000) == 0)
            try await places.kitchen.withReceiver(Programs.waftd, []) { kitchen in
                try await places.kitchen.becomeVisible()
                let queued = try await places.study.run(
                    arguments: ["send", path, "--to", kitchen.address, "--queue"])
                #expect(queued.exit == 0, "\(queued.errors)")
                try await places.study.withReceiver(Programs.waftd, []) { daemon in
                    _ = try await kitchen.log.first("offer")
                    #expect(places.logindOfStudy.heard.all == [.ready])
                    #expect(places.logindOfKitchen.heard.all == [.ready])
                    let answer = try await places.kitchen.run(arguments: ["accept", "1"])
                    #expect(answer.exit == 0, "\(answer.errors)")
                    try await daemon.log.error(containing: "state=done")
                    try await releasedByBoth(places)
                }
            }
        }
    }
}
