import Foundation
import Subprocess
import SystemPackage
import Testing

/// Two hosts on a network of their own, made by `Scripts/lab` out of network namespaces.
struct Lab: Sendable {
    /// Whether labs can be made here; otherwise tests with a lab are reported as skipped.
    static let isPossible = geteuid() == 0

    let name: String
    /// The folder for the files of the hosts, on the machine's own disk.
    let folder: String

    /// Makes a lab, calls `body`, and always removes the lab.
    /// - Parameters:
    ///   - avahi: hosts with avahi-daemon, as `Scripts/lab` takes them.
    ///   - hosts: their names; a host's number is its place.
    ///   - links: names of the interface that every host has on each link.
    static func with(
        avahi: String, hosts: String = "kitchen,study", links: String = "eth0",
        _ body: @Sendable (Lab) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let lab = Lab(name: "t\(UInt32.random(in: 0...UInt32.max))", folder: folder)
            do {
                try await lab.call(["up", lab.name, "--hosts", hosts, "--links", links, "--avahi", avahi])
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
        // Discovery stays on: the lab's network is separate, and these tests are about discovery.
        Host(prefix: [Programs.lab, "run", self.name, name], home: "\(folder)/\(name)")
    }

    func call(_ words: [String]) async throws {
        let result = try await Subprocess.run(
            .path(.init(Programs.lab)), arguments: Arguments(words),
            input: .none, output: .discarded, error: .string(limit: 1 << 20))
        try #require(result.terminationStatus.isSuccess, "lab \(words.joined(separator: " ")): \(result.standardError)")
    }
}
