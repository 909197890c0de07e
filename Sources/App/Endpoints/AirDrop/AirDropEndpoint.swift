import AirDropDialect
import Discovery
import Executors
import HTTPChannel
import Logging
import NIOPosix
import SecureTransport
import ServiceManager
import Settings
package import Sharing
import Synchronization

/// AirDrop on the network: HTTP over TLS without a proof of keys, found by mDNS.
package struct AirDropEndpoint: Endpoint {
    package let dialect = Dialect.airdrop
    let settings: LiveSettings
    let side: AirDropSide
    let directory: SharedDirectory
    /// Threads for conversations that read or write the disk.
    let blocking: BlockingExecutor
    let sockets: PassedSockets
    let radio: Radio
    let logger: Logger

    package init(_ parts: EndpointParts) {
        (settings, directory, blocking) = (parts.settings, parts.directory, parts.blocking)
        (sockets, radio, logger) = (parts.sockets, parts.radio, parts.logger)
        side = AirDropSide(parts.settings)
    }

    var options: AirDropSettings { settings.current.airdrop }

    func dial(_ target: PeerTarget, within limit: Duration) async throws -> HTTPClient.Connection {
        var limits = TransportLimits()
        limits.dialDeadline = min(limits.dialDeadline, limit)
        let key = try await withTaskExecutorPreference(blocking) { try side.key() }
        let dialer = try SecureDialer(
            identity: key, profile: .airdrop, limits: limits, group: .singleton, logger: logger)
        return try await dialer.dial(target.addresses) { channel, _ in
            try HTTPClient.configure(channel, answerLimit: 1 << 20)
        }.output
    }
}

/// This side as an AirDrop sender: its card, and its key for peers that ask for one.
final class AirDropSide: Sendable {
    private let settings: LiveSettings
    /// New in each process, as the key is (security rule 14).
    let instance = AirDropDialect.makeInstance()
    private let identity = Mutex<Identity?>(nil)
    private let known = Mutex<(folder: String, identity: AppleIdentity)?>(nil)

    init(_ settings: LiveSettings) {
        self.settings = settings
    }

    var card: AirDropCard {
        let settings = settings.current
        return AirDropCard(name: settings.name, model: settings.airdrop.modelName, record: apple?.record ?? [])
    }

    /// The user's own Apple identity; nil if the settings name none, or it cannot be read.
    private var apple: AppleIdentity? {
        guard let folder = settings.current.airdrop.identity else { return nil }
        return known.withLock { known in
            if let known, known.folder == folder { return known.identity }
            guard let identity = try? AppleIdentity(folder) else { return nil }
            known = (folder, identity)
            return identity
        }
    }

    /// The key of a listener: the user's own, or a new one: nothing is to be recognised by it (security rule 14).
    func listenerKey() throws -> Identity { try apple?.identity ?? Identity.make(kind: .rsa2048) }

    /// The user's own key, or one for this process. Makes that at the first call, which takes a while.
    func key() throws -> Identity {
        if let apple { return apple.identity }
        return try identity.withLock { identity in
            if let identity { return identity }
            let made = try Identity.make(kind: .rsa2048)
            identity = made
            return made
        }
    }
}

extension TLSProfile {
    /// With AirDrop's peers: any peer, by TLS 1.2 or 1.3, without names of protocols. This side has an RSA key.
    static let airdrop: TLSProfile = {
        var profile = TLSProfile(applicationProtocols: [])
        profile.proof = .nothing(in: .airdrop)
        profile.versions = .tls12 ... .tls13
        return profile
    }()
}

/// The facts about an AirDrop peer in a target.
extension PeerTarget {
    /// The fact under which a peer's model is kept; no key of a TXT record has a space.
    static let modelKey = "the model"

    /// Whether a peer on the radio link takes folders: Macs do, and phones cannot open them.
    var takesFolders: Bool {
        !isOnRadio || announcement?.facts[Self.modelKey]?.contains("Mac") == true
    }

    var airDropInstance: String { announcement?.instance ?? "" }

    /// For messages.
    var airDropName: String { name ?? airDropInstance }

    var airDropFlags: AirDropFlags { AirDropDialect.flags(txt: announcement?.facts ?? [:]) }

    /// Nobody's fingerprint; the same as long as the peer goes by this instance name.
    var airDropID: PeerID { .unproven(.airdrop, seed: Array(airDropInstance.utf8)) }
}
