import Discovery
import HTTPChannel
import LocalSendDialect
import Logging
import NIOPosix
import SecureTransport
import Settings
import Sharing
import Synchronization

extension LocalSendEndpoint {
    /// Timeout for a device to answer.
    private static let timeout: Duration = .seconds(3)
    /// A device is asked again at this interval, and is gone after so many failures.
    private static let askingInterval: Duration = .seconds(15)
    private static let failuresBeforeGone = 2
    /// Hosts that are asked at the same time, and the time that each has.
    private static let scannedAtOnce = 50
    private static let scanTimeout: Duration = .seconds(1)
    /// Devices in view: anybody on the link can announce thousands.
    private static let devicesInView = 256

    /// Devices that announce themselves, or register here because this side has announced itself, are asked for their
    /// names: only a device that answers is found.
    package func search(_ found: AsyncStream<PeerEvent>.Continuation, isWatched: Bool) async {
        guard options.isEnabled, settings.current.discovery else { return }
        let group: MulticastGroup
        do {
            group = try self.group()
        } catch {
            found.yield(.trouble("no devices of LocalSend can be found: \(error)"))
            return
        }
        let view = LocalSendView(limit: Self.devicesInView)
        let datagrams = group.datagrams()
        await group.join()
        await withDiscardingTaskGroup { tasks in
            tasks.addTask {
                await withDiscardingTaskGroup { asking in
                    guard let own = try? await self.side.fingerprint() else { return }
                    for await datagram in datagrams {
                        guard let device = LocalSendDevice(message: datagram.bytes), !device.isWaft,
                            device.fingerprint.uppercased() != own,
                            let target = self.target(of: device, at: datagram), view.enter(target)
                        else { continue }
                        asking.addTask { await self.ask(target, view, found) }
                    }
                }
            }
            tasks.addTask { if await self.announces() { await self.attract(group, view, found) } }
        }
        await group.leave()
    }

    private func ask(
        _ target: PeerTarget, _ view: LocalSendView, _ found: AsyncStream<PeerEvent>.Continuation
    ) async {
        guard let peer = try? await meet(target, within: Self.timeout), !isWaft(peer) else {
            return view.leave(target)
        }
        found.yield(.found(peer))
        await follow(peer, view, found)
    }

    /// Waits until a device answers no more, or the task is cancelled.
    private func follow(
        _ peer: FoundPeer, _ view: LocalSendView, _ found: AsyncStream<PeerEvent>.Continuation
    ) async {
        var failures = 0
        while failures < Self.failuresBeforeGone {
            do { try await Task.sleep(for: Self.askingInterval) } catch { return }
            let answer = try? await meet(peer.target, within: Self.timeout)
            failures = answer?.id == peer.id ? 0 : failures + 1
        }
        guard !Task.isCancelled else { return }
        view.leave(peer.target)
        found.yield(.gone(peer.id))
    }

    // MARK: Scanning

    /// Asks each host of the own networks of 256 addresses, at LocalSend's port.
    package func scan(_ found: AsyncStream<PeerEvent>.Continuation) async {
        guard options.isEnabled else { return }
        let hosts = OwnNetworks.current(denied: settings.current.denied).scanned.flatMap(\.hosts)
        let port = options.port
        await withTaskGroup(of: Void.self) { tasks in
            for (number, host) in hosts.enumerated() {
                if number >= Self.scannedAtOnce { await tasks.next() }
                guard !Task.isCancelled else { break }
                tasks.addTask {
                    let target = PeerTarget(dialect, addresses: [DialAddress(host: host, port: port)])
                    guard let peer = try? await meet(target, within: Self.scanTimeout), !isWaft(peer) else { return }
                    found.yield(.found(peer))
                }
            }
        }
    }

    /// A Waft peer also publishes its own service: it is not shown twice.
    private func isWaft(_ peer: FoundPeer) -> Bool { peer.card?.device == LocalSendSide.waftDevice }

    /// Announces a listener of its own, and asks the devices that register there.
    private func attract(
        _ group: MulticastGroup, _ view: LocalSendView, _ found: AsyncStream<PeerEvent>.Continuation
    ) async {
        let side = self.side
        do {
            let listener = try await SecureListener.bind(
                SecureListener.Configuration(port: 0, profile: .localsend) { try side.loadIdentity() },
                group: .singleton, logger: logger)
            let answers = LocalSendAnswers(self, port: UInt16(clamping: listener.port))
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await answers.announce(in: group) }
                tasks.addTask {
                    try? await listener.run { channel, _ in
                        try HTTPServer.configure(channel)
                    } onConnection: { connection in
                        let address = connection.remoteAddress.flatMap { DialAddress(of: $0) }
                        await LocalSendRegistry.serve(connection.output, device: { try? await side.device() }) {
                            device in
                            guard !device.isWaft, let address, let target = self.target(of: device, at: address),
                                view.enter(target)
                            else { return }
                            await self.ask(target, view, found)
                        }
                    }
                }
                await tasks.waitForAll()
            }
        } catch {
            logger.debug("devices of LocalSend cannot register here", metadata: ["reason": "\(error)"])
        }
    }
}

/// The devices that were asked.
final class LocalSendView: Sendable {
    private let targets = Mutex<Set<PeerTarget>>([])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// - Returns: whether it is to be asked: it was not before, and there are not too many.
    func enter(_ target: PeerTarget) -> Bool {
        targets.withLock { $0.count < limit && $0.insert(target).inserted }
    }

    func leave(_ target: PeerTarget) { targets.withLock { _ = $0.remove(target) } }
}
