import Discovery
import HTTPChannel
import LocalSendDialect
import SecureTransport
import Sharing
import Synchronization

/// Announces a listener, and registers it with the devices that announce themselves.
final class LocalSendAnswers: Sendable {
    /// Timeout of a registration: slow phones answer it within half a second.
    private static let timeout: Duration = .seconds(3)
    /// Another program of this machine has announced itself with this certificate, to look for devices: so long later
    /// the devices hear of this listener again.
    private static let correction: Duration = .seconds(6)

    private struct State {
        var places = AnswerSlots()
        var corrects = false
    }

    private let endpoint: LocalSendEndpoint
    private let port: UInt16
    private let state = Mutex(State())

    init(_ endpoint: LocalSendEndpoint, port: UInt16) {
        (self.endpoint, self.port) = (endpoint, port)
    }

    /// Sends the burst of announcements.
    func announce(in group: MulticastGroup) async {
        for pause in LocalSendDialect.burst {
            do { try await Task.sleep(for: pause) } catch { return }
            guard let message = try? await endpoint.side.device(port: port).message(isAnnouncement: true) else {
                return
            }
            await group.send(message)
        }
    }

    /// Answers announcements until the task is cancelled.
    func answer(_ datagrams: AsyncStream<MulticastDatagram>, in group: MulticastGroup) async {
        guard let own = try? await endpoint.side.fingerprint() else { return }
        await withDiscardingTaskGroup { tasks in
            for await datagram in datagrams {
                guard let device = LocalSendDevice(message: datagram.bytes) else { continue }
                if device.fingerprint.uppercased() == own {
                    if device.port != port, mayCorrect() { tasks.addTask { await self.correct(in: group) } }
                    continue
                }
                let source = datagram.source.host
                guard let target = endpoint.target(of: device, at: datagram),
                    state.withLock({ $0.places.take(device.fingerprint, at: source, now: .now) })
                else { continue }
                tasks.addTask {
                    await self.register(at: target)
                    self.state.withLock { $0.places.leave(source) }
                }
            }
        }
    }

    private func register(at target: PeerTarget) async {
        guard let own = try? await endpoint.side.device(port: port),
            let connection = try? await endpoint.open(target, within: Self.timeout)
        else { return }
        _ = try? await HTTPClient.run(connection.http) { http in
            try await LocalSendClient(http).register(own, within: Self.timeout)
        }
    }

    private func mayCorrect() -> Bool {
        state.withLock { state in
            defer { state.corrects = true }
            return !state.corrects
        }
    }

    private func correct(in group: MulticastGroup) async {
        try? await Task.sleep(for: Self.correction)
        state.withLock { $0.corrects = false }
        guard !Task.isCancelled, let message = try? await endpoint.side.device(port: port).message(isAnnouncement: true)
        else {
            return
        }
        await group.send(message)
    }
}

/// Which announcements are answered. Anybody can send them, with any fingerprints: so each source has a share of the
/// places, and of those that are remembered.
struct AnswerSlots {
    /// Devices with which this one registers at the same time, and those of one source.
    static let atOnce = 8
    static let atOncePerSource = 2
    /// A device is answered once in so long.
    static let pause: Duration = .seconds(1)
    /// Devices that are remembered for `pause`, and those of one source.
    static let remembered = 256
    static let rememberedPerSource = 4

    private struct Device: Hashable {
        let fingerprint: String
        let source: String
    }

    private var answered: [Device: ContinuousClock.Instant] = [:]
    private var underWay: [String: Int] = [:]

    /// - Returns: whether there is a place for the answer, until `leave`.
    mutating func take(_ fingerprint: String, at source: String, now: ContinuousClock.Instant) -> Bool {
        answered = answered.filter { now - $0.value < Self.pause }
        let device = Device(fingerprint: fingerprint, source: source)
        guard answered[device] == nil, answered.count < Self.remembered,
            answered.keys.count(where: { $0.source == source }) < Self.rememberedPerSource,
            underWay.values.reduce(0, +) < Self.atOnce, underWay[source, default: 0] < Self.atOncePerSource
        else { return false }
        answered[device] = now
        underWay[source, default: 0] += 1
        return true
    }

    mutating func leave(_ source: String) {
        let left = underWay[source, default: 1] - 1
        underWay[source] = left > 0 ? left : nil
    }
}
