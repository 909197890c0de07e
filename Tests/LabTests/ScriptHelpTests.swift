import Foundation
import Testing

/// The scripts of the checkout, asked for their help.
@Suite("The scripts", .timeLimit(.minutes(1)))
struct ScriptHelpTests {
    /// Those that are not the programs themselves.
    private static let scripts: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Programs.root + "/Scripts")) ?? []
        let programs = names.filter { !$0.contains(".") && !["examples", "waft", "waftd"].contains($0) }
        return (programs + ["test.d/service", "test.d/lock", "package.d/test"]).sorted()
    }()

    @Test("--help shows what a script is for, and installs, builds and changes nothing", arguments: scripts)
    func help(_ name: String) async throws {
        try await withTemporaryFolder { folder in
            for program in ["apt-get", "dpkg-query", "sudo", "swift", "unshare", "ip"] {
                try writeScript("#!/bin/sh\ntouch '\(folder)/called-\(program)'\nexit 1\n", to: folder + "/\(program)")
            }
            let host = Host(home: folder, environment: ["PATH": folder + ":\(BareSystem.programs)"])
            let shown = try await host.run("\(Programs.root)/Scripts/\(name)", ["--help"])
            #expect(shown.exit == 0, "\(shown)")
            let line = shown.output.split(separator: "\n").first ?? ""
            #expect(line.contains(" ") && !shown.output.contains("set -"), "\(shown)")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("called") }
            #expect(left.isEmpty, "\(left)")
        }
    }
}
