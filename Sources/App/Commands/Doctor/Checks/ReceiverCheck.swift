import ArgumentParser
import Control
import Endpoints
import Glibc
import Lines
import Settings
import Sharing

/// The receiver of this home, and others on the machine.
struct ReceiverCheck: DoctorCheck {
    let name = "receiver"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted else { return [] }
        let all = Self.others(than: scene.status.map { Int32(truncatingIfNeeded: $0.processID) })
        return [Self.finding(scene.receiver, all, user: geteuid())]
    }

    /// - Parameters:
    ///   - others: the other receivers on this machine.
    ///   - user: whose receivers they should be; those of other users are no fault.
    static func finding(_ receiver: DoctorScene.Receiver, _ all: [ProcessEntry], user: uid_t) -> DoctorFinding {
        let others = all.filter { $0.user == user }
        let foreign = all.count - others.count
        let beside = foreign == 0 ? "" : "; beside \(foreign) of other users"
        let list = others.map(Self.text).joined(separator: ", ")
        switch receiver {
        case .silent(let reason):
            return .problem("the receiver cannot be asked: \(reason)", hint: "end it and start it again")
        case .none where others.isEmpty:
            return .warning(
                "no receiver is running: nobody can send to this machine\(beside)",
                hint: "start one: waftd, or in a terminal: waft receive")
        case .none:
            return .warning(
                "no receiver of this home is running, but others are: \(list)",
                hint: "set WAFT_HOME as that receiver has it, or start one for this home: waftd")
        case .running(let status):
            let own = "process \(status.processID) as \(status.name), port \(status.port)"
            if others.isEmpty { return .ok(own + beside) }
            return .problem(
                "\(others.count + 1) receivers run on this machine: \(own); \(list)",
                hint: "end all but one: senders may reach the wrong one, and only one has port \(Endpoints.defaultPort)"
            )
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
        let home = process.variable("WAFT_HOME").map { " (WAFT_HOME=\($0))" } ?? ""
        return "process \(process.id)\(home)"
    }
}
