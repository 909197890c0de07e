import Foundation
import Subprocess
import Testing

/// A desk that runs, and a window that has come in.
struct DeskWindow: Sendable {
    let host: Host
    let process: ProcessIdentifier
    let base: String
    let secret: String
    /// A file with the header of the window's token; empty until it has come in.
    let token: String

    /// The body and the status of an answer.
    func curl(_ words: String..., with token: Bool = true) async throws -> (body: String, status: String) {
        let headers = token ? ["-H", "@" + self.token] : []
        let outcome = try await host.run(
            "/usr/bin/curl", ["-s", "--max-time", "60", "-w", "\n%{http_code}"] + headers + words)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.dropLast().joined(separator: "\n"), lines.last.map(String.init) ?? "")
    }

    func post(_ path: String, _ json: String, _ more: [String] = []) async throws -> (body: String, status: String) {
        let outcome = try await host.run(
            "/usr/bin/curl",
            ["-s", "--max-time", "60", "-w", "\n%{http_code}", "-H", "@" + token, "-H"]
                + ["content-type: application/json", "-d", json, base + path] + more)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.dropLast().joined(separator: "\n"), lines.last.map(String.init) ?? "")
    }

    func enter() async throws {
        let entered = try await post("/enter", "{\"secret\":\"\(secret)\"}")
        let given = try #require(entered.body.firstMatch(of: /"token":"([0-9a-z]{26})"/)?.1, "\(entered)")
        try "waft-token: \(given)\n".write(toFile: token, atomically: true, encoding: .utf8)
    }

    /// The lines of a call.
    func call(_ path: String, _ values: String = "{}") async throws -> String {
        try await post("/" + path, values).body
    }
}

extension DeskWindow {
    /// Follows a stream of lines beside `body`. The stream is closed afterwards, as by a window that goes.
    func following(
        _ path: String, _ json: String? = nil, _ body: @Sendable @escaping (Transcript) async throws -> Void
    ) async throws {
        let words = json.map { ["-H", "content-type: application/json", "-d", $0] } ?? []
        try await host.withProgram(
            "/usr/bin/curl", ["-s", "-N", "-H", "@" + token] + words + [base + path], signal: .interrupt
        ) { try await body($0.transcript) }
    }

    /// Begins a sending, whose items are described in JSON.
    func begin(_ json: String) async throws -> String {
        let begun = try await post("/sendings", json)
        return String(try #require(begun.body.firstMatch(of: /"sending":"([0-9a-z]+)"/)?.1, "\(begun)"))
    }
}

func withDesk(_ host: Host, _ body: @Sendable @escaping (DeskWindow) async throws -> Void) async throws {
    let end = try await host.withProgram(Programs.waft, ["desk", "--no-open"], signal: .interrupt) { running in
        let address = try await running.transcript.first("an address") { text in
            text.firstMatch(of: /(http:\/\/127\.0\.0\.1:\d+)\/#([0-9a-z]{26})/).map { (String($0.1), String($0.2)) }
        }
        let window = DeskWindow(
            host: host, process: running.process, base: address.0, secret: address.1, token: host.home + "/token")
        try "".write(toFile: window.token, atomically: true, encoding: .utf8)
        try await body(window)
    }
    #expect(end.exit == 0, "\(end.text)")
    let left = try FileManager.default.contentsOfDirectory(atPath: host.home + "/run")
    #expect(!left.contains { $0.hasPrefix("desk-") }, "\(left)")
}

/// Runs the body with a kitchen whose daemon everybody may offer to, and a study.
func withKitchen(
    _ body: @Sendable @escaping (_ kitchen: Host, _ study: Host, _ receiver: RunningReceiver) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
        for host in [kitchen, study] {
            try FileManager.default.createDirectory(atPath: host.home, withIntermediateDirectories: true)
        }
        try await kitchen.withReceiver(Programs.waftd, []) { receiver in
            try await kitchen.becomeVisible()
            try await body(kitchen, study, receiver)
        }
    }
}
