import Contacts
import Executors
package import Foundation
package import Lines
package import Logging
import Receiving
import ServiceManager
import Settings
import Sharing

extension Waft {
    /// A receiver of this home, in this process. It is not the one that `receiver` talks to, until it runs.
    /// - Parameters:
    ///   - isOnce: whether it ends after the first transfer that stored something.
    ///   - see: called for each event, from any thread; returns soon. Progress comes ten times a second at most.
    package func ownReceiver(
        isOnce: Bool = false, _ see: @escaping @Sendable (ReceiverNews) -> Void
    ) -> OwnReceiver {
        let once = isOnce ? OnceWatch() : nil
        return OwnReceiver(
            receiver: makeReceiver(visibility: .everyone) { [show = showing(see)] event in
                show(event)
                once?.see(event)
            }, once: once)
    }

    /// The same for a daemon, with the visibility of the settings.
    package func daemon(
        _ service: ServiceStart, logger: Logger, _ see: @escaping @Sendable (ReceiverNews) -> Void
    ) -> OwnReceiver {
        OwnReceiver(
            receiver: makeReceiver(
                sockets: service.sockets, manager: service.manager, logger: logger, observe: showing(see)),
            once: nil)
    }

    private func showing(_ see: @escaping @Sendable (ReceiverNews) -> Void) -> @Sendable (ReceiverEvent) -> Void {
        let (book, throttle) = (home.contactBook(), Throttle())
        return { event in
            if case .reception(.progressed) = event, !throttle.isDue() { return }
            event.news(book, see)
        }
    }

    /// - Parameters:
    ///   - visibility: nil for that of the settings.
    ///   - sockets: that the service manager has passed.
    ///   - logger: nil for that of this Waft.
    ///   - observe: called for each event.
    func makeReceiver(
        visibility: Visibility? = nil, sockets: PassedSockets = PassedSockets(), manager: ServiceManager? = nil,
        logger: Logger? = nil, observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) -> Receiver {
        Receiver(
            home: home, settings: live, visibility: visibility, sockets: sockets, manager: manager,
            logger: logger ?? self.logger, observe: observe)
    }
}

/// A receiver in this process.
package struct OwnReceiver: Sendable {
    fileprivate let receiver: Receiver
    fileprivate let once: OnceWatch?

    /// Runs until its task is cancelled, or the one transfer is over. Everything it has started has ended when it returns.
    /// - Throws: `WaftError` when it cannot start or a part of it broke; `CancellationError`.
    package func run() async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await receiver.receive() }
                if let once { group.addTask { await once.wait() } }
                try await group.next()
                group.cancelAll()
            }
        } catch let failure as ReceiverError {
            throw WaftError(failure)
        }
    }

    /// Reads the settings again, as after a change of the file.
    package func reloadSettings() async { await receiver.reloadSettings() }

    /// Answers an offer at the receiver's own terminal, which shows what arrives.
    package func answer(_ number: Int, accept: Bool) { receiver.answerHere(number, accept: accept) }

    /// The offers that wait for an answer, as they come; for one task.
    package var questions: AsyncStream<OfferQuestion> {
        let events = receiver.consent.events()
        return AsyncStream { [receiver] in
            for await event in events {
                return switch event {
                case .waiting(let offer): .waiting(receiver.line(of: offer))
                case .settled(let number, let wasAnswered): .settled(number, wasAnswered: wasAnswered)
                }
            }
            return nil
        }
    }

    /// Bounds the time to stop: neither a peer nor a handler can extend it.
    /// - Parameters:
    ///   - limit: seconds from now.
    ///   - late: ends the process, in a thread of its own: it comes even if all others are busy.
    package static func boundStop(_ limit: TimeInterval, _ late: @escaping @Sendable () -> Void) {
        _ = BackgroundThread.start("waft-stop") {
            Thread.sleep(forTimeInterval: limit)
            late()
        }
    }
}

/// An event of a question about an offer.
package enum OfferQuestion: Sendable {
    /// An offer waits for an answer.
    case waiting(OfferLine)
    /// It waits no longer: it was answered, or withdrawn.
    case settled(Int, wasAnswered: Bool)
}

/// The service manager that has started this process, if one has, and the sockets that it has opened.
package struct ServiceStart: Sendable {
    fileprivate let sockets: PassedSockets
    fileprivate let manager: ServiceManager?

    /// - Parameter warn: hears why the service manager could not be told something.
    package init(environment: [String: String], warn: @escaping @Sendable (String) -> Void) {
        sockets = PassedSockets(environment: environment, expected: Receiver.passedSockets)
        manager = ServiceManager(environment: environment) { warn("\($0)") }
    }

    /// Sockets that cannot be used, a line each.
    package var warnings: [String] { sockets.warnings.map { "\($0)" } }

    /// Shows the service manager why the service does not start.
    package func show(_ failure: String) { manager?.show(failure) }
}

extension WaftError {
    init(_ failure: ReceiverError) {
        switch failure.code {
        case .setting: self.init(.usage, failure.description)
        case .alreadyRunning:
            self.init(
                .usage, failure.description,
                hint: "to answer its offers here: waft offers --watch, then waft accept N; to start another one: "
                    + "stop it first, or set another WAFT_HOME")
        case .unexpected: self.init(.unexpected, failure.description)
        }
    }
}
