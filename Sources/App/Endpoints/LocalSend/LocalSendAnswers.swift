import Discovery
import HTTPChannel
import LocalSendDialect
import SecureTransport
import Sharing
import Synchronization

/// Announces a listener, and registers it with the devices that announce themselves.
final class LocalSendAnswers: Sendable {
    /// Devices with which this one registers at the same time.
    private static let atOnce = 8
    /// A device is answered once in so long.
    private static let pause: Duration = .seconds(1)
    /// Devices that are remembered for `pause`.
    private static let remembered = 256
    /// Timeout of a registration: slow phones answer it within half a second.
    private static let timeout: Duration = .seconds(3)
    /// Another program of this machine has announced itself with this certificate, to look for devices: so long later
    /// the devices hear of this listener again.
    private static let correction: Duration = .seconds(6)

    private struct State {
        var lastAnswers: [String: ContinuousClock.Instant] = [:]
        var underWay = 0
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
            guard let message = try? endpoint.side.device(port: port).message(isAnnouncement: true) else { return }
            await group.send(message)
        }
    }

    /// Answers announcements until the task is cancelled.
    func answer(_ datagrams: AsyncStream<MulticastDatagram>, in group: MulticastGroup) async {
        guard let own = try? endpoint.side.fingerprint() else { return }
        await withDiscardingTaskGroup { tasks in
            for await datagram in datagrams {
                guard let device = LocalSendDevice(message: datagram.bytes) else { continue }
                if device.fingerprint.uppercased() == own {
                    if device.port != port, mayCorrect() { tasks.addTask { await self.correct(in: group) } }
                    continue
                }
                guard let target = endpoint.target(of: device, at: datagram), mayAnswer(device) else { continue }
                tasks.addTask {
                    await self.register(at: target)
                    self.state.withLock { $0.underWay -= 1 }
                }
            }
        }
    }

    private func mayAnswer(_ device: LocalSendDevice) -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            state.lastAnswers = state.lastAnswers.filter { now - $0.value < Self.pause }
            guard state.underWay < Self.atOnce, state.lastAnswers.count < Self.remembered,
                state.lastAnswers[device.fingerprint] == nil
            else { return false }
            state.lastAnswers[device.fingerprint] = now
            state.underWay += 1
            return true
        }
    }

    private func register(at target: PeerTarget) async {
        guard let own = try? endpoint.side.device(port: port),
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
        guard !Task.isCancelled, let message = try? endpoint.side.device(port: port).message(isAnnouncement: true)
        else {
            return
        }
        await group.send(message)
    }
}
