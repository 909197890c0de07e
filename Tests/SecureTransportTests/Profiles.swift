import Sharing
import TestSupport

@testable import SecureTransport

extension TLSProfile {
    /// With a proved key on both sides.
    static let waft = TLSProfile(applicationProtocols: ["waft/1"])

    /// Without a proof of keys, also by TLS 1.2.
    static let airdrop: TLSProfile = {
        var profile = TLSProfile(applicationProtocols: [])
        profile.proof = .nothing(in: .keyless)
        profile.versions = .tls12 ... .tls13
        return profile
    }()

    /// With a proof of the peers that have one, also by TLS 1.2.
    static let offered: TLSProfile = {
        var profile = TLSProfile.airdrop
        profile.proof = .ifOffered(in: .keyless)
        return profile
    }()
}

extension SecureListener.Configuration {
    init(host: String? = nil, port: Int = 0, identity: Identity) {
        self.init(host: host, port: port, identity: identity, profile: .waft)
    }
}
