import Foundation
import Subprocess
import Testing

/// Transfers that are cut by killing either program, and resumed, with the real programs on loopback.
@Suite("A transfer that was cut", .serialized, .timeLimit(.minutes(10)))
struct ResumeTests {
    private static let size: UInt64 = 2 << 30
    /// The maximum number of bytes that are sent again after a cut.
    private static let most = size / 100 * 12
    private static let arguments = ["receive", "--accept", "everyone", "--name", "kitchen"]

    /// Writes a file of different mebibytes.
    private func makeFile(_ path: String, _ size: UInt64) throws {
        var random = SystemRandomNumberGenerator()
        var piece = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
            for start in stride(from: 0, to: buffer.count, by: 8) {
                UnsafeMutableRawBufferPointer(buffer).storeBytes(
                    of: random.next(), toByteOffset: start, as: UInt64.self)
            }
            count = buffer.count
        }
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        for _ in 0..<(size >> 20) {
            piece.withUnsafeMutableBytes { $0.storeBytes(of: random.next(), as: UInt64.self) }
            try file.write(contentsOf: piece)
        }
        try file.close()
    }

    private func areSame(_ first: String, _ second: String) async throws -> Bool {
        try await Host.loopback("/").run("/usr/bin/cmp", ["--silent", first, second]).exit == 0
    }

    private static func events(_ text: String) -> [Event] {
        text.split(separator: "\n").compactMap { Event(line: String($0)) }
    }

    /// Waits until a sender has sent this number of bytes.
    /// - Returns: the exact number.
    private func progress(of sender: RunningProgram, to bytes: UInt64) async throws -> UInt64 {
        try await sender.transcript.first("progress to \(bytes)") { text in
            // The last line may be incomplete.
            Self.events(String(text.suffix(8_192))).compactMap(\.bytes).max().flatMap { $0 >= bytes ? $0 : nil }
        }
    }

    private func send(_ path: String, to receiver: RunningReceiver) -> [String] {
        ["send", path, "--to", receiver.address, "--json"]
    }

    /// Calls `round` until the cut came in time: on a busy machine a transfer may be over before it is cut.
    private func untilCut(_ round: (_ folder: String, _ path: String) async throws -> Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/large.bin"
            try makeFile(path, Self.size)
            var number = 1
            while try await !round(folder + "/\(number)", path) { number += 1 }
        }
    }

    @Test("a receiver that was killed at 90 % of 2 GiB gets the rest from the same command")
    func receiverKilled() async throws {
        try await untilCut { folder, path in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            return try await kitchen.withReceiver(Programs.waft, Self.arguments, port: freePort()) { first in
                let sent = try await study.withProgram(Programs.waft, send(path, to: first)) { sender -> Bool in
                    _ = try await progress(of: sender, to: Self.size / 10 * 9)
                    first.signal(.kill)
                    await first.log.ended()
                    guard await first.log.count("stored") == 0 else { return false }
                    let again = Self.arguments + ["--port", "\(first.port)"]
                    try await kitchen.withReceiver(Programs.waft, again) { second in
                        _ = try await second.log.first("stored")
                        #expect(try await areSame(path, second.inbox + "/large.bin"))
                        try await sender.transcript.says("\"event\":\"done\"")
                        #expect(try second.names() == ["large.bin"])
                        #expect(try second.staged() == [] && second.kept() == [])
                    }
                    return true
                }
                guard sent.result else { return false }
                #expect(sent.exit == 0, "\(sent.text.suffix(2_000))")
                let moved = try #require(Self.events(sent.text).compactMap(\.moved).last)
                print("killed receiver: \(moved - Self.size) bytes were sent again")
                #expect(moved - Self.size < Self.most)
                return true
            }.result
        }
    }

    @Test("a sender that was killed at 90 % of 2 GiB sends the rest when it is called again")
    func senderKilled() async throws {
        try await untilCut { folder, path in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            return try await kitchen.withReceiver(Programs.waft, Self.arguments) { receiver in
                let (had, exit, _) = try await study.withProgram(Programs.waft, send(path, to: receiver)) { sender in
                    defer { kill(sender.process.value, SIGKILL) }
                    return try await progress(of: sender, to: Self.size / 10 * 9)
                }
                guard exit != 0 else { return false }
                #expect(exit == 128 + Int(SIGKILL))
                let again = try await study.run(arguments: send(path, to: receiver))
                #expect(again.exit == 0, "\(again.errors)")
                #expect(try await areSame(path, receiver.inbox + "/large.bin"))
                #expect(try receiver.names() == ["large.bin"])
                #expect(try receiver.staged() == [] && receiver.kept() == [])
                let moved = try #require(again.events.compactMap(\.moved).last)
                print("killed sender: \(moved) bytes were left to send, \(had) had been handed over")
                #expect(moved + had < Self.size + Self.most)
                return true
            }.result
        }
    }

    @Test("a tree of 10,000 files continues after its receiver was killed, and moves nothing when it is sent once more")
    func tree() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            let tree = folder + "/tree"
            for group in 0..<100 {
                try FileManager.default.createDirectory(
                    atPath: "\(tree)/\(group)", withIntermediateDirectories: true)
                for number in 0..<100 {
                    let text = String(repeating: "\(group) \(number) ", count: 400)
                    try text.write(toFile: "\(tree)/\(group)/\(number)", atomically: false, encoding: .utf8)
                }
            }
            try await kitchen.withReceiver(Programs.waft, Self.arguments, port: freePort()) { first in
                let sent = try await study.withProgram(Programs.waft, send(tree, to: first)) { sender in
                    _ = try await progress(of: sender, to: 4_000_000)
                    first.signal(.kill)
                    let again = Self.arguments + ["--port", "\(first.port)"]
                    try await kitchen.withReceiver(Programs.waft, again) { second in
                        _ = try await second.log.first("stored")
                        try await sender.transcript.says("\"event\":\"done\"")
                        let same = try await study.run(
                            "/usr/bin/diff", ["--recursive", "--brief", tree, second.inbox + "/tree"])
                        #expect(same.exit == 0, "\(same.output)")
                        #expect(try second.names() == ["tree"])
                        #expect(try second.staged() == [] && second.kept() == [])
                        let more = try await study.run(arguments: send(tree, to: first))
                        #expect(more.exit == 0, "\(more.errors)")
                        #expect(more.events.first { $0.event == "stored" }?.alreadyThere == true)
                        #expect(more.events.compactMap(\.moved) == [0])
                        #expect(try second.names() == ["tree"])
                    }
                }
                #expect(sent.exit == 0, "\(sent.text.suffix(2_000))")
            }
        }
    }

    @Test("standard input cannot be read again: the sender reports it and ends with 11")
    func standardInput() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            // The piped input stops in the middle until the gate is opened.
            let gate = folder + "/gate"
            try #require(mkfifo(gate, 0o600) == 0)
            try await kitchen.withReceiver(Programs.waft, Self.arguments, port: freePort()) { first in
                let script = """
                    { head -c 1048576 /dev/zero; cat '\(gate)'; head -c 4194304 /dev/zero; } \
                        | '\(Programs.waft)' send - --name pipe.bin --to \(first.address)
                    """
                let sent = try await study.withProgram("/bin/sh", ["-c", script]) { sender in
                    _ = try await first.log.first("progress")
                    first.signal(.kill)
                    let again = Self.arguments + ["--port", "\(first.port)"]
                    try await kitchen.withReceiver(Programs.waft, again) { second in
                        // The sender notices it when it has more to send.
                        close(open(gate, O_WRONLY))
                        try await sender.transcript.says("the contents cannot be read again")
                        #expect(try second.names() == [] && second.staged() == [] && second.kept() == [])
                    }
                }
                #expect(sent.exit == 11, "\(sent.text)")
            }
        }
    }
}
