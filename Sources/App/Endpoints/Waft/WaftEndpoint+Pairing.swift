import HTTPChannel
import NIOCore
import Pairing
import SecureTransport
import Sharing
import WaftDialect

extension WaftEndpoint: PairingEndpoint {
    package func pair<Result: Sendable>(
        with target: PeerTarget, within limit: Duration,
        _ body: @escaping @Sendable (any PairingConnection) async throws -> sending Result
    ) async throws -> Result {
        let connection = try await connect(to: target, within: limit)
        return try await withTaskExecutorPreference(blocking) {
            try await HTTPClient.run(connection.http) { http in
                try await body(
                    WaftPairingConnection(
                        peer: connection.peer, client: WaftClient(http), channel: connection.http.channelBelow))
            }
        }
    }
}

/// Pairing letters as requests and answers of one HTTP connection.
private struct WaftPairingConnection: PairingConnection {
    let peer: PeerID
    let client: WaftClient
    let channel: any Channel

    var isOpen: Bool { channel.isActive }
    var address: DialAddress? {
        guard let remote = channel.remoteAddress, var address = DialAddress(of: remote) else { return nil }
        address.port = remote.port ?? 0
        return address
    }

    func exporter(_ purpose: PairingPurpose) async throws -> [UInt8] {
        try await channel.eventLoop.submit { [channel] in
            try channel.tlsHandler().exportKeyingMaterial(
                label: purpose.exporterLabel, context: [], length: PairingSession.exporterBytes)
        }.get()
    }

    func exchange(_ letter: PairingLetter, silence: Duration, maximum: Duration?) async throws -> PairingLetter {
        do {
            return try await client.pair(letter, timeout: silence, maximum: maximum)
        } catch is HTTPError {
            throw PairingConnectionError()
        }
    }

    var close: @Sendable () -> Void { { [channel] in channel.close(promise: nil) } }

    func whenClosed(_ body: @escaping @Sendable () -> Void) {
        channel.closeFuture.whenComplete { _ in body() }
    }
}
