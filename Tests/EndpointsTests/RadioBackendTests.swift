import Foundation
import Glibc
import Settings
import TestSupport
import Testing

@testable import Endpoints

@Suite(
    "The helper of a radio backend", .timeLimit(.minutes(1)),
    .enabled(if: geteuid() == 0, "NOT RUN: files of root need root; run Scripts/test as root"))
struct RadioBackendTests {
    private let folder = TemporaryFolder()

    private func helper(_ script: String, mode: Int = 0o755) throws -> String {
        let path = folder / "helper"
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("is used only if root owns it, and nobody else may write to it or to a folder above it")
    func trust() throws {
        let path = try helper("exit 0")
        #expect(try RadioBackend.find(.helper(path))?.helper == path)
        #expect(try RadioBackend.find(.off) == nil)
        #expect(throws: RadioFault.missing(folder / "none")) { try RadioBackend(folder / "none") }
        #expect(throws: RadioFault.missing(folder.path)) { try RadioBackend(folder.path) }
        chmod(path, 0o644)
        #expect(throws: RadioFault.notExecutable(path)) { try RadioBackend(path) }
        #expect(RadioFault.notExecutable("/a b").hint == "as root: chmod +x '/a b'")
        chmod(path, 0o757)
        expectUntrusted(path)
        chmod(path, 0o755)
        chown(path, 65_534, 0)
        expectUntrusted(path)
        chown(path, 0, 0)
        chmod(folder.path, 0o777)
        expectUntrusted(path)
        chmod(folder.path, 0o700)
        #expect(try RadioBackend(path).helper == path)
    }

    private func expectUntrusted(_ path: String) {
        let fault = #expect(throws: RadioFault.self) { try RadioBackend(path) }
        guard case .untrusted(let reason)? = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        // No command that would give root's rights to what a stranger has written.
        let words = reason + (fault?.hint ?? "")
        #expect(!words.contains("chown") && !words.contains("chmod"), "\(words)")
    }

    @Test("is asked by its commands, and gets none of the environment")
    func asked() async throws {
        let backend = try RadioBackend(
            helper(
                #"""
                env | cut -d= -f1 | sort | tr '\n' ' ' > "$(dirname "$0")/env"
                case $1 in
                status) echo '{"visible":true,"remaining":null,"reason":"","rx_proven":false}' ;;
                peers) exit 4 ;;
                probe) exit 2 ;;
                esac
                """#))
        #expect(try await backend.status().isVisible)
        #expect(try await backend.peers().isEmpty)
        let probe = try await backend.probe()
        #expect(probe.backend == backend.helper && probe.missing.isEmpty)
        let names = try String(contentsOfFile: folder / "env", encoding: .utf8).split(separator: " ")
        #expect(Set(names).isSubset(of: ["LC_ALL", "PATH", "PWD", "_", "SHLVL", "OLDPWD"]), "\(names)")
    }

    @Test("that has heard more peers than fit into an answer tells of the first ones")
    func crowd() async throws {
        let script =
            #"i=0; while [ $i -lt 3000 ]; do printf '02:00:00:00:%02x:%02x rssi=-50\n' $((i/256)) $((i%256)); i=$((i+1)); done"#
        #expect(try await RadioBackend(helper(script)).peers().count == HeardPeer.maximum)
        // A line without an end is none.
        #expect(try await RadioBackend(helper("yes | tr -d '\\n'")).peers().isEmpty)
    }

    @Test("that writes without end is ended, with its whole group")
    func endless() async throws {
        let backend = try RadioBackend(helper(#"echo $$ > "$(dirname "$0")/pid"; yes"#))
        await #expect(throws: RadioFault.malformed("status")) { _ = try await backend.status() }
        let text = try String(contentsOfFile: folder / "pid", encoding: .utf8)
        let group = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
        // The kernel reaps them in its own time.
        while kill(-group, 0) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    }
}
