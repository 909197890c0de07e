import Contacts
import Control
import Endpoints
package import Lines
package import Logging
import NIOPosix
import Sending
package import Settings

/// Finds out why machines do not see each other, or why a transfer does not start. Changes nothing.
package enum Doctor {
    /// Runs all checks at the same time.
    /// - Parameters:
    ///   - environment: names the home, which may be at fault too.
    ///   - peer: a machine to reach: a contact's or machine's name, the beginning of its id, or address[:port].
    ///   - logger: for a home with its settings.
    /// - Returns: the findings in the order of the checks.
    /// - Throws: `WaftError` `usage` if `peer` is no word for a peer.
    package static func examine(
        _ environment: [String: String], peer: String?, logger: @escaping @Sendable (Home, Settings) -> Logger
    ) async throws(WaftError) -> [CheckLine] {
        var reference: PeerReference?
        do throws(WaftError) { reference = try peer.map(PeerReference.init(typed:)) } catch { throw error.at("--peer") }
        let scene = await DoctorScene.look(environment, peer: reference, logger: logger)
        return await examine(scene, checks)
    }

    /// In the order of their lines: a later cause may follow from an earlier one.
    private static let checks: [any DoctorCheck] = [
        HomeCheck(), SettingsCheck(), ClockCheck(), DiskCheck(), InboxCheck(), ReceiverCheck(), VisibilityCheck(),
        PortCheck(), InterfacesCheck(), ResponderCheck(), MulticastCheck(), RadioCheck(), PeerCheck(),
        NotificationCheck(),
        AwakeCheck(), HandlersCheck(), SandboxCheck(), ProtectionCheck(),
    ]

    static func examine(_ scene: DoctorScene, _ checks: [any DoctorCheck]) async -> [CheckLine] {
        await withTaskGroup(of: (Int, [CheckLine]).self) { group in
            for (number, check) in checks.enumerated() {
                group.addTask {
                    let findings = await check.findings(scene)
                    return (
                        number,
                        findings.map {
                            CheckLine(name: check.name, result: $0.result, reason: $0.reason, hint: $0.hint)
                        }
                    )
                }
            }
            var lines = checks.map { _ in [CheckLine]() }
            for await (number, found) in group { lines[number] = found }
            return lines.flatMap(\.self)
        }
    }
}

/// Looks for some related causes of trouble. Changes nothing.
protocol DoctorCheck: Sendable {
    /// A word for the lines of the check.
    var name: String { get }

    /// - Returns: in the order of display; empty if there is nothing to look at. Takes a few seconds at most.
    func findings(_ scene: DoctorScene) async -> [DoctorFinding]
}

/// The result of a check, or of a part of it: one line for the cause and one for the cure.
struct DoctorFinding: Hashable, Sendable {
    let result: CheckLine.Result
    /// One line, not escaped.
    let reason: String
    /// The next step; nil if nothing has to be done. One line, not escaped.
    let hint: String?

    static func ok(_ reason: String) -> DoctorFinding { DoctorFinding(result: .ok, reason: reason, hint: nil) }

    static func warning(_ reason: String, hint: String) -> DoctorFinding {
        DoctorFinding(result: .warning, reason: reason, hint: hint)
    }

    static func problem(_ reason: String, hint: String) -> DoctorFinding {
        DoctorFinding(result: .problem, reason: reason, hint: hint)
    }
}

/// The facts that the checks share.
struct DoctorScene: Sendable {
    /// The receiver of this home.
    enum Receiver: Sendable {
        case running(StatusLine)
        case none
        /// One line.
        case silent(String)
    }

    var environment: [String: String]
    /// Nil if no place can be found, for the reason in `homeFault`.
    var home: Home?
    var homeFault: String?
    /// Whether no other user can change the home; only then are its files read.
    var isTrusted = false
    /// All defaults if they cannot be read, for the reason in `settingsFault`.
    var settings: Settings
    var settingsFault: String?
    var receiver = Receiver.none
    /// The peer that should be reached; nil to reach none.
    var peer: PeerReference?
    fileprivate var search: @Sendable () -> PeerFinder? = { nil }

    /// The search for peers; nil if the home cannot be used, which another check reports.
    var finder: PeerFinder? { search() }

    /// The status of the running receiver.
    var status: StatusLine? {
        if case .running(let status) = receiver { return status }
        return nil
    }

    init(environment: [String: String], settings: Settings, peer: PeerReference? = nil) {
        (self.environment, self.settings, self.peer) = (environment, settings, peer)
    }

    /// Reads the home and the settings, and asks the receiver.
    static func look(
        _ environment: [String: String], peer: PeerReference?,
        logger: @escaping @Sendable (Home, Settings) -> Logger
    ) async -> DoctorScene {
        var scene = DoctorScene(environment: environment, settings: Settings(hostName: Waft.hostName), peer: peer)
        do {
            let home = try Home(environment: environment)
            scene.home = home
            try home.checkTrust()
            scene.isTrusted = true
            do throws(Settings.InvalidError) {
                try scene.settings.read(file: home.configurationFile, dialects: .known, registry: home.typeRegistry())
                try scene.settings.read(environment: environment)
            } catch {
                scene.settingsFault = error.description
            }
            scene.receiver = await receiver(of: home)
            let settings = scene.settings
            scene.search = { try? PeerFinder.make(home: home, settings: settings, logger: logger(home, settings)) }
        } catch {
            scene.homeFault = "\(error)"
        }
        return scene
    }

    /// Time for the receiver to answer: a healthy one needs milliseconds.
    private static let answering: Duration = .seconds(3)

    private static func receiver(of home: Home) async -> Receiver {
        do throws(ControlError) {
            let socket = try ControlSocket(folder: home.run)
            let group = MultiThreadedEventLoopGroup.singleton
            let reply = try await ControlClient.ask(.status, at: socket, on: group, timeout: answering)
            guard case .status(let status) = reply else { return .silent("the receiver gave no status") }
            return .running(status)
        } catch {
            return error.code == .notRunning ? .none : .silent(error.description)
        }
    }
}
