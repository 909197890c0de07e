import Foundation
import Subprocess
import SystemPackage
import Testing

/// Two hosts on a network of their own, made by `Scripts/lab` out of network namespaces.
struct Lab: Sendable {
    /// Whether labs can be made here; tests that need one are skipped, and say so, where not.
    static let isPossible = geteuid() == 0

    let name: String
    /// Where the hosts keep their files; the machine's own.
    let folder: String

    /// Makes a lab, calls `body`, and removes the lab whatever happens.
    /// - Parameter avahi: hosts with avahi-daemon, as `Scripts/lab` takes them.
    static func with(avahi: String, _ body: @Sendable (Lab) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let lab = Lab(name: "t\(UInt32.random(in: 0...UInt32.max))", folder: folder)
            do {
                try await lab.call(["up", lab.name, "--hosts", "kitchen,study", "--avahi", avahi])
                try await body(lab)
            } catch {
                try? await lab.call(["down", lab.name])
                throw error
            }
            try await lab.call(["down", lab.name])
        }
    }

    /// A host whose programs run in its namespaces.
    func host(_ name: String) -> Host {
        // The lab's hosts are networks of our own: discovery is what is being tested.
        Host(prefix: [Programs.lab, "run", self.name, name], home: "\(folder)/\(name)")
    }

    func call(_ words: [String]) async throws {
        let result = try await Subprocess.run(
            .path(.init(Programs.lab)), arguments: Arguments(words),
            input: .none, output: .discarded, error: .string(limit: 1 << 20))
        try #require(result.terminationStatus.isSuccess, "lab \(words.joined(separator: " ")): \(result.standardError)")
    }
}
