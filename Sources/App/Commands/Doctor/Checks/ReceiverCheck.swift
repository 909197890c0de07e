import ArgumentParser
import Control
import Endpoints
import Glibc
import Settings
import Sharing

/// The receiver of this home, and others on the machine.
struct ReceiverCheck: DoctorCheck {
    let name = "receiver"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted else { return [] }
        let others = Self.others(than: scene.status.map { Int32(truncatingIfNeeded: $0.processID) })
        let list = others.map(Self.text).joined(separator: ", ")
        switch scene.receiver {
        case .silent(let reason):
            return [.problem("the receiver cannot be asked: \(reason)", hint: "end it and start it again")]
        case .none where others.isEmpty:
            return [
                .warning(
                    "no receiver is running: nobody can send to this machine",
                    hint: "start one: waftd, or in a terminal: waft receive")
            ]
        case .none:
            return [
                .warning(
                    "no receiver of this home is running, but others are: \(list)",
                    hint: "set WAFT_HOME as that receiver has it, or start one for this home: waftd")
            ]
        case .running(let status):
            let own = "process \(status.processID) as \(status.name), port \(status.port)"
            if others.isEmpty { return [.ok(own)] }
            let words = "\(others.count + 1) receivers run on this machine: \(own); \(list)"
            let hint =
                "end all but one: senders may reach the wrong one, and only one has port \(Endpoints.defaultPort)"
            let isOwn = others.contains { $0.user == geteuid() }
            return [isOwn ? .problem(words, hint: hint) : .warning(words, hint: hint)]
        }
    }

    /// Other receivers that share this machine's network.
    private static func others(than own: Int32?) -> [ProcessEntry] {
        let network = ProcessEntry.network("/proc/self")
        return ProcessEntry.all.filter { process in
            guard process.id != own, process.network == nil || process.network == network else { return false }
            switch process.name {
            case "waftd": return !process.words.isEmpty
            case "waft": return process.words.dropFirst().first == ReceiveCommand.configuration.commandName
            default: return false
            }
        }
    }

    private static func text(_ process: ProcessEntry) -> String {
        guard process.user == geteuid() else { return "process \(process.id) of another user" }
        let home = process.variable("WAFT_HOME").map { " (WAFT_HOME=\($0))" } ?? ""
        return "process \(process.id)\(home)"
    }
}
