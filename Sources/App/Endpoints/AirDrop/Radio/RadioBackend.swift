import Foundation
import Glibc
import Programs
package import Settings
import SystemCalls

/// The helper of a radio backend: finds it, calls it and reads its answers. The helper runs as root, so it is never looked
/// up in `PATH`. Source: omdrop's contract for radio backends.
package struct RadioBackend: Sendable, Hashable {
    /// The interface of the radio link.
    package static let interface = "awdl0"
    /// The port that backends announce on it for the receiver of AirDrop.
    package static let port = 8_771
    /// Longest window in seconds.
    package static let longest = 366 * 86_400

    private static let usual = "/usr/lib/omdrop/omdrop-discoverable"
    private static let outputBytes = 64 << 10
    /// Time for a question, which a healthy helper answers in a fraction of a second.
    private static let answering: Duration = .seconds(5)
    /// Time for a window to open and to close. Backends wait for Wi-Fi and repair the radio in that time. The receiver does not wait.
    private static let opening: Duration = .seconds(150)
    private static let closing: Duration = .seconds(40)

    /// Absolute.
    package let helper: String

    /// - Returns: nil if none is wanted, or none is installed.
    /// - Throws: `missing`, `untrusted`, `notExecutable`.
    package static func find(_ choice: RadioChoice) throws(RadioFault) -> RadioBackend? {
        switch choice {
        case .off: return nil
        case .auto:
            guard access(usual, F_OK) == 0 else { return nil }
            return try RadioBackend(usual)
        case .helper(let path): return try RadioBackend(path)
        }
    }

    /// - Throws: `missing` if no file is there, `untrusted` if others than root can change it, `notExecutable`.
    package init(_ helper: String) throws(RadioFault) {
        var status = stat()
        guard stat(helper, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .missing(RadioProbe.line(helper))
        }
        do throws(PathTrustError) {
            try PathTrust(user: 0).check(helper)
        } catch {
            throw .untrusted(RadioProbe.line(error.reason))
        }
        guard access(helper, X_OK) == 0 else { throw .notExecutable(RadioProbe.line(helper)) }
        self.helper = helper
    }

    // MARK: Questions, without root

    func probe() async throws(RadioFault) -> RadioProbe {
        let (exit, bytes) = try await ask("probe", "--json")
        switch exit {
        case .code(0): return try RadioProbe(bytes)
        // Helpers of before have no such command.
        case .code(2): return RadioProbe(earlier: helper)
        default: throw Self.fault("probe", exit)
        }
    }

    func status() async throws(RadioFault) -> RadioStatus {
        let (exit, bytes) = try await ask("status", "--json")
        guard exit == .code(0) else { throw Self.fault("status", exit) }
        return try RadioStatus(bytes)
    }

    /// The peers that the radio has heard; none while it is down. Of an answer that is too long, the first ones: anybody near
    /// can make up thousands.
    func peers() async throws(RadioFault) -> [HeardPeer] {
        let (exit, bytes) = try await ask("peers", cutting: true)
        guard exit == .code(0) || exit == .code(4) else { throw Self.fault("peers", exit) }
        return HeardPeer.all(bytes)
    }

    // MARK: The window, as root

    /// Opens the window, or gives an open one another end.
    /// - Parameter seconds: nil: until it is stopped.
    func start(seconds: Int?) async throws(RadioFault) {
        let seconds = seconds.map { min(max($0, 1), Self.longest) } ?? 0
        let (exit, bytes) = try await command("start", String(seconds), within: Self.opening)
        guard exit == .code(0) || exit == .code(5) else { throw Self.fault("start", exit, bytes) }
    }

    /// - Parameter time: after it, the helper goes on alone, also when this process has ended; nil for the usual one.
    func stop(within time: Duration? = nil) async throws(RadioFault) {
        let (exit, bytes) = try await command(
            "stop", reading: time == nil ? .errors : .nothing, within: time ?? Self.closing)
        guard exit == .code(0) else { throw Self.fault("stop", exit, bytes) }
    }

    // MARK: Calls

    /// - Parameter cutting: whether the whole lines at the beginning of an answer that is too long are used.
    private func ask(_ words: String..., cutting: Bool = false) async throws(RadioFault) -> (ProgramExit, [UInt8]) {
        try await call(helper, words, reading: .output, cutting: cutting, within: Self.answering, goesOn: false)
    }

    /// pkexec may be in any folder of `PATH`: it has the user's own rights until polkit gives it more.
    private func command(
        _ words: String..., reading stream: Program.ReadStream = .errors, within time: Duration
    ) async throws(RadioFault) -> (ProgramExit, [UInt8]) {
        let path = ProcessInfo.processInfo.environment["PATH"]
        if let pkexec = Program.path(of: "pkexec", in: path) {
            return try await call(pkexec, [helper] + words, reading: stream, within: time, goesOn: true)
        }
        guard geteuid() == 0 else { throw .noPkexec }
        return try await call(helper, words, reading: stream, within: time, goesOn: true)
    }

    private func call(
        _ path: String, _ words: [String], reading stream: Program.ReadStream, cutting: Bool = false,
        within time: Duration, goesOn: Bool
    ) async throws(RadioFault) -> (ProgramExit, [UInt8]) {
        let name = words.first { $0 != helper } ?? ""
        // It may have been replaced.
        _ = try RadioBackend(helper)
        let program = Program(
            path, words, environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"], folder: "/")
        let outcome: Program.BoundedOutcome
        do throws(ProgramError) {
            outcome = try await program.run(
                reading: stream, limit: Self.outputBytes, within: time, goesOn: goesOn)
        } catch {
            throw .failed(name, RadioProbe.line(error.description))
        }
        switch outcome.end {
        case .exited(let exit): return (exit, outcome.bytes)
        case .outOfTime, .cancelled: throw .outOfTime(name)
        case .tooMuch:
            guard cutting else { throw .malformed(name) }
            let end = outcome.bytes.lastIndex(of: UInt8(ascii: "\n")) ?? 0
            return (.code(0), Array(outcome.bytes[..<end]))
        }
    }

    /// The case of an exit that is no success.
    /// - Parameter errors: the helper's standard error, whose last line says why.
    static func fault(_ command: String, _ exit: ProgramExit, _ errors: [UInt8] = []) -> RadioFault {
        let last = String(decoding: errors.suffix(4_096), as: UTF8.self).split(whereSeparator: \.isNewline).last
        let words = RadioProbe.line(last.map(String.init) ?? "")
        switch exit {
        case .code(3): return .notNow(words)
        case .code(4): return .noRadio(words)
        // pkexec's own: dismissed, and not authorized.
        case .code(126), .code(127): return .refused
        default: return .failed(command, words)
        }
    }
}
