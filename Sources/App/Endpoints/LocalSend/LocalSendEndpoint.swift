import Contacts
import Discovery
import Executors
import HTTPChannel
import LocalSendDialect
import Logging
import NIOPosix
import SecureTransport
import ServiceManager
import Settings
package import Sharing
import Synchronization

/// LocalSend on the network: HTTP over TLS, found by announcements in a multicast group.
package struct LocalSendEndpoint: Endpoint {
    package let dialect = Dialect.localsend
    let settings: LiveSettings
    let side: LocalSendSide
    let contacts: ContactBook?
    /// Threads for conversations that read or write the disk.
    let blocking: BlockingExecutor
    let sockets: PassedSockets
    /// Whether this machine may announce itself to strangers.
    let announces: @Sendable () async -> Bool
    let logger: Logger

    package init(_ parts: EndpointParts) {
        (settings, contacts, blocking) = (parts.settings, parts.contacts, parts.blocking)
        (sockets, announces, logger) = (parts.sockets, parts.announces, parts.logger)
        side = LocalSendSide(parts.settings, folder: parts.folder, blocking: parts.blocking)
    }

    var options: LocalSendSettings { settings.current.localsend }

    /// The group of announcements.
    func group() throws -> MulticastGroup {
        let groups = LocalSendDialect.groups
        return try MulticastGroup(
            MulticastAddresses(ipv4: groups.v4, ipv6: groups.v6, port: UInt16(options.port)),
            denied: settings.current.denied, logger: logger)
    }

    // MARK: Addresses

    /// An address with LocalSend's port, or with that of the settings. All other addresses are for Waft's own dialect.
    package func target(host: String, port: UInt16) -> PeerTarget? {
        guard port == LocalSendDialect.defaultPort || Int(port) == options.port else { return nil }
        return candidate(host: host, port: port)
    }

    package func candidate(host: String, port: UInt16?) -> PeerTarget? {
        guard options.isEnabled else { return nil }
        return PeerTarget(
            dialect, addresses: [DialAddress(host: host, port: Int(port ?? LocalSendDialect.defaultPort))])
    }

    package func probe(_ target: PeerTarget, within limit: Duration) async -> ProbeResult {
        do {
            let connection = try await dial(target, within: limit)
            try await HTTPClient.run(connection.http) { _ in }
            return .expected
        } catch let error as DialError where error.kind == .wrongKey {
            return .other(nil)
        } catch {
            return .nothing
        }
    }

    package func meet(_ target: PeerTarget, within limit: Duration) async throws(MeetingError) -> FoundPeer {
        do {
            let connection = try await open(target, within: limit)
            let device = try? await HTTPClient.run(connection.http) { http in
                try await LocalSendClient(http).inform(asking: await side.fingerprint(), within: limit)
            }
            guard let device else {
                throw MeetingError(.otherProgram, "a program answers there that is not LocalSend")
            }
            return found(device, connection.peer, at: target)
        } catch let error as DialError {
            throw MeetingError(error)
        } catch let error as MeetingError {
            throw error
        } catch {
            throw MeetingError(.unreachable, "\(error)")
        }
    }

    /// A device that has answered.
    func found(_ device: LocalSendDevice, _ peer: PeerID, at target: PeerTarget) -> FoundPeer {
        var (peer, known) = target.confirmed(by: device, as: peer)
        known.name = device.alias
        let kind = device.isWaft ? LocalSendSide.waftDevice : device.deviceType
        return FoundPeer(id: peer, card: Card(name: device.alias, device: kind), target: known)
    }
}

extension TLSProfile {
    /// With LocalSend's peers: any peer, by TLS 1.2 or 1.3. A certificate is asked for and not demanded.
    static let localsend: TLSProfile = {
        var profile = TLSProfile(applicationProtocols: [])
        profile.proof = .ifOffered(in: .localsend)
        profile.versions = .tls12 ... .tls13
        return profile
    }()
}
