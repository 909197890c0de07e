import Executors
package import HTTPChannel
import NIOCore
import NIOHTTP1
import Pairing
import SecureTransport
package import Sharing
private import Synchronization
package import UniformTypes

/// The receiver's side of the protocol: reads HTTP requests, calls the `Reception` and writes the answers.
package struct WaftServer: Sendable {
    let reception: Reception
    private let registry: @Sendable () -> TypeRegistry
    private let card: @Sendable (PeerID) -> Card?
    private let refused: @Sendable (PeerID, ItemVerdict) -> Void
    private let signOfLife: Duration
    private let threads = ContentThreads()
    let groups = GroupPlaces()
    let relay: @Sendable () -> RelayRule

    /// - Parameters:
    ///   - registry: the types known now; offers are checked against them.
    ///   - refused: called with the verdict for a peer that may not offer anything. Any stranger can cause such calls.
    ///   - signOfLife: how often a sender hears that this side still works on its contents.
    ///   - relay: for which senders this machine passes the contents of a group on, if it has accepted them.
    ///   - card: the card to show to a peer; nil hides it.
    package init(
        reception: Reception,
        registry: @escaping @Sendable () -> TypeRegistry = { .system },
        refused: @escaping @Sendable (PeerID, ItemVerdict) -> Void = { _, _ in },
        signOfLife: Duration = Limits.signOfLife,
        relay: @escaping @Sendable () -> RelayRule = { .never },
        card: @escaping @Sendable (PeerID) -> Card?
    ) {
        self.reception = reception
        self.registry = registry
        self.refused = refused
        self.signOfLife = signOfLife
        self.relay = relay
        self.card = card
    }

    /// State of one connection that decides the idle timeout before its next request. Used by one task.
    final class ConnectionState {
        let visitor: Visitor
        let pairing: PairingPort?
        /// Nil if this machine cannot be a member of a group here.
        let reach: GroupReaching?
        var isPairing = false
        var wasRefused = false

        init(_ visitor: Visitor, _ pairing: PairingPort?, _ reach: GroupReaching?) {
            (self.visitor, self.pairing, self.reach) = (visitor, pairing, reach)
        }
    }

    /// Serves one connection until it is closed.
    ///
    /// Needs an executor whose threads may block: it reads the disk inline. Contents have threads of their own.
    /// - Parameters:
    ///   - visitor: the peer whose key the connection's handshake proved.
    ///   - pairing: answers this connection's pairing messages; nil without pairing.
    ///   - reach: how a group's next member is reached from here; nil: no contents are passed on.
    ///   - isIdle: called with whether the connection may be closed in favour of another one.
    package func serve(
        _ connection: HTTPServer.Connection, visitor: Visitor, pairing: PairingPort? = nil,
        reach: GroupReaching? = nil, isIdle: (Bool) -> Void = { _ in }
    ) async {
        let course = ConnectionState(visitor, pairing, reach)
        await HTTPServer.serve(
            connection, idle: idle(course), silence: Limits.silence,
            isIdle: { isIdle($0 && !course.isPairing) }
        ) { exchange in
            course.wasRefused = false
            do {
                try await respond(to: exchange, course)
            } catch let fault as TransferError {
                course.wasRefused = true
                try await refuse(exchange, fault)
            }
        }
        reception.left(visitor)
    }

    /// Maximum idle time before the next request.
    private func idle(_ course: ConnectionState) -> Duration {
        // The next message comes only after two users have compared digits.
        if course.isPairing { return Limits.idleConnection }
        switch reception.access(of: course.visitor.peer, by: .waft) {
        case .contact: return Limits.idleConnection
        case .stranger, .barred: return course.wasRefused ? Limits.idleRefused : Limits.idleStranger
        }
    }

    private func respond(to exchange: HTTPExchange, _ course: ConnectionState) async throws {
        let peer = course.visitor.peer
        guard let resource = WaftDialect.Resource(path: exchange.head.uri) else {
            let fault = TransferError(.protocolViolation, "no such resource")
            return try await exchange.respondAndClose(.notFound, body: try WaftDialect.encode(fault))
        }
        switch (exchange.head.method, resource) {
        case (.GET, .card):
            guard let card = card(peer) else {
                // Keeps the connection: a peer that may not see the card may still offer.
                course.wasRefused = true
                let fault = TransferError(.notAccepted, "no card for this peer")
                return try await exchange.respond(.forbidden, body: try WaftDialect.encode(fault))
            }
            try await exchange.respond(.ok, body: try WaftDialect.encode(CardMessage(card)))
        case (.POST, .offers):
            try await judge(exchange, course)
        case (.POST, .contents(let id)):
            try await receive(id, in: exchange, course.visitor)
        case (.POST, .group(let id)):
            try await join(id, in: exchange, course)
        case (.POST, .relay(let id)):
            try await link(id, in: exchange, from: peer)
        case (.GET, .kept(let id)):
            try await list(id, in: exchange, from: peer)
        case (.GET, .receipt(let id, let answered)):
            let reception = self.reception
            let receipt = await exchange.whileClientWaits {
                await reception.receipt(of: id, from: peer, answered: answered)
            }
            guard let receipt else {
                // Keeps the connection: a sender that resumes a transfer asks for the receipt first.
                course.wasRefused = true
                let fault = TransferError(.notAccepted, "no receipt for this transfer")
                return try await exchange.respond(.forbidden, body: try WaftDialect.encode(fault))
            }
            try await respond(exchange, receipt)
        case (.POST, .pairing):
            guard let pairing = course.pairing else { throw TransferError(.notAccepted, "no pairing here") }
            try await pair(exchange, pairing, course)
        default:
            let fault = TransferError(.protocolViolation, "no such method here")
            try await exchange.respondAndClose(.methodNotAllowed, body: try WaftDialect.encode(fault))
        }
    }

    private func pair(_ exchange: HTTPExchange, _ pairing: @escaping PairingPort, _ course: ConnectionState)
        async throws
    {
        let letter = PairingLetter(try await exchange.body(upTo: PairingLetter.byteLimit))
        let answer = await exchange.whileClientWaits { await pairing(letter) }
        // The answer to a refused peer has no name (Protocol, section 3.5).
        course.isPairing = answer.name != nil
        if Task.isCancelled { throw TransferError.receiverStopped }
        try await exchange.respond(.ok, body: answer.body)
    }

    private func judge(_ exchange: HTTPExchange, _ course: ConnectionState) async throws {
        let (reception, visitor) = (reception, course.visitor)
        let access = reception.access(of: visitor.peer, by: .waft)
        if case .barred(let verdict) = access {
            // Answers before the body. Reads the body only as far as another request on this connection needs.
            course.wasRefused = true
            refused(visitor.peer, verdict)
            let answer = try WaftDialect.encode(VerdictMessage(refusing: verdict))
            return try await exchange.respond(.ok, body: answer)
        }
        guard let offer = try await offer(in: exchange, access) else {
            return try await exchange.respondAndClose(
                .ok, body: try WaftDialect.encode(VerdictMessage(refusing: Self.noMemory)))
        }
        var verdict = await exchange.whileClientWaits { [cause = exchange.endCause] in
            await reception.judge(offer, from: visitor, withdrawn: cause)
        }
        if Task.isCancelled { throw TransferError.receiverStopped }
        verdict.mayRelay = reservesPlace(for: offer, verdict, course)
        try await exchange.respond(.ok, contentType: WaftDialect.linesType, body: try WaftDialect.encode(verdict))
    }

    /// - Returns: nil if there is no memory for the offer now.
    private func offer(in exchange: HTTPExchange, _ access: PeerAccess) async throws -> Offer? {
        let claim = reception.bodies.claim(isContact: access == .contact)
        defer { claim.giveBack() }
        var reader = OfferReader(keepsPreviews: reception.takesPreviews(by: access))
        var textBytes = 0
        let hasCome = try await exchange.readBody(upTo: Limits.offerBytes + Limits.previewTextBytes) { bytes in
            let kept = try reader.read(bytes)
            textBytes += kept
            guard textBytes <= Limits.offerBytes + PreviewSieve.allBytes else { throw HTTPError.tooLarge }
            return claim.take(kept)
        }
        return hasCome ? try reader.finish(registry()) : nil
    }

    private static let noMemory = ItemVerdict(.busy, reason: "too many offers are being read")

    private func respond(_ exchange: HTTPExchange, _ receipt: Receipt) async throws {
        var writer = try WaftDialect.writer(receipt)
        try await exchange.respond(.ok, contentType: WaftDialect.linesType) { try writer.nextPiece() }
    }

    /// Answers with the kept parts of a transfer's items, with digests of the disk's present contents.
    private func list(_ id: TransferID, in exchange: HTTPExchange, from peer: PeerID) async throws {
        let list = await exchange.keepingClientInformed { () -> Result<ByteBuffer, TransferError> in
            var list = ByteBuffer()
            do throws(TransferError) {
                try reception.readKept(of: id, from: peer) { number, file in
                    list.writeKept(file, item: number) && !Task.isCancelled
                }
                return .success(list)
            } catch {
                return .failure(error)
            }
        }
        if Task.isCancelled { throw TransferError.receiverStopped }
        try await exchange.respond(.ok, contentType: WaftDialect.keptType, body: try list.get())
    }

    /// Leaves HTTP, and receives the contents on a thread of their own.
    private func receive(_ id: TransferID, in exchange: HTTPExchange, _ visitor: Visitor) async throws {
        guard exchange.asks(for: WaftDialect.contentsProtocol) else {
            let fault = TransferError(.protocolViolation, "contents need the protocol \(WaftDialect.contentsProtocol)")
            return try await exchange.respondAndClose(.upgradeRequired, body: try WaftDialect.encode(fault))
        }
        let isContact = reception.access(of: visitor.peer, by: .waft) == .contact
        guard let place = threads.take(for: visitor, isContact: isContact) else {
            throw TransferError(.stopping, "too many transfers are under way", cause: .rule)
        }
        defer { withExtendedLifetime(place) {} }
        let transfer = try reception.begin(id, from: visitor.peer, interrupt: exchange.breakingOff)
        groups.forget(id, of: visitor.peer)
        let stream: SecureStream
        do {
            stream = try await exchange.switchProtocols(to: WaftDialect.contentsProtocol)
        } catch {
            _ = reception.fail(transfer, TransferError(.interrupted, "the connection broke off"))
            throw error
        }
        // Unsafe only for the compiler: from here on the thread alone uses it.
        nonisolated(unsafe) let session = ContentsSession(reception: reception, transfer: transfer, stream: stream)
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { [signOfLife] group in
                group.addTask { await Self.showLife(on: stream, every: signOfLife) }
                if await BackgroundThread.run("waft-contents", { session.run() }) == nil {
                    session.giveUp(TransferError(.stopping, "no thread could be started", cause: .fault))
                }
                group.cancelAll()
            }
        } onCancel: {
            stream.interrupt()
        }
    }

    /// Tells the sender that this side is still working on the contents: reading kept parts again, examining present
    /// items and syncing to a slow disk take time.
    private static func showLife(on stream: SecureStream, every interval: Duration) async {
        var reminders = Reminders(every: interval, from: .now())
        var frame = ByteBuffer()
        frame.writeWaiting()
        while !Task.isCancelled {
            if let pause = reminders.pause(at: .now(), since: stream.lastTurn) {
                try? await Task.sleep(for: pause)
            } else {
                stream.sendIfIdle(frame)
            }
        }
    }

    private func refuse(_ exchange: HTTPExchange, _ fault: TransferError) async throws {
        guard !exchange.hasAnswered else { return }
        try await exchange.respondAndClose(fault.status, body: try WaftDialect.encode(fault))
    }
}

extension TransferError {
    /// The HTTP status for this fault (Protocol, section 6).
    fileprivate var status: HTTPResponseStatus {
        switch code {
        case .protocolViolation: .badRequest
        case .notAccepted: .forbidden
        case .sizeMismatch, .digestMismatch, .notAsDeclared, .unsafeName, .notKept: .conflict
        case .changed, .unreadable: .conflict
        case .noRoom: .insufficientStorage
        case .cancelled: .custom(code: 499, reasonPhrase: "Cancelled")
        case .stopping: .serviceUnavailable
        case .interrupted: .requestTimeout
        case .storage, .unexpected: .internalServerError
        }
    }
}

/// Bounds the threads on which contents are received: contacts can take all of them, strangers together a part, and one
/// stranger a part of that.
final class ContentThreads: Sendable {
    private struct Occupant {
        let visitor: Visitor
        let isContact: Bool

        /// Whether both count as one stranger's: they have the same key or, because new keys cost nothing, the same
        /// address.
        func isOfSameStranger(as other: Visitor) -> Bool {
            !isContact && (visitor.peer == other.peer || visitor.address.map { $0 == other.address } ?? false)
        }
    }

    private struct State {
        var occupants: [UInt64: Occupant] = [:]
        var nextNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// - Returns: a place for one thread, which is free again when the value is released; nil if there is none.
    func take(for visitor: Visitor, isContact: Bool) -> Slot? {
        state.withLock { state in
            let occupants = state.occupants.values
            guard occupants.count < Limits.contentThreads else { return nil }
            guard
                isContact
                    || occupants.count(where: { !$0.isContact }) < Limits.contentThreadsOfStrangers
                        && occupants.count(where: { $0.isOfSameStranger(as: visitor) })
                            < Limits.contentThreadsPerStranger
            else { return nil }
            defer { state.nextNumber += 1 }
            state.occupants[state.nextNumber] = Occupant(visitor: visitor, isContact: isContact)
            return Slot(self, state.nextNumber)
        }
    }

    private func leave(_ number: UInt64) {
        state.withLock { $0.occupants[number] = nil }
    }

    final class Slot: Sendable {
        private let threads: ContentThreads
        private let number: UInt64

        fileprivate init(_ threads: ContentThreads, _ number: UInt64) {
            (self.threads, self.number) = (threads, number)
        }

        deinit { threads.leave(number) }
    }
}
