import Handlers
import Journal
import Logging
import NIOCore
import NIOPosix
import ServiceManager
import Sharing
import Synchronization

/// Tells the service manager when the receiver is ready, its state in one line, and that it works.
final class ServiceReports: Sendable {
    private let manager: ServiceManager
    private let name: @Sendable () -> String
    private let consent: ConsentQueue
    private let logger: Logger
    private let status = PacedStatus()
    /// Nil until the receiver can be used; 0 while it is not visible, and its port is closed.
    private let port = Mutex<Int?>(nil)

    init(
        _ manager: ServiceManager, name: @escaping @Sendable () -> String, consent: ConsentQueue, logger: Logger
    ) {
        (self.manager, self.name, self.consent, self.logger) = (manager, name, consent, logger)
    }

    // MARK: Notices

    /// The port is bound, or closed (0): the receiver can be used. It may not be published yet.
    func learn(port: Int) {
        let isFirst = self.port.withLock { known in
            defer { known = port }
            return known == nil
        }
        if isFirst { manager.ready(Self.line(name: name(), port: port)) } else { status.changed() }
    }

    func saw(_ event: ReceiverEvent) {
        if case .reception(.progressed) = event { return }
        status.changed()
    }

    /// The receiver begins to read its settings again.
    func reloading() { manager.reloading() }

    /// The settings have been read; they may be the old ones, if there is a fault.
    func reloaded() {
        guard let port = port.withLock({ $0 }) else { return }
        manager.ready(Self.line(name: name(), port: port))
    }

    func stopping() { manager.stopping() }

    // MARK: Running

    /// Reports until the task is cancelled.
    func run(_ parts: ReceiverParts) async {
        await withDiscardingTaskGroup { group in
            let reception = parts.reception
            group.addTask { [self] in
                await status.run {
                    guard let port = port.withLock({ $0 }) else { return nil }
                    return Self.line(
                        name: name(), port: port, transfers: reception.openTransfers, offers: consent.offers.count)
                } show: {
                    manager.show($0)
                }
            }
            group.addTask { [self] in
                for await _ in consent.events() { status.changed() }
            }
            if let interval = manager.watchdogInterval {
                let watched = Self.watched(
                    engine: parts.engine, journal: parts.store.journal, loops: MultiThreadedEventLoopGroup.singleton)
                let watchdog = Watchdog(every: interval, watched, on: parts.blocking) { [manager] in
                    manager.alive()
                } silent: { [logger] parts in
                    logger.warning("a part does not answer", metadata: ["parts": "\(parts.joined(separator: ", "))"])
                }
                group.addTask { await watchdog.run() }
            }
        }
    }

    /// The parts without which nothing is received or delivered.
    static func watched(engine: DeliveryEngine, journal: Journal, loops: any EventLoopGroup) -> [Watchdog.Part] {
        let loops = loops.makeIterator().enumerated().map { number, loop in
            Watchdog.Part("event loop \(number + 1)") { try? await loop.submit {}.get() }
        }
        return loops + [
            Watchdog.Part("delivery engine") { await engine.ping() },
            Watchdog.Part("journal") { journal.ping() },
        ]
    }

    static func line(name: String, port: Int, transfers: Int = 0, offers: Int = 0) -> String {
        let place = port > 0 ? "receiving as \(name) on \(port)" : "\(name) is not visible, and receives nothing"
        var work: [String] = []
        if transfers > 0 { work.append(transfers == 1 ? "1 transfer" : "\(transfers) transfers") }
        if offers > 0 { work.append(offers == 1 ? "1 offer waits" : "\(offers) offers wait") }
        return work.isEmpty ? place : place + "; " + work.joined(separator: ", ")
    }
}
