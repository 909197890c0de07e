import Foundation
package import HTTPChannel
import NIOCore
import NIOHTTP1
package import Sharing
import Synchronization
package import UniformTypes

/// The receiver's side of LocalSend: reads HTTP requests, calls the `Reception` and writes the answers. One for all
/// connections of a listener.
package final class LocalSendServer: Sendable {
    /// The receiver, as this server asks for it.
    package struct Host: Sendable {
        package var reception: Reception
        /// The types known now.
        package var registry: @Sendable () -> TypeRegistry
        /// How this receiver describes itself to a peer; nil if it hides from it: then no request is answered.
        package var device: @Sendable (PeerID) async -> LocalSendDevice?
        /// The PIN that senders need; nil for none.
        package var pin: @Sendable () -> String?
        /// Called with the reason if a question is invalid. Any stranger can cause such calls.
        package var refused: @Sendable (TransferError) -> Void
        /// Called after a question in which names could not be kept.
        package var remarked: @Sendable (Offer, PeerID, [EntryRemark]) -> Void
        /// Called when a device has registered, and when its question was answered.
        package var met: @Sendable (LocalSendDevice, Visitor) -> Void
        /// Called when this side has ended a session before its last file.
        package var ended: @Sendable (EndedSession) async -> Void
        /// Threads that may wait for the disk.
        package var threads: @Sendable () -> (any TaskExecutor)?

        package init(
            reception: Reception, registry: @escaping @Sendable () -> TypeRegistry = { .system },
            device: @escaping @Sendable (PeerID) async -> LocalSendDevice?,
            pin: @escaping @Sendable () -> String? = { nil },
            refused: @escaping @Sendable (TransferError) -> Void = { _ in },
            remarked: @escaping @Sendable (Offer, PeerID, [EntryRemark]) -> Void = { _, _, _ in },
            met: @escaping @Sendable (LocalSendDevice, Visitor) -> Void = { _, _ in },
            ended: @escaping @Sendable (EndedSession) async -> Void = { _ in },
            threads: @escaping @Sendable () -> (any TaskExecutor)? = { nil }
        ) {
            (self.reception, self.registry, self.device, self.pin) = (reception, registry, device, pin)
            (self.refused, self.remarked, self.met) = (refused, remarked, met)
            (self.ended, self.threads) = (ended, threads)
        }
    }

    /// The longest waits for a sender.
    package struct Waits: Sendable {
        /// For the next file of an accepted offer.
        package var file = LocalSendLimits.fileWait
        /// For the next bytes in the middle of a request.
        package var silence = Limits.silence

        package init() {}
    }

    private struct State {
        var sessions: [String: UploadSession] = [:]
        /// The questions that wait for an answer, by number.
        var waiting: [Int: (visitor: Visitor, cancel: @Sendable () -> Void)] = [:]
        var next = 0
    }

    private let host: Host
    private let pins: PINGate
    private let waits: Waits
    private let state = Mutex(State())

    /// - Parameter pins: the same for all listeners of this receiver.
    package init(_ host: Host, pins: PINGate, waits: Waits = Waits()) {
        (self.host, self.pins, self.waits) = (host, pins, waits)
    }

    /// Serves one connection until it is closed.
    ///
    /// - Parameters:
    ///   - isIdle: called with whether the connection may be closed in favour of another one.
    package func serve(
        _ connection: HTTPServer.Connection, visitor: Visitor, isIdle: (Bool) -> Void = { _ in }
    ) async {
        // No known sender needs interim answers while users decide.
        await HTTPServer.serve(
            connection, idle: Limits.idleStranger, silence: waits.silence, interim: .seconds(86_400), isIdle: isIdle
        ) { exchange in
            do {
                try await respond(to: exchange, from: visitor)
            } catch let fault as TransferError {
                guard !exchange.hasAnswered else { return }
                try await exchange.refuse(fault.localSendStatus, fault.message)
            }
        }
        host.reception.left(visitor)
    }

    private func respond(to exchange: HTTPExchange, from visitor: Visitor) async throws {
        // The gate comes first: a refused peer learns nothing, and no body is read.
        guard let own = await host.device(visitor.peer) else {
            return try await exchange.refuse(.forbidden, "Rejected")
        }
        if case .barred = host.reception.access(of: visitor.peer, by: .localsend) {
            return try await exchange.refuse(.forbidden, "Rejected")
        }
        let target = RequestTarget(exchange.head.uri)
        let name =
            target.path.hasPrefix(LocalSendDialect.prefix)
            ? String(target.path.dropFirst(LocalSendDialect.prefix.count)) : ""
        if try await LocalSendRegistry.answer(exchange, target, own, met: { host.met($0, visitor) }) { return }
        switch (exchange.head.method, name) {
        case (.POST, "prepare-upload"): try await prepare(exchange, target, from: visitor)
        case (.POST, "upload"): try await upload(exchange, target, from: visitor)
        case (.POST, "cancel"): try await cancel(exchange, target, from: visitor)
        case (_, "info"), (_, "register"), (_, "prepare-upload"), (_, "upload"), (_, "cancel"):
            try await exchange.refuse(.methodNotAllowed, "This is not asked in this way")
        default: try await exchange.refuse(.notFound, "Not here")
        }
    }

    // MARK: The question

    private func prepare(_ exchange: HTTPExchange, _ target: RequestTarget, from visitor: Visitor) async throws {
        // A contact has proved its key, which no PIN makes better.
        let isContact = host.reception.access(of: visitor.peer, by: .localsend) == .contact
        switch isContact ? .right : pins.check(target["pin"], against: host.pin(), from: visitor.address) {
        case .right: break
        case .missing: return try await exchange.refuse(.unauthorized, "PIN required")
        case .wrong: return try await exchange.refuse(.unauthorized, "Invalid PIN")
        case .spent:
            host.refused(
                TransferError(
                    .notAccepted, "\(PINGuesses.budget) wrong PINs were given; none is compared for ten minutes"))
            return try await exchange.refuse(.unauthorized, "Invalid PIN")
        case .tooMany: return try await exchange.refuse(.tooManyRequests, "Too many attempts; wait ten minutes")
        }
        try await exchange.inviteBody()
        guard let asked = try await question(in: exchange, from: visitor) else {
            return try await exchange.refuse(.serviceUnavailable, "Too many questions at once; try again")
        }
        let verdict = await judge(asked, exchange, from: visitor)
        // The answer can have made it a contact.
        host.met(asked.sender, visitor)
        guard verdict.acceptsAnything else { return try await exchange.refuse(verdict) }
        if !asked.remarks.all.isEmpty { host.remarked(asked.offer, visitor.peer, asked.remarks.all) }
        if let message = asked.message {
            try store(message, asked.offer, from: visitor.peer)
            return try await exchange.respond(.noContent, contentType: nil, body: ByteBuffer())
        }
        let session = try open(asked, verdict, from: visitor)
        do {
            try await exchange.respond(.ok, body: ByteBuffer(bytes: try JSONEncoder().encode(session.answer)))
        } catch {
            await close(session, TransferError(ending: .fault))
            throw error
        }
    }

    /// - Returns: nil if there is no memory for the question now.
    private func question(in exchange: HTTPExchange, from visitor: Visitor) async throws -> AskedFiles? {
        let isContact = host.reception.access(of: visitor.peer, by: .localsend) == .contact
        let claim = host.reception.bodies.claim(isContact: isContact)
        defer { claim.giveBack() }
        var body = ByteBuffer()
        let hasCome = try await exchange.readBody(upTo: LocalSendLimits.questionBytes) { bytes in
            guard claim.take(bytes.readableBytes) else { return false }
            body.writeImmutableBuffer(bytes)
            return true
        }
        guard hasCome else { return nil }
        do throws(TransferError) {
            guard let question = try? JSONDecoder().decode(LocalSendQuestion.self, from: Data(body.readableBytesView))
            else {
                throw AskedFiles.malformed("it is not a question of LocalSend")
            }
            return try AskedFiles(question, registry: host.registry())
        } catch {
            host.refused(error)
            throw error
        }
    }

    /// Waits for the answer. The sender takes the question back when it closes the connection, or cancels.
    private func judge(_ asked: AskedFiles, _ exchange: HTTPExchange, from visitor: Visitor) async -> Verdict {
        let (reception, offer, left) = (host.reception, asked.offer, exchange.endCause)
        return await exchange.whileClientWaits { [self] in
            let cancellation = Cancellation()
            let task = Task {
                await reception.judge(offer, from: visitor) {
                    // A phone that cancels says so: without it, its connection was lost.
                    if cancellation.isRequested { return .senderCancelled }
                    return left() == .receiverStopped ? .receiverStopped : .fault
                }
            }
            let cancel: @Sendable () -> Void = {
                cancellation.request()
                task.cancel()
            }
            let number = state.withLock { state in
                state.next += 1
                state.waiting[state.next] = (visitor, cancel)
                return state.next
            }
            defer { state.withLock { $0.waiting[number] = nil } }
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    private func store(_ message: [UInt8], _ offer: Offer, from peer: PeerID) throws(TransferError) {
        let reception = host.reception
        let transfer = try reception.begin(offer.transfer, from: peer, binding: .announced)
        let receipt: Receipt
        do throws(TransferError) {
            try transfer.beginItem(0)
            try transfer.beginFile(
                FileEntry(path: nil, executable: false, modified: nil, size: UInt64(message.count)))
            try ByteBuffer(bytes: message).withUnsafeReadableBytes { (bytes) throws(TransferError) in
                try transfer.write(bytes)
            }
            try transfer.endFile(digest: nil)
            try transfer.endItem(digest: nil)
            receipt = try transfer.finish()
        } catch {
            reception.end(transfer, transfer.fail(error), fault: error)
            throw error
        }
        reception.end(transfer, receipt, fault: nil)
        if case .failed(let fault)? = receipt.items.first?.outcome { throw fault }
    }

    // MARK: The files

    private func open(
        _ asked: AskedFiles, _ verdict: Verdict, from visitor: Visitor
    ) throws(TransferError) -> UploadSession {
        let accepted = asked.places.filter { verdict.items[$0.value.item].answer == .accepted }.map(\.key)
        // Its sessions are closed by this function alone, and are few: the ledger bounds the open transfers.
        let interruption = Interruption()
        let transfer = try host.reception.begin(
            asked.offer.transfer, from: visitor.peer, binding: .scattered, interrupt: { interruption.call() })
        let session = UploadSession(asked, accepted: accepted, from: visitor, transfer)
        let ended = host.ended
        interruption.set { [weak session] in
            guard let session else { return }
            session.stop(TransferError(.stopping, "the receiver takes no more", cause: .rule))
            Task { await ended(EndedSession(session)) }
        }
        state.withLock { $0.sessions[session.id] = session }
        Task(executorPreference: host.threads()) { [weak self, id = session.id] in await self?.watch(id) }
        return session
    }

    /// Closes a session whose sender has left.
    private func watch(_ id: String) async {
        while let session = state.withLock({ $0.sessions[id] }) {
            let idle = session.idle(at: .now) ?? .zero
            if idle >= waits.file {
                await close(session, TransferError(.interrupted, "the sender sent no more files", cause: .timeout))
                return
            }
            try? await Task.sleep(for: waits.file - idle)
        }
    }

    private func upload(_ exchange: HTTPExchange, _ target: RequestTarget, from visitor: Visitor) async throws {
        guard let id = target["sessionId"], let file = target["fileId"], let token = target["token"] else {
            return try await exchange.refuse(.badRequest, "Missing parameters")
        }
        guard let session = state.withLock({ $0.sessions[id] }), session.belongs(to: visitor) else {
            return try await exchange.refuse(.forbidden, "Invalid token or IP address")
        }
        if let foreign = exchange.foreignBody { return try await exchange.refuse(foreign.status, foreign.message) }
        let isLast: Bool
        do {
            try await exchange.inviteBody()
            isLast = try await session.take(file, token: token, interrupt: exchange.breakingOff) {
                exchange.readInBulk()
                return try await exchange.nextBytes()
            } write: { (bytes: ByteBuffer, put) throws(TransferError) in
                try bytes.withUnsafeReadableBytes { (raw) throws(TransferError) in try put(raw) }
            }
        } catch UploadSession.Refusal.unknown {
            return try await exchange.refuse(.forbidden, "Invalid token or IP address")
        } catch UploadSession.Refusal.busy {
            return try await exchange.refuse(.conflict, "This file is being sent already")
        }
        if isLast { await close(session, TransferError(.unexpected, "it has ended")) }
        try await exchange.respond(.ok, contentType: nil, body: ByteBuffer())
    }

    /// Ends a session, or takes a waiting question back. A cancel that ends nothing is refused: it may be meant for a
    /// sending of this machine, which takes it at a port of its own.
    private func cancel(_ exchange: HTTPExchange, _ target: RequestTarget, from visitor: Visitor) async throws {
        if let id = target["sessionId"] {
            guard let session = state.withLock({ $0.sessions[id] }), session.belongs(to: visitor) else {
                return try await exchange.refuse(.forbidden, "No such session is received here")
            }
            await close(session, .senderCancelled)
        } else {
            // The sender knows no number yet.
            let waiting = state.withLock { Array($0.waiting.values) }.filter {
                $0.visitor.address == visitor.address && $0.visitor.isAlso(visitor)
            }
            guard !waiting.isEmpty else { return try await exchange.refuse(.forbidden, "No question waits here") }
            for question in waiting { question.cancel() }
        }
        try await exchange.respond(.ok, contentType: nil, body: ByteBuffer())
    }

    private func close(_ session: UploadSession, _ fault: TransferError) async {
        state.withLock { $0.sessions[session.id] = nil }
        await session.close(fault, into: host.reception)
    }

    /// Ends all sessions. The files that have come stay.
    package func close() async {
        await withDiscardingTaskGroup { group in
            for session in state.withLock({ Array($0.sessions.values) }) {
                group.addTask { [host] in await host.ended(EndedSession(session)) }
                await close(session, .receiverStopped)
            }
        }
    }
}

extension Visitor {
    /// Whether another connection can be the same peer's.
    fileprivate func isAlso(_ other: Visitor) -> Bool { peer.unprovenBy != nil || peer == other.peer }
}

/// A closure that is known later than its owner, and is called then if it was to be called before.
private final class Interruption: Sendable {
    private struct State {
        var body: (@Sendable () -> Void)?
        var isDue = false
    }

    private let state = Mutex(State())

    func set(_ body: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.body = body
            return state.isDue
        }
        if isDue { body() }
    }

    func call() {
        let body = state.withLock { state in
            state.isDue = true
            return state.body
        }
        body?()
    }
}

extension HTTPExchange {
    /// Answers with a message, and ends the connection.
    func refuse(_ status: HTTPResponseStatus, _ message: String) async throws {
        let body = ByteBuffer(bytes: try JSONEncoder().encode(LocalSendMessage(message)))
        try await respondAndClose(status, body: body)
    }

    /// Answers that nothing is taken. The app shows 204 as a success, 403 as declined and 409 as busy with another
    /// sender, but 503 with its message.
    fileprivate func refuse(_ verdict: Verdict) async throws {
        let item = verdict.items.first
        let status: HTTPResponseStatus =
            switch item?.answer {
            case .noRoom: .insufficientStorage
            case .busy: .serviceUnavailable
            case .expired where item?.cause == .receiverStopped: .serviceUnavailable
            case .expired: .requestTimeout
            case .accepted, .declined, .ineligible, nil: .forbidden
            }
        let words = item.map { $0.reason.isEmpty ? $0.answer.localSendWords : $0.reason } ?? "Rejected"
        try await refuse(status, words)
    }
}

extension ItemVerdict.Answer {
    fileprivate var localSendWords: String {
        switch self {
        case .accepted, .declined: "Rejected"
        case .ineligible: "This receiver takes no such items"
        case .noRoom: "There is no room for it"
        case .busy: "The receiver has too much to do"
        case .expired: "Nobody answered in time"
        }
    }
}

extension TransferError {
    /// The HTTP status for this fault.
    fileprivate var localSendStatus: HTTPResponseStatus {
        switch code {
        case .protocolViolation, .sizeMismatch, .notAsDeclared, .unsafeName: .badRequest
        case .digestMismatch: .unprocessableEntity
        case .notAccepted, .cancelled: .forbidden
        case .noRoom: .insufficientStorage
        case .stopping: .serviceUnavailable
        default: .internalServerError
        }
    }
}
