import Glibc
import Lines
import Subprocess

/// Calls of systemd's own programs.
struct Systemctl: Sendable {
    let scope: ServiceScope

    struct Outcome: Sendable {
        var isDone: Bool
        var output: String
        /// The first line that it wrote on standard error.
        var reason: String
    }

    /// Whether systemd runs, for this user or the machine.
    var isThere: Bool {
        get async {
            // As sd_booted(3) finds out.
            guard access("/run/systemd/system", F_OK) == 0 else { return false }
            return await call("show", "--property=Version").isDone
        }
    }

    /// - Returns: not done if there is no `systemctl`.
    func call(_ words: String...) async -> Outcome {
        await Self.run("systemctl", (scope == .user ? ["--user"] : []) + ["--no-pager"] + words)
    }

    /// Calls `systemctl`.
    /// - Throws: `CommandError` with the reason of a failure.
    func require(_ words: String..., hint: String? = nil) async throws(CommandError) {
        let outcome = await Self.run("systemctl", (scope == .user ? ["--user"] : []) + ["--no-pager"] + words)
        guard outcome.isDone else {
            throw CommandError(
                .unexpected, "\(scope.command(words.joined(separator: " "))): \(outcome.reason)", hint: hint)
        }
    }

    static func run(_ program: String, _ words: [String]) async -> Outcome {
        do {
            let result = try await Subprocess.run(
                .name(program), arguments: Arguments(words), input: .none, output: .string(limit: 1 << 20),
                error: .string(limit: 1 << 20))
            let reason = result.standardError.split(separator: "\n").first.map(String.init) ?? ""
            return Outcome(
                isDone: result.terminationStatus.isSuccess, output: result.standardOutput,
                reason: TerminalText.escaped(reason, limit: 1_000))
        } catch {
            return Outcome(isDone: false, output: "", reason: "\(program) cannot be started")
        }
    }
}
