import Discovery
import HTTPChannel
import NIOPosix
import SecureTransport
package import Sharing
import WaftDialect

extension WaftEndpoint: CodeEndpoint {
    /// Peers that are asked at most: anybody on the link can announce thousands.
    private static let asked = 256
    /// How long one peer may take to answer.
    private static let answering: Duration = .seconds(3)
    /// After the first claim, how long the answers of others are waited for: a second claim makes both doubtful.
    private static let doubt: Duration = .milliseconds(500)

    private enum Step: Sendable {
        case seen(DiscoveredService)
        case answered(PeerTarget, instance: String, Result<CodeClaim?, any Error>)
        case over
    }

    package func claims(of nameplate: Int, within limit: Duration) async throws(TransferError) -> [CodeClaim] {
        guard let directory = try? directory.current?.get() else { return [] }
        var claims: [PeerID: CodeClaim] = [:]
        var refusal: TransferError?
        await withTaskGroup(of: Step.self) { group in
            let (services, feed) = AsyncStream<DiscoveredService>.makeStream()
            let browsing = Task {
                for await case .updated(let service) in directory.browse(type: WaftDialect.serviceType) {
                    feed.yield(service)
                }
                feed.finish()
            }
            defer { browsing.cancel() }
            func next() { group.addTask { await services.first { _ in true }.map { .seen($0) } ?? .over } }
            func end(after time: Duration) {
                group.addTask {
                    try? await Task.sleep(for: time)
                    return .over
                }
            }
            next()
            end(after: limit)
            /// The newest addresses of each peer; nil for one that has answered.
            var places: [String: PeerTarget?] = [:]
            func ask(_ target: PeerTarget, _ instance: String) {
                group.addTask {
                    do {
                        let claim = try await claim(of: nameplate, at: target, within: Self.answering)
                        return .answered(target, instance: instance, .success(claim))
                    } catch {
                        return .answered(target, instance: instance, .failure(error))
                    }
                }
            }
            for await step in group {
                switch step {
                case .over: group.cancelAll()
                case .seen(let service):
                    next()
                    guard let target = target(of: service) else { continue }
                    switch places[service.instance] {
                    case .some(.some): places[service.instance] = target
                    case .some(.none): continue
                    case nil where places.count < Self.asked:
                        places[service.instance] = target
                        ask(target, service.instance)
                    case nil: continue
                    }
                case .answered(let target, let instance, .failure(let fault)):
                    if let fault = fault as? TransferError, fault.code == .stopping { refusal = fault }
                    // Its addresses become known one by one.
                    if case .some(.some(let newer)) = places[instance], newer != target {
                        ask(newer, instance)
                    } else {
                        places[instance] = nil
                    }
                case .answered(_, let instance, .success(let claim)):
                    places[instance] = .some(nil)
                    guard let claim else { continue }
                    if claims.isEmpty { end(after: Self.doubt) }
                    claims[claim.shownKey] = claim
                }
            }
        }
        if claims.isEmpty, let refusal { throw refusal }
        return claims.values.sorted { $0.shownKey.short < $1.shownKey.short }
    }

    private func target(of service: DiscoveredService) -> PeerTarget? {
        let addresses = service.addresses.map {
            DialAddress(host: $0.host, port: Int($0.port), scopeID: $0.scope)
        }
        return addresses.isEmpty ? nil : PeerTarget(dialect, addresses: addresses)
    }

    package func claim(
        of nameplate: Int, at target: PeerTarget, within limit: Duration
    ) async throws -> CodeClaim? {
        var limits = self.limits
        limits.dialDeadline = min(limits.dialDeadline, limit)
        let dialer = try SecureDialer(
            identity: try Identity.make(), profile: TLSProfile(applicationProtocols: [WaftDialect.codeALPN]),
            limits: limits, group: .singleton, logger: logger)
        let connection = try await dialer.dial(target.addresses) { channel, _ in
            try HTTPClient.configure(channel, answerLimit: 1 << 12, watchInterval: watchInterval)
        }
        let isShown = try await HTTPClient.run(connection.output) { http in
            try await WaftClient(http).shows(nameplate: nameplate, timeout: limit)
        }
        return isShown ? CodeClaim(target, shownKey: connection.peerID) : nil
    }
}
