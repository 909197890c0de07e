import Endpoints
import Executors
package import Logging
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
            blocking: BlockingExecutor(threads: 8), folder: home.state, announces: home.announces, logger: logger)
        _ = try parts.directory.current?.get()
        return PeerFinder(
            endpoints: Endpoints.all.map { $0.make(parts) }, contacts: contacts, remembered: home.rememberedPeers,
            searches: parts.searches)
    }
}
