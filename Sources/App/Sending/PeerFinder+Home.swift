import Contacts
import Control
import Endpoints
import Executors
import Lines
package import Logging
import NIOPosix
import SecureTransport
package import Settings
import Sharing

extension PeerFinder {
    /// Finds peers for this user: with the identity and contacts of the home, and discovery as set.
    /// - Throws: an error with one readable line.
    package static func make(home: Home, settings: Settings, logger: Logger) throws -> PeerFinder {
        try home.makeFolders()
        let contacts = home.contactBook(logger)
        let parts = EndpointParts(
            settings: LiveSettings(settings), identity: try Identity.load(orMakeIn: home.state), contacts: contacts,
            blocking: BlockingExecutor(threads: 8), folder: home.state, announces: home.announcesNow, logger: logger)
        _ = try parts.directory.current?.get()
        return PeerFinder(
            endpoints: Endpoints.all.map { $0.make(parts) }, contacts: contacts, remembered: home.rememberedPeers,
            scanned: home.scannedPeers, searches: parts.searches)
    }
}

extension Home {
    /// Whether this machine may announce itself to strangers now: by the stored choice, or because the running receiver
    /// was started so.
    package var announcesNow: @Sendable () async -> Bool {
        { [run, announces] in
            if announces() { return true }
            guard let socket = try? ControlSocket(folder: run),
                case .status(let status)? = try? await ControlClient.ask(
                    .status, at: socket, on: MultiThreadedEventLoopGroup.singleton, timeout: .seconds(1))
            else { return false }
            return status.visibility == Visibility.everyone.rawValue
        }
    }
}
