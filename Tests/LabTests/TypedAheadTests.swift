import Foundation
import Testing

@Suite("An answer that is typed before its question", .timeLimit(.minutes(1)))
struct TypedAheadTests {
    @Test("two lines typed at once answer one offer, and the next one waits for an answer of its own")
    func twice() async throws {
        try await withTemporaryFolder { folder in
            for name in ["a.txt", "b.txt"] {
                try name.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
            }
            let kitchen = Host.loopback(folder + "/kitchen")
            let study = Host.loopback(folder + "/study")
            let command = "exec \(Programs.waft) receive --accept ask --port 0"
            let words = ["--quiet", "--flush", "--return", "--echo", "never", "--command", command, "/dev/null"]
            _ = try await kitchen.withProgram("/usr/bin/script", words, in: folder) { terminal in
                try await terminal.transcript.says("--to")
                let status = try await kitchen.run(arguments: ["status", "--json"])
                let port = try #require(status.output.firstMatch(of: /"port":([0-9]+)/)).1
                async let first = study.run(arguments: ["send", folder + "/a.txt", "--to", "127.0.0.1:\(port)"])
                try await terminal.transcript.says("[y/n]")
                let other = Host.loopback(folder + "/attic")
                async let second = other.run(arguments: ["send", folder + "/b.txt", "--to", "127.0.0.1:\(port)"])
                while try await !kitchen.run(arguments: ["offers"]).output.contains("b.txt") {}
                try await terminal.type("y\ny\n")
                #expect(try await first.exit == 0)
                try await terminal.transcript.says("[y/n]", times: 2)
                try await terminal.type("n\n")
                #expect(try await second.exit == 12)
                try await terminal.type("\u{3}")
            }
        }
    }
}
