import Foundation
import Subprocess
import SystemPackage

/// The programs under test: the debug ones, or with TEST_PROGRAMS=release the release ones.
enum Programs {
    static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    private static let configuration = ProcessInfo.processInfo.environment["TEST_PROGRAMS"] ?? "debug"
    static let areReleased = configuration == "release"
    static let folder = "\(root)/.build/\(configuration)"
    static let waft = folder + "/waft"
    static let waftd = link("waftd")

    /// A hard link to `waft`, made anew after a build. `Scripts/build` makes the same for releases.
    private static func link(_ name: String) -> String {
        let path = folder + "/" + name
        var (program, found) = (stat(), stat())
        guard stat(waft, &program) == 0 else { return path }
        if stat(path, &found) == 0, found.st_ino == program.st_ino { return path }
        let new = path + ".\(getpid())"
        if Glibc.link(waft, new) == 0 { rename(new, path) }
        return path
    }

    static let lab = root + "/Scripts/lab"
    /// Built with the tests; it is no program under test.
    static let diskSteps = root + "/.build/debug/disk-steps"
}

/// The result of a program.
struct ProgramResult: Sendable {
    var exit: Int
    var output: String
    var errors: String

    /// The JSON events on its standard output.
    var events: [Event] { output.split(separator: "\n").compactMap { Event(line: String($0)) } }
}

/// One JSON event of either side.
struct Event: Sendable, Decodable {
    struct Peer: Sendable, Decodable {
        var id: String?
        var name: String?
        var contact: String?
    }

    struct Answer: Decodable, Sendable {
        var answer: String
        var reason: String?
        var cause: String?
    }

    var v: Int
    var event: String
    var id: String?
    var name: String?
    var port: Int?
    var inbox: String?
    var path: String?
    var stored: String?
    var type: String?
    var size: UInt64?
    var digest: String?
    var from: Peer?
    var peer: Peer?
    var handlerAnswer: String?
    var exitCode: Int?
    var arrival: Int?
    var content: String?
    var exit: Int?
    var reason: String?
    var cause: String?
    var answers: [Answer]?
    var note: String?
    var transfer: String?
    var bytes: UInt64?
    var moved: UInt64?
    var alreadyThere: Bool?
    var offer: Int?

    init?(line: String) {
        guard let event = try? JSONDecoder().decode(Event.self, from: Data(line.utf8)) else { return nil }
        self = event
    }
}

/// Where a program runs: on this machine's loopback, or on a host of a lab.
struct Host: Sendable {
    /// Put before the program.
    var prefix: [String] = []
    /// Root of the peer's folders.
    var home: String
    var environment: [String: String] = [:]

    /// A peer on loopback: no mDNS, which would leave this machine.
    /// - Parameter terminal: `TERM`; nil for that of the tests.
    static func loopback(_ home: String, terminal: String? = nil) -> Host {
        var host = Host(home: home, environment: ["WAFT_DISCOVERY": "off"])
        if let terminal { host.environment["TERM"] = terminal }
        return host
    }

    /// Makes a script the hook of the configuration, in a separate writable folder below `folder`.
    /// - Returns: that folder, which is its working directory.
    mutating func useHook(_ script: String, in folder: String) throws -> String {
        let place = folder + "/hook"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try writeScript(script, to: place + "/on-arrival")
        environment["WAFT_HOOK"] = place + "/on-arrival"
        environment["WAFT_HOOK_WRITABLE"] = place
        return place
    }

    func configuration(_ program: String, _ arguments: [String], in folder: String? = nil) -> Configuration {
        var variables: [Environment.Key: String?] = ["WAFT_HOME": home]
        let bare = BareSystem.variables(hasHome: environment["HOME"] != nil)
        for (name, value) in bare.merging(environment, uniquingKeysWith: { $1 }) {
            if let key = Environment.Key(rawValue: name) { variables.updateValue(value, forKey: key) }
        }
        let words = prefix + [program] + arguments
        return Configuration(
            executable: .path(FilePath(words[0])),
            arguments: Arguments(Array(words.dropFirst())),
            environment: .inherit.updating(variables),
            workingDirectory: folder.map { FilePath($0) }
        )
    }

    /// Lets strangers offer to the daemon that runs here, now or later.
    func becomeVisible() async throws {
        let outcome = try await run(arguments: ["visible", "everyone"])
        guard outcome.exit == 0 else { throw EventLog.Ended(description: outcome.errors) }
    }

    /// Runs a program to its end.
    func run(
        _ program: String = Programs.waft,
        _ arguments: [String],
        input: String = "",
        in folder: String? = nil
    ) async throws -> ProgramResult {
        let result = try await Subprocess.run(
            configuration(program, arguments, in: folder),
            input: .fileDescriptor(try StandardInput.holding(input), closeAfterSpawningProcess: true),
            output: .string(limit: 64 << 20),
            error: .string(limit: 8 << 20)
        )
        if LineContracts.apply(to: program, arguments) { LineContracts.hold(result.standardOutput, of: arguments) }
        return ProgramResult(
            exit: result.terminationStatus.code, output: result.standardOutput, errors: result.standardError)
    }
}

extension TerminationStatus {
    /// The exit code; for a signal 128 and its number, as in a shell.
    var code: Int {
        switch self {
        case .exited(let code): Int(code)
        case .signaled(let signal): 128 + Int(signal)
        }
    }
}

/// Writes an executable script.
func writeScript(_ script: String, to path: String) throws {
    try script.write(toFile: path, atomically: false, encoding: .utf8)
    guard chmod(path, 0o755) == 0 else { throw CocoaError(.fileWriteNoPermission) }
}

/// Waits until a condition holds for which there is no event. The pauses leave the processor to the programs.
func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(50)) }
}

/// Calls `body` with the path of a new folder, and removes the folder.
@discardableResult
func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = "/tmp/waft-test-\(UInt64.random(in: 0...UInt64.max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
