import Executors
import Logging
import SecureTransport
import ServiceManager
import Settings
package import Sharing
import WebDialect

/// A page for guests who have only a browser: HTTP, over TLS unless the host wants none. It finds no peers and sends to none.
package struct WebEndpoint: Endpoint {
    package let dialect = Dialect.web
    let settings: LiveSettings
    let side: WebSide
    let blocking: BlockingExecutor
    let sockets: PassedSockets
    let logger: Logger

    package init(_ parts: EndpointParts) {
        (settings, blocking, sockets, logger) = (parts.settings, parts.blocking, parts.sockets, parts.logger)
        side = WebSide(parts.settings, folder: parts.folder)
    }

    package func search(_ found: AsyncStream<PeerEvent>.Continuation, isWatched: Bool) async {}

    package func send(_ request: SendRequest) async throws(SendError) -> SendReport {
        throw SendError(.unreachable, "a browser takes what it fetches: share it with waft web")
    }
}

/// The certificate of the page.
struct WebSide: Sendable {
    private static let fileName = "web.pem"

    let settings: LiveSettings
    /// Holds the certificate; nil for one that lives in memory only.
    let folder: String?

    init(_ settings: LiveSettings, folder: String?) {
        (self.settings, self.folder) = (settings, folder)
    }

    /// The user's own, or else one that Waft has made. May block on the disk.
    /// - Throws: `IdentityError`.
    func identity(for names: CertificateNames) throws(IdentityError) -> Identity {
        let own = settings.current.web
        if let certificate = own.certificate { return try .load(certificate: certificate, key: own.key ?? certificate) }
        guard let folder else { return try .make(for: names) }
        return try .load(orMakeIn: folder, named: Self.fileName, for: names)
    }
}

extension TLSProfile {
    /// With browsers: any, by TLS 1.2 or 1.3, without a certificate of theirs.
    static let web: TLSProfile = {
        var profile = TLSProfile(applicationProtocols: [])
        profile.proof = .nothing(in: .web)
        profile.versions = .tls12 ... .tls13
        return profile
    }()
}
