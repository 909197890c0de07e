import Contacts
import Control
import Endpoints
import Foundation
import Lines
import NIOPosix
import Operations
import Sending
import Settings
import Sharing
import SystemCalls

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

    /// The status of the running receiver.
    var status: StatusLine? {
        if case .running(let status) = receiver { return status }
        return nil
    }

    init(environment: [String: String], settings: Settings, peer: PeerReference? = nil) {
        (self.environment, self.settings, self.peer) = (environment, settings, peer)
    }

    /// Reads the home and the settings, and asks the receiver.
    static func look(_ environment: [String: String], peer: PeerReference?) async -> DoctorScene {
        var scene = DoctorScene(
            environment: environment, settings: Settings(hostName: Waft.hostName), peer: peer)
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

    /// The search for peers; nil if the home cannot be used, which another check reports.
    var finder: PeerFinder? {
        guard isTrusted, let home else { return nil }
        return try? CommandFinder.make(CommandContext(home: home, settings: settings))
    }
}
