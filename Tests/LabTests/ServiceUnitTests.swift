import Foundation
import Testing

/// The units that `waft service print` prints, as systemd's own checks see them.
@Suite(
    "The units of the service", .serialized, .timeLimit(.minutes(1)),
    .enabled("systemd is not installed: Scripts/setup tests") { SystemdTools.arePresent })
struct ServiceUnitTests {
    @Test("have nothing about which systemd-analyze verify says anything", arguments: [false, true])
    func verify(isSystem: Bool) async throws {
        try await withTemporaryFolder { folder in
            let host = try await Self.write(to: folder, isSystem: isSystem)
            let units = ["waftd.service", "waftd.socket"].map { "\(folder)/\($0)" }
            // The page is there when Waft is installed.
            let words = ["verify", "--man=no"] + (isSystem ? [] : ["--user"]) + units
            let checked = try await host.run(SystemdTools.analyze, words)
            #expect(checked.exit == 0)
            #expect(checked.output + checked.errors == "")
        }
    }

    @Test("leave the service of the machine an exposure of at most 3.0")
    func security() async throws {
        try await withTemporaryFolder { folder in
            let host = try await Self.write(to: folder, isSystem: true)
            // In tenths.
            let words = ["security", "--offline=true", "--threshold=30", "\(folder)/waftd.service"]
            let checked = try await host.run(SystemdTools.analyze, words)
            #expect(checked.exit == 0, "\(checked.output.suffix(400))")
        }
    }

    @Test("are printed alone or together, as text or JSON")
    func printing() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder)
            let both = try await host.run(arguments: ["service", "print"])
            #expect(both.output.contains("# waftd.service\n[Unit]\n"))
            #expect(both.output.contains("# waftd.socket\n[Unit]\n"))
            #expect(both.output.contains("\nExecStart=\(Programs.waftd)\n"))
            #expect(both.output.contains("\nEnvironment=WAFT_HOME=\(folder)\n"))
            let alone = try await host.run(arguments: ["service", "print", "waftd.socket"])
            #expect(alone.exit == 0 && alone.output.hasPrefix("[Unit]\n"))
            let json = try await host.run(arguments: ["service", "print", "--json"])
            #expect(json.events.map(\.event) == ["unit", "unit"])
            #expect(try await host.run(arguments: ["service", "print", "other.service"]).exit == 64)
        }
    }

    /// Without systemd the units are shown, with the next step.
    @Test("are printed, and not written, where no systemd runs")
    func absent() async throws {
        try await withTemporaryFolder { folder in
            var host = Host.loopback(folder)
            host.environment["XDG_CONFIG_HOME"] = folder + "/config"
            host.environment["XDG_RUNTIME_DIR"] = folder
            let installed = try await host.run(arguments: ["service", "install", "--now"])
            #expect(installed.exit == 69)
            #expect(installed.output.contains("# waftd.service\n") && installed.errors.contains("were not written"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/config/systemd"))
            #expect(try await host.run(arguments: ["service", "status", "--json"]).exit == 69)
        }
    }

    /// - Returns: a host whose runtime folder is private, as `systemd-analyze --user` wants it.
    private static func write(to folder: String, isSystem: Bool) async throws -> Host {
        var host = Host.loopback(folder + "/home")
        let run = folder + "/run"
        try FileManager.default.createDirectory(
            atPath: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        host.environment["XDG_RUNTIME_DIR"] = run
        for unit in ["waftd.service", "waftd.socket"] {
            let words = ["service", "print", "--programs", Programs.folder, unit] + (isSystem ? ["--system"] : [])
            let printed = try await host.run(arguments: words)
            #expect(printed.exit == 0, "\(printed.errors)")
            try printed.output.write(toFile: "\(folder)/\(unit)", atomically: false, encoding: .utf8)
        }
        return host
    }
}
