import Foundation
import Subprocess
import SystemPackage
import Testing

/// Programs that must stay small, and programs that must stay alive.
@Suite(
    "Under load", .serialized,
    .enabled(
        if: Programs.areReleased, "NOT RUN with debug programs, whose memory is not the product's: see Scripts/test"))
struct LoadTests {
    /// Maximum private memory of either side for one peer, in KiB, for any size and count.
    private static let memoryLimit = 16 << 10
    /// The same for the maximum number of items, each with an explanation in its receipt, in KiB.
    private static let listLimit = 20 << 10
    /// Maximum private memory for 20 or 24 peers at once, in KiB.
    private static let crowdLimit = 32 << 10
    /// Maximum growth over one small file, in KiB.
    private static let growthLimit = 10 << 10

    /// Peak of a process's private memory so far, in KiB: all its memory except the pages of files.
    private func peak(_ process: ProcessIdentifier) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.value)/status", encoding: .utf8)
        func value(_ name: String) throws -> Int {
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
            return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
        }
        return try value("VmHWM:") - value("RssFile:")
    }

    /// Runs a sender and measures the peak of its private memory, every few milliseconds.
    private func send(_ host: Host, _ arguments: [String], in folder: String) async throws -> (ProgramResult, peak: Int)
    {
        // The arguments are in a file: the measuring program would need a kilobyte for each.
        let script = """
            import subprocess, sys
            words = open(sys.argv[1], 'rb').read().split(b'\\0')
            process, peak = subprocess.Popen(sys.argv[2:] + words), 0
            while True:
                lines = open(f'/proc/{process.pid}/status').read().splitlines()
                peak = max([peak] + [int(line.split()[1]) for line in lines if line.startswith('RssAnon:')])
                try:
                    code = process.wait(0.005)
                    break
                except subprocess.TimeoutExpired: pass
            print('peak', peak)
            sys.exit(code)
            """
        let words = FilePath(FileManager.default.temporaryDirectory.path).appending("waft-words-\(UUID())").string
        try arguments.joined(separator: "\0").write(toFile: words, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: words) }
        var measured = host
        measured.prefix = ["/usr/bin/env", "python3", "-c", script, words] + host.prefix
        let outcome = try await measured.run(Programs.waft, [], in: folder)
        let line = outcome.output.split(separator: "\n").first { $0.hasPrefix("peak ") }
        let peak = try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        return (outcome, peak)
    }

    /// Writes files with the same contents, as fast as system calls do.
    ///
    /// - Returns: the number of files that were written.
    private func write(_ contents: [UInt8], to paths: [String]) -> Int {
        paths.count { path in
            let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
            guard file >= 0 else { return false }
            defer { close(file) }
            return Glibc.write(file, contents, contents.count) == contents.count
        }
    }

    @Test("a file of 4 GiB takes less than 16 MiB of private memory on either side")
    func largeFile() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/large"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            // Sparse: the sender reads zeros, but the receiver writes as much as for any file.
            #expect(truncate(path, 4 << 30) == 0)
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let (outcome, peak) = try await send(
                    .loopback(folder + "/study"), ["send", "large", "--to", running.address], in: folder)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                #expect(peak < Self.memoryLimit, "the sender took \(peak) KiB")
                let receiver = try self.peak(running.process)
                #expect(receiver < Self.memoryLimit, "the receiver took \(receiver) KiB")
                print("KiB: sender \(peak), receiver \(receiver)")
                let stored = try FileManager.default.attributesOfItem(atPath: running.inbox + "/large")
                #expect(stored[.size] as? UInt64 == 4 << 30)
            }
        }
    }

    @Test(
        "20,000 files of 10 KB as a tree, and 10,000 as items, take less than 16 MiB of private memory",
        arguments: [true, false])
    func manyFiles(asTree: Bool) async throws {
        try await withTemporaryFolder { folder in
            // An offer has at most 10,000 items; a tree has no such limit.
            let (tree, groups) = (folder + "/many", asTree ? 20 : 10)
            var names: [String] = []
            let contents = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
            for group in 0..<groups {
                try FileManager.default.createDirectory(atPath: "\(tree)/\(group)", withIntermediateDirectories: true)
                names += (0..<1_000).map { "\(group)/f\(group)-\($0)" }
            }
            #expect(write(contents, to: names.map { "\(tree)/\($0)" }) == names.count)
            let words = asTree ? ["."] : names
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let study = Host.loopback(folder + "/study")
                try "x".write(toFile: folder + "/one", atomically: false, encoding: .utf8)
                let (first, sendersBefore) = try await send(
                    study, ["send", "--quiet", folder + "/one", "--to", running.address], in: tree)
                #expect(first.exit == 0, "\(first.errors)")
                let receiversBefore = try self.peak(running.process)
                try FileManager.default.removeItem(atPath: running.inbox + "/one")
                let (outcome, peak) = try await send(
                    study, ["send", "--quiet"] + words + ["--to", running.address], in: tree)
                #expect(outcome.exit == 0, "\(outcome.errors.prefix(1_000))")
                #expect(peak < Self.memoryLimit, "the sender took \(peak) KiB")
                #expect(peak - sendersBefore < Self.growthLimit, "the sender took \(peak) KiB")
                let receiver = try self.peak(running.process)
                #expect(receiver < Self.memoryLimit, "the receiver took \(receiver) KiB")
                #expect(receiver - receiversBefore < Self.growthLimit, "the receiver took \(receiver) KiB")
                print("KiB: sender \(sendersBefore) to \(peak), receiver \(receiversBefore) to \(receiver)")
                let arrived = asTree ? running.inbox + "/many" : running.inbox
                let count = try FileManager.default.subpathsOfDirectory(atPath: arrived).count { $0 != ".waft-inbox" }
                #expect(count == (asTree ? 20_020 : 10_000))
            }
        }
    }

    @Test("10,000 items, the most that an offer can have, take less than 20 MiB of private memory")
    func maximumItems() async throws {
        try await withTemporaryFolder { folder in
            let many = folder + "/many"
            try FileManager.default.createDirectory(atPath: many, withIntermediateDirectories: true)
            // The names are too long for Swift's small strings, and short enough for a command line. The receiver
            // reports of each file that it is no JPEG.
            let names = (10_000..<20_000).map { "photo-2026-\($0).jpg" }
            #expect(write([0x78], to: names.map { "\(many)/\($0)" }) == names.count)
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let (outcome, peak) = try await send(
                    .loopback(folder + "/study"), ["send", "--quiet"] + names + ["--to", running.address], in: many)
                #expect(outcome.exit == 0, "\(outcome.errors.prefix(1_000))")
                #expect(peak < Self.listLimit, "the sender took \(peak) KiB")
                let receiver = try self.peak(running.process)
                #expect(receiver < Self.listLimit, "the receiver took \(receiver) KiB")
                print("KiB: sender \(peak), receiver \(receiver)")
                #expect(try running.names().count == names.count)
            }
        }
    }

    @Test("20 senders at once take less than 32 MiB of the receiver's private memory")
    func manySenders() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/film"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            #expect(truncate(path, 50_000_000) == 0)
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                try await withThrowingTaskGroup(of: ProgramResult.self) { group in
                    for number in 1...20 {
                        group.addTask {
                            try await Host.loopback("\(folder)/sender-\(number)")
                                .run(arguments: ["send", path, "--quiet", "--to", running.address])
                        }
                    }
                    for try await outcome in group { #expect(outcome.exit == 0, "\(outcome.errors)") }
                }
                #expect(try running.names().count == 20)
                let receiver = try self.peak(running.process)
                #expect(receiver < Self.crowdLimit, "the receiver took \(receiver) KiB")
                print("KiB: receiver \(receiver)")
            }
        }
    }

    @Test("24 receivers at once take less than 32 MiB of the sender's private memory")
    func manyReceivers() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/film"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            #expect(truncate(path, 50_000_000) == 0)
            try await withReceivers(24, in: folder) { running in
                let words = ["send", path, "--quiet"] + running.flatMap { ["--to", $0.address] }
                let (outcome, peak) = try await send(.loopback(folder + "/study"), words, in: folder)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                for receiver in running { #expect(try receiver.names() == ["film"]) }
                #expect(peak < Self.crowdLimit, "the sender took \(peak) KiB")
                print("KiB: sender \(peak)")
            }
        }
    }

    /// Calls `body` beside this number of receivers.
    private func withReceivers(
        _ count: Int, in folder: String, beside others: [RunningReceiver] = [],
        _ body: @Sendable @escaping ([RunningReceiver]) async throws -> Void
    ) async throws {
        guard others.count < count else { return try await body(others) }
        try await Host.loopback("\(folder)/receiver-\(others.count)").withReceiver { running in
            try await withReceivers(count, in: folder, beside: others + [running], body)
        }
    }

    @Test("1,000 idle connections from one address do not keep a real transfer out")
    func idleConnections() async throws {
        try await withTemporaryFolder { folder in
            try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let program = """
                    import socket,time,resource
                    soft,hard=resource.getrlimit(resource.RLIMIT_NOFILE)
                    resource.setrlimit(resource.RLIMIT_NOFILE,(min(4096,hard),hard))
                    held=[socket.create_connection(('127.0.0.1',\(running.port))) for _ in range(1000)]
                    print(len(held),flush=True)
                    time.sleep(600)
                    """
                try await Helper.run(["python3", "-c", program]) {
                    Int($0)
                } body: { held in
                    #expect(held == 1_000)
                    let outcome = try await Host.loopback(folder + "/study")
                        .run(arguments: ["send", "a", "--to", running.address], in: folder)
                    #expect(outcome.exit == 0, "\(outcome.errors)")
                }
            }
        }
    }
}
