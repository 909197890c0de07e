import Foundation
import Testing

/// Two hosts on a separate network: Waft runs on `kitchen`, an independent program of LocalSend on `study`.
struct LocalSendLab: Sendable {
    static let kitchenAddress = "192.168.77.1"
    static let studyAddress = "192.168.77.2"

    let lab: InteropLab
    /// Waft's home, and the folder of the other program.
    let (kitchen, study): (String, String)

    /// - Parameter pin: Waft's PIN.
    static func with(pin: String? = nil, _ body: @Sendable (LocalSendLab) async throws -> Void) async throws {
        try await InteropLab.with(linkLocal: []) { lab in
            // The other programs ask the system for the address towards the Internet.
            try await lab.call(["run", lab.name, "study", "ip", "route", "add", "default", "dev", "eth0"])
            let both = LocalSendLab(lab: lab, kitchen: try lab.home("kitchen"), study: try lab.home("study"))
            if let pin {
                try FileManager.default.createDirectory(
                    atPath: both.kitchen + "/config", withIntermediateDirectories: true)
                try "dialects: {localsend: {pin: '\(pin)'}}\n"
                    .write(toFile: both.kitchen + "/config/config.yaml", atomically: true, encoding: .utf8)
            }
            try await body(both)
        }
    }

    /// Repeats a question until its answer is yes; the time limit of the suite ends it.
    func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try await Task.sleep(for: .milliseconds(50)) }
    }

    // MARK: Waft

    private var waftEnvironment: [String: String] { ["WAFT_HOME": kitchen, "WAFT_NAME": "Kitchen"] }
    var inbox: String { kitchen + "/Documents/Inbox" }

    func waft(_ words: String..., in place: String? = nil) async throws -> InteropLab.ProgramResult {
        try await waft(words, in: place)
    }

    func waft(_ words: [String], in place: String? = nil) async throws -> InteropLab.ProgramResult {
        try await lab.run("kitchen", [Programs.waft] + words, environment: waftEnvironment, in: place)
    }

    /// Runs `waft send` beside `body`.
    func sending(_ words: [String], _ body: @Sendable @escaping (pid_t) async throws -> Void) async throws {
        try await lab.running(
            "kitchen", [Programs.waft, "send"] + words, environment: waftEnvironment, sign: nil, body)
    }

    /// Runs `waft receive` beside `body`, and waits until LocalSend answers.
    func receiving(accept: String = "everyone", _ body: @Sendable @escaping () async throws -> Void) async throws {
        try await lab.running(
            "kitchen", [Programs.waft, "receive", "--accept", accept, "--json"], environment: waftEnvironment,
            sign: "\"ready\""
        ) {
            try await until { try await waft("status").output.contains("port 53317") }
            try await body()
        }
    }

    /// Names in the Inbox except its mark, sorted.
    func arrived() throws -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: inbox)) ?? []
        return names.filter { $0 != ".waft-inbox" }.sorted()
    }

    /// The names of what is being received.
    func staged() throws -> [String] {
        let staging = kitchen + "/Documents/.waft-staging/Inbox"
        return ((try? FileManager.default.contentsOfDirectory(atPath: staging)) ?? []).filter { !$0.contains("lock") }
    }

    // MARK: The other programs

    private var socket: String { study + "/sock" }
    /// The folder into which they receive.
    var received: String { study + "/in" }

    /// Runs localsendd under the name `py` beside `body`.
    func withDaemon(
        _ options: [String] = ["--unattended"], _ body: @Sendable @escaping (pid_t) async throws -> Void
    ) async throws {
        let folders = [
            "HOME": study, "XDG_STATE_HOME": study + "/s", "XDG_RUNTIME_DIR": study + "/r",
            "XDG_CONFIG_HOME": study + "/c",
        ]
        for folder in folders.values + [received] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let words = ["--alias", "py", "--download-dir", received, "--socket", socket, "--encryption"]
        try await lab.running(
            "study", [Programs.localsend + "/localsendd"] + words + options, environment: folders, sign: nil
        ) { process in
            try await until { try await control("status").exit == 0 }
            try await body(process)
        }
    }

    /// Runs localsendctl.
    func control(_ words: String...) async throws -> InteropLab.ProgramResult { try await control(words) }

    func control(_ words: [String]) async throws -> InteropLab.ProgramResult {
        try await lab.run("study", [Programs.localsend + "/localsendctl", "--socket", socket] + words, in: study)
    }

    /// Runs localsendctl beside `body`: localsendd asks its user only while such a client watches.
    func watching(_ body: @Sendable @escaping () async throws -> Void) async throws {
        let words = [Programs.localsend + "/localsendctl", "--socket", socket, "watch"]
        try await lab.running("study", words, in: study, sign: "Watching", body)
    }

    /// Sends with localsendd, and waits for the end.
    func controlSend(_ files: [String], _ options: [String] = []) async throws -> InteropLab.ProgramResult {
        try await control(["send"] + files + ["--to", "Kitchen", "--wait", "--quiet"] + options)
    }

    /// Waits until localsendd has found Waft.
    func untilFound() async throws {
        try await until { try await control("devices", "--scan", "--wait-for", "0.2").output.contains("Kitchen") }
    }

    /// The command line of localsend-cli, which sends.
    func cli(_ files: [String]) -> [String] {
        [Programs.localsend + "/localsend-cli", "send", "--json", Self.kitchenAddress] + files
    }

    /// Sends with localsend-cli.
    func cliSend(_ files: [String]) async throws -> InteropLab.ProgramResult {
        try await lab.run("study", cli(files), environment: cliEnvironment, in: study)
    }

    var cliEnvironment: [String: String] { ["HOME": study, "REQUESTS_CA_BUNDLE": "", "CURL_CA_BUNDLE": ""] }

    /// Runs a receiver of localsend-cli beside `body`.
    func withCLI(
        _ options: [String] = [], _ body: @Sendable @escaping (pid_t) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(atPath: received, withIntermediateDirectories: true)
        try await lab.running(
            "study", [Programs.localsend + "/localsend-cli", "receive", "--output", received, "--json"] + options,
            environment: cliEnvironment, in: study, sign: "ready", body)
    }

    // MARK: Files

    /// Writes small files.
    /// - Returns: their names.
    static func small(_ count: Int, to folder: String) throws -> [String] {
        let names = (0..<count).map { "small \($0).bin" }
        for name in names {
            try Data("\(name)".utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        return names
    }

    /// Names that need care on the way.
    static func odd(to folder: String) throws -> [String] {
        let names = ["a+b & c=d%20.txt", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}.md", "e\u{301}t\u{E9}.txt", "quote\"s'.txt"]
        for name in names { try Data(name.utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        return names
    }
}
