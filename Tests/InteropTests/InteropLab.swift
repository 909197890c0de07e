import Foundation
import Subprocess
import SystemPackage
import Testing

/// The programs: the built ones of Waft, and those of others as `Scripts/setup-interop` installed them.
enum Programs {
    static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    private static let environment = ProcessInfo.processInfo.environment
    private static let folder = "\(root)/.build/\(environment["TEST_PROGRAMS"] ?? "debug")"
    static let waft = environment["WAFT_TEST_WAFT"] ?? folder + "/waft"
    static let waftd = environment["WAFT_TEST_WAFTD"] ?? folder + "/waftd"
    static let lab = root + "/Scripts/lab"
    static let interop = environment["WAFT_INTEROP"] ?? root + "/.build/interop"
    static let opendrop = interop + "/bin/opendrop"

    /// The folder of LocalSend's programs.
    static let localsend = interop + "/localsend/bin"

    /// Whether the tests with OpenDrop can run here.
    static let arePossible = canRun(opendrop)
    /// Whether the tests with LocalSend's programs can.
    static let localsendIsPossible = canRun(localsend + "/localsendd") && canRun(localsend + "/localsend-cli")

    private static func canRun(_ program: String) -> Bool {
        geteuid() == 0 && FileManager.default.isExecutableFile(atPath: program)
    }
}

/// Two hosts on a separate network. One runs OpenDrop, which uses link-local addresses only.
struct InteropLab: Sendable {
    let name: String
    /// The folder for the hosts' files, on the machine's own disk.
    let folder: String

    /// Makes a lab, calls `body`, and always removes the lab and all its processes.
    /// - Parameters:
    ///   - linkLocal: the hosts that have link-local addresses only.
    ///   - link: the name of the interface; `awdl0` is a radio link of Apple's.
    static func with(
        linkLocal: [String] = ["kitchen", "study"], link: String = "eth0",
        _ body: @Sendable (InteropLab) async throws -> Void
    ) async throws {
        let folder = "/tmp/waft-interop-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lab = InteropLab(name: "i\(UInt32.random(in: 0...UInt32.max))", folder: folder)
        do {
            try await lab.call(["up", lab.name, "--hosts", "kitchen,study", "--links", link, "--avahi", "none"])
            for host in linkLocal {
                for words in [
                    ["-4", "addr", "flush", "dev", link], ["-6", "addr", "flush", "dev", link, "scope", "global"],
                ] {
                    try await lab.call(["run", lab.name, host, "ip"] + words)
                }
            }
            try await body(lab)
        } catch {
            try? await lab.call(["down", lab.name])
            throw error
        }
        try await lab.call(["down", lab.name])
    }

    struct ProgramResult: Sendable {
        var exit: Int
        var output: String
        var errors: String
    }

    /// Runs a program on a host to its end.
    func run(
        _ host: String, _ words: [String], environment: [String: String] = [:], in place: String? = nil
    ) async throws -> ProgramResult {
        let result = try await Subprocess.run(
            configuration(host, words, environment, place), input: .none, output: .string(limit: 8 << 20),
            error: .string(limit: 8 << 20))
        var exit = 128
        if case .exited(let code) = result.terminationStatus { exit = Int(code) }
        return ProgramResult(exit: exit, output: result.standardOutput, errors: result.standardError)
    }

    /// Runs a program on a host while `body` runs.
    /// - Parameter sign: text on standard output that shows that the program is ready; nil for none.
    func running(
        _ host: String, _ words: [String], environment: [String: String] = [:], in place: String? = nil,
        sign: String?, _ body: @Sendable @escaping () async throws -> Void
    ) async throws {
        try await running(host, words, environment: environment, in: place, sign: sign) { _ in try await body() }
    }

    /// The same, with the number of the program's process.
    func running(
        _ host: String, _ words: [String], environment: [String: String] = [:], in place: String? = nil,
        sign: String?, _ body: @Sendable @escaping (pid_t) async throws -> Void
    ) async throws {
        _ = try await Subprocess.run(
            configuration(host, words, environment, place), input: .none, output: .sequence, error: .discarded
        ) { execution in
            let (lines, feed) = AsyncStream<String>.makeStream()
            let reading = Task {
                for try await line in execution.standardOutput.strings() { feed.yield(line) }
                feed.finish()
            }
            defer { kill(execution.processIdentifier.value, SIGTERM) }
            if let sign {
                var isReady = false
                for await line in lines where line.contains(sign) {
                    isReady = true
                    break
                }
                try #require(isReady, "\(words.joined(separator: " ")) never said \(sign)")
            }
            try await body(execution.processIdentifier.value)
            reading.cancel()
        }
    }

    private func configuration(
        _ host: String, _ words: [String], _ environment: [String: String], _ place: String?
    ) -> Configuration {
        var variables: [Environment.Key: String?] = [:]
        for (name, value) in environment {
            if let key = Environment.Key(rawValue: name) { variables[key] = value }
        }
        return Configuration(
            executable: .path(FilePath(Programs.lab)), arguments: Arguments(["run", name, host] + words),
            environment: .inherit.updating(variables), workingDirectory: place.map { FilePath($0) })
    }

    /// Calls `Scripts/lab`.
    func call(_ words: [String]) async throws {
        let result = try await Subprocess.run(
            .path(FilePath(Programs.lab)), arguments: Arguments(words), input: .none, output: .discarded,
            error: .string(limit: 1 << 20))
        try #require(result.terminationStatus.isSuccess, "lab \(words.joined(separator: " ")): \(result.standardError)")
    }

    /// A home folder for a host.
    func home(_ host: String, _ place: String = "home") throws -> String {
        let path = "\(folder)/\(host)/\(place)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}

/// The files that are sent in either direction.
enum Samples {
    /// A picture of one pixel; OpenDrop makes a preview of it.
    private static let picture =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

    /// - Returns: the names of the written files.
    static func write(to folder: String, largeBytes: Int) throws -> [String] {
        // Random bytes cannot be compressed.
        let random = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        let large = try random.read(upToCount: largeBytes) ?? Data()
        let files: [(String, Data)] = [
            ("note.txt", Data("a text\n".utf8)), ("empty", Data()),
            ("gr\u{F6}\u{DF}e \u{1F373}.txt", Data("UTF-8".utf8)),
            ("pixel.png", Data(base64Encoded: picture) ?? Data()), ("large.bin", large),
        ]
        for (name, contents) in files { try contents.write(to: URL(fileURLWithPath: folder + "/" + name)) }
        return files.map(\.0)
    }

    static func areEqual(_ left: String, _ right: String) -> Bool {
        FileManager.default.contentsEqual(atPath: left, andPath: right)
    }
}
