import Foundation
import Subprocess
import SystemPackage
import Testing

/// Contents that are sealed are never written in clear, to no file: looked for on the disk, and in the system calls.
@Suite("A canary in sealed items", .serialized, .timeLimit(.minutes(3)))
struct SealedCanaryTests {
    private let canary = "CANARY-" + (0..<57).map { _ in String(Int.random(in: 0...9)) }.joined()

    /// Random bytes with the canary in each part of 4 KiB, so that no two writes can hide all of them.
    private func write(_ path: String, _ count: Int) throws {
        try writeRandom(path, count)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        for place in stride(from: 0, to: count - 4_096, by: 4_096) {
            try file.seek(toOffset: UInt64(place + Int.random(in: 0..<4_000)))
            try file.write(contentsOf: Data(canary.utf8))
        }
        try file.close()
    }

    /// Names of the files that hold the canary.
    private func find(in places: [String]) async throws -> String {
        let there = places.filter { FileManager.default.fileExists(atPath: $0) }
        let words = ["-rlaF", "-D", "skip", "--", canary]
        return try await Host.loopback("/").run("/usr/bin/grep", words + there).output
    }

    @Test("is in no file during and after transfers, cut and resumed ones too, and in no write of the receiver")
    func canaryIsNowhere() async throws {
        try await withTemporaryFolder { folder in
            let (source, temporary, trace) = (folder + "/source", folder + "/tmp", folder + "/trace")
            for place in [source + "/tree/inner", temporary] {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            }
            let (large, later) = (source + "/large.bin", source + "/later.bin")
            try write(large, 5 << 20)
            try write(later, 5 << 20)
            try write(source + "/small.bin", 70_000)
            try write(source + "/tree/one", 9_000)
            try write(source + "/tree/inner/two", 200_000)

            let study = Host.loopback(folder + "/study")
            let kitchen = Host.loopback(folder + "/kitchen")
            try kitchen.setUpProtection()
            var traced = kitchen
            traced.environment["TMPDIR"] = temporary
            traced.prefix = [
                "/usr/bin/strace", "-D", "-f", "-qqq", "-y", "-s", "2000000", "-e", "signal=none", "-e",
                "trace=write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,splice", "-o", trace,
            ]
            let places = [kitchen.home, temporary]
            #expect(try await find(in: [source]).split(separator: "\n").count == 5, "the search finds it")

            try await traced.withReceiver { running in
                let send = { (path: String) in ["send", path, "--to", running.address, "--json"] }
                let words = ["send", source + "/small.bin", source + "/tree", "--to", running.address]
                #expect(try await study.run(arguments: words).exit == 0)
                #expect(try await study.run(arguments: ["send", "--text", canary, "--to", running.address]).exit == 0)

                // Cut and resumed while locked, then cut while locked and resumed while unlocked.
                for (file, isUnlocked) in [(large, false), (later, true)] {
                    let stopping = study.reading(file, "STOP", at: 8)
                    let cut = try await stopping.withProgram(Programs.waft, send(file), signal: .kill) { _ in
                        try await running.holdsPart(of: 1 << 20)
                        #expect(try await find(in: places) == "", "during the transfer")
                    }
                    #expect(cut.exit == 128 + Int(SIGKILL))
                    if isUnlocked { try await kitchen.unlock() }
                    try await eventually { try await !kitchen.isReceiving }
                    let again = try await study.run(arguments: send(file))
                    #expect(again.exit == 0, "\(again)")
                    let moved = again.events.compactMap(\.moved).last ?? .max
                    #expect(moved < 5 << 20, "it was resumed: \(moved)")
                    #expect(try await find(in: places) == "", "after the transfer")
                }
                let names = try running.names()
                let texts = names.filter { $0.hasSuffix(".txt.age") }
                try #require(names.count == 5 && texts.count == 1, "\(names)")
                let clear = folder + "/clear"
                try canary.write(toFile: clear, atomically: false, encoding: .utf8)
                #expect(try await kitchen.opens(running.inbox + "/" + texts[0], as: clear))
                #expect(try await kitchen.opens(running.inbox + "/large.bin.age", as: large))
                #expect(try await kitchen.opens(running.inbox + "/later.bin.age", as: later))
                #expect(try await kitchen.opensTree(running.inbox + "/tree", as: source + "/tree"))
            }
            #expect(try await find(in: places) == "", "after the end of the receiver")
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
            #expect(try await find(in: [trace]) == "", "a write of the receiver")
            try await checkPlaces(trace, in: kitchen.home)
        }
    }

    /// The receiver wrote to files of its home only, and the trace shows that it did.
    private func checkPlaces(_ trace: String, in home: String) async throws {
        // At the beginning of a line: random bytes that are written can look like a call as well.
        let script = "grep -aoE '^[0-9]+ +[a-z0-9]+\\([0-9]+<[^>]*>' \"$1\" | sed 's/.*<//;s/>$//' | sort -u"
        let paths = try await Host.loopback("/").run("/bin/sh", ["-c", script, "sh", trace]).output
            .split(separator: "\n").filter { $0.hasPrefix("/") }
        #expect(paths.contains { $0.contains("/.waft-staging/") }, "\(paths)")
        let others = paths.filter { path in
            !path.hasPrefix(home + "/") && !path.hasPrefix("/proc/") && !path.hasPrefix("/dev/")
        }
        #expect(others == [], "it wrote elsewhere")
        #expect(!paths.contains { $0.hasPrefix("/dev/shm") }, "\(paths)")
    }
}
