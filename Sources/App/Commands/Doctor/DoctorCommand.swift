import ArgumentParser
import Endpoints
import Foundation
import Lines
import Sending
import Settings
import Sharing

/// `waft doctor`: finds out why machines do not see each other, or why a transfer does not start.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why machines do not see each other, or why a transfer does not start.",
        discussion: """
            Example: waft doctor --peer kitchen

            Each line is ok, a warning or a problem; the line below it names the next step. It changes nothing. Run it on \
            both machines. Exit code 0 without a problem, 1 with one.
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A machine to reach: a contact's or machine's name, the beginning of its id, or address[:port].",
            valueName: "name-or-address"),
        completion: .peers)
    var peer: String?

    @OptionGroup var output: OutputOptions

    struct Fields: Encodable {
        /// The word for the check.
        var name: String
        var result: DoctorFinding.Result
        var reason: String
        var hint: String?
    }

    func run() async throws {
        let peer = try self.peer.map { text throws(CommandError) in try Self.reference(text) }
        let scene = await DoctorScene.look(ProcessInfo.processInfo.environment, peer: peer)
        var hasProblem = false
        for (check, findings) in await Self.examine(scene, DoctorChecks.all) {
            for finding in findings {
                hasProblem = hasProblem || finding.result == .problem
                show(finding, of: check)
            }
        }
        if hasProblem { throw WaftExit.unexpected.code }
    }

    private static func reference(_ text: String) throws(CommandError) -> PeerReference {
        do throws(PeerReference.FormatError) {
            return try PeerReference(text)
        } catch {
            throw CommandError(.usage, TerminalText.escaped("--peer: \(error)", limit: 400))
        }
    }

    /// Runs all checks at the same time.
    /// - Returns: in the order of the checks.
    static func examine(
        _ scene: DoctorScene, _ checks: [any DoctorCheck]
    ) async -> [(name: String, findings: [DoctorFinding])] {
        await withTaskGroup(of: (Int, [DoctorFinding]).self) { group in
            for (number, check) in checks.enumerated() {
                group.addTask { (number, await check.findings(scene)) }
            }
            var results = checks.map { (name: $0.name, findings: [DoctorFinding]()) }
            for await (number, findings) in group { results[number].findings = findings }
            return results
        }
    }

    private func show(_ finding: DoctorFinding, of check: String) {
        if output.json {
            let fields = Fields(name: check, result: finding.result, reason: finding.reason, hint: finding.hint)
            return EventLine.check(fields).print()
        }
        let word = finding.result.rawValue
        let padding = String(repeating: " ", count: 9 - word.count)
        Console.shared.result("\(word)\(padding)\(check): \(TerminalText.escaped(finding.reason, limit: 1_000))")
        guard let hint = finding.hint else { return }
        Console.shared.result(String(repeating: " ", count: 9) + TerminalText.escaped(hint, limit: 1_000))
    }
}
