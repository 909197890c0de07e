package import HTTPChannel
import NIOCore
import NIOHTTP1
import PropertyLists
package import Sharing
package import UniformTypes

/// The receiver's side of AirDrop: reads HTTP requests, calls the `Reception` and writes the answers.
package struct AirDropServer: Sendable {
    private let reception: Reception
    private let registry: @Sendable () -> TypeRegistry
    private let card: @Sendable () -> AirDropCard?
    private let refused: @Sendable (TransferError) -> Void
    private let remarked: @Sendable (Offer, PeerID, [EntryRemark]) -> Void

    /// - Parameters:
    ///   - registry: the types known now; used for files without an announced type.
    ///   - refused: called with the reason if a question is invalid. Any stranger can cause such calls.
    ///   - remarked: called after a transfer in which entries were left out or renamed.
    ///   - card: the name and model that this receiver shows; nil if it hides.
    package init(
        reception: Reception,
        registry: @escaping @Sendable () -> TypeRegistry = { .system },
        refused: @escaping @Sendable (TransferError) -> Void = { _ in },
        remarked: @escaping @Sendable (Offer, PeerID, [EntryRemark]) -> Void = { _, _, _ in },
        card: @escaping @Sendable () -> AirDropCard?
    ) {
        self.reception = reception
        self.registry = registry
        self.refused = refused
        self.remarked = remarked
        self.card = card
    }

    /// The accepted question of one connection: its contents come over the same connection.
    private final class Agreement {
        var asked: (offer: AskedOffer, verdict: Verdict)?
    }

    /// Serves one connection until it is closed.
    ///
    /// - Parameters:
    ///   - visitor: the peer; always an unknown one (`PeerID.unproven`), because AirDrop proves no key.
    ///   - isIdle: called with whether the connection may be closed in favour of another one.
    package func serve(
        _ connection: HTTPServer.Connection, visitor: Visitor, isIdle: (Bool) -> Void = { _ in }
    ) async {
        let agreement = Agreement()
        // No known sender needs interim answers while users decide.
        await HTTPServer.serve(
            connection, idle: agreement.asked == nil ? Limits.idleStranger : Limits.contentsWait,
            silence: Limits.silence, interim: .seconds(86_400), isIdle: { isIdle($0 && agreement.asked == nil) }
        ) { exchange in
            do {
                try await respond(to: exchange, from: visitor, agreement)
            } catch let fault as TransferError {
                guard !exchange.hasAnswered else { return }
                try await exchange.respondAndClose(fault.airDropStatus)
            }
        }
        reception.left(visitor)
    }

    private func respond(to exchange: HTTPExchange, from visitor: Visitor, _ agreement: Agreement) async throws {
        switch (exchange.head.method, AirDropDialect.Resource(rawValue: exchange.head.uri)) {
        case (.HEAD, .root): try await exchange.respond(.ok, contentType: nil, body: ByteBuffer())
        case (.POST, .discover): try await discover(exchange)
        case (.POST, .ask): try await ask(exchange, from: visitor, agreement)
        case (.POST, .upload): try await upload(exchange, from: visitor.peer, agreement)
        case (_, nil): try await exchange.respondAndClose(.notFound)
        default: try await exchange.respondAndClose(.methodNotAllowed)
        }
    }

    private func discover(_ exchange: HTTPExchange) async throws {
        // Refuses before it requests the body, as for every question.
        guard let card = card() else { return try await exchange.respondAndClose(.unauthorized) }
        try await exchange.inviteBody()
        // The sender's facts are ignored: hashes of telephone numbers prove nothing and are private.
        try await exchange.readBody(upTo: AirDropLimits.messageBytes) { _ in true }
        try await exchange.answer(AirDropMessage.showing(card))
    }

    // MARK: The question

    private func ask(_ exchange: HTTPExchange, from visitor: Visitor, _ agreement: Agreement) async throws {
        agreement.asked = nil
        let access = reception.access(of: visitor.peer, by: .airdrop)
        if case .barred = access {
            return try await exchange.respondAndClose(.unauthorized)
        }
        guard let card = card() else { return try await exchange.respondAndClose(.unauthorized) }
        try await exchange.inviteBody()
        guard let asked = try await question(in: exchange, access) else {
            return try await exchange.respondAndClose(.serviceUnavailable)
        }
        let reception = self.reception
        let verdict = await exchange.whileClientWaits { [cause = exchange.endCause] in
            await reception.judge(asked.offer, from: visitor, withdrawn: cause)
        }
        guard !Task.isCancelled, verdict.acceptsAnything else {
            // A refusal of this moment is no person's no.
            let isPassing =
                Task.isCancelled || verdict.isWorthRepeating || verdict.items.first?.cause == .receiverStopped
            return try await exchange.respondAndClose(isPassing ? .serviceUnavailable : .unauthorized)
        }
        if asked.places.isEmpty {
            // There are only links: this answer ends the transfer and confirms that they are stored.
            try await receive(asked, verdict, from: visitor.peer, in: exchange) { _ in .success(()) }
        } else {
            agreement.asked = (asked, verdict)
        }
        try await exchange.answer(AirDropMessage.accepting(card))
    }

    /// - Returns: nil if there is no memory for the question now.
    private func question(in exchange: HTTPExchange, _ access: PeerAccess) async throws -> AskedOffer? {
        let claim = reception.bodies.claim(isContact: false)
        defer { claim.giveBack() }
        var body = ByteBuffer()
        let hasCome = try await exchange.readBody(upTo: AirDropLimits.askBytes) { bytes in
            guard claim.take(bytes.readableBytes) else { return false }
            body.writeImmutableBuffer(bytes)
            return true
        }
        guard hasCome else { return nil }
        do throws(TransferError) {
            let reading = try AskReading(body, keepsIcon: reception.takesPreviews(by: access))
            let asked = try AskedOffer(reading, registry: registry())
            // Without this library the contents could not be unpacked after the user has accepted.
            if !asked.places.isEmpty { _ = try ArchiveLibrary.functions() }
            return asked
        } catch {
            refused(error)
            throw error
        }
    }

    // MARK: The contents

    private func upload(_ exchange: HTTPExchange, from peer: PeerID, _ agreement: Agreement) async throws {
        guard let (asked, verdict) = agreement.asked else { return try await exchange.respondAndClose(.unauthorized) }
        agreement.asked = nil
        let headers = exchange.head.headers
        guard AirDropDialect.ArchiveType.isKnown(headers.first(name: "content-type")) else {
            return try await exchange.respondAndClose(.notAcceptable)
        }
        if let said = headers.first(name: "transferid"), let identifier = asked.identifier,
            said.lowercased() != identifier.lowercased()
        {
            throw TransferError(.notAccepted, "these are the contents of another transfer")
        }
        try await exchange.inviteBody()
        try await receive(asked, verdict, from: peer, in: exchange) { transfer in
            let unpacking = Unpacking(transfer, asked, verdict)
            exchange.readInBulk()
            let result = await unpacking.run { try await exchange.nextBytes() }
            if !unpacking.remarks.isEmpty { remarked(asked.offer, peer, unpacking.remarks) }
            return result
        }
        try await exchange.respondAndClose(.ok)
    }

    /// Opens the transfer, takes its contents and closes it, also after an error.
    /// - Throws: `TransferError` if an accepted item is not stored.
    private func receive(
        _ asked: AskedOffer, _ verdict: Verdict, from peer: PeerID, in exchange: HTTPExchange,
        _ contents: (IncomingTransfer) async -> Result<Void, TransferError>
    ) async throws(TransferError) {
        let transfer = try reception.begin(
            asked.offer.transfer, from: peer, binding: .announced, interrupt: exchange.breakingOff)
        var receipt: Receipt
        do throws(TransferError) {
            try ContentsUnpacker.takeLinks(of: asked, verdict, into: transfer)
            try await contents(transfer).get()
            receipt = try transfer.finish()
        } catch {
            receipt = reception.end(transfer, transfer.fail(error), fault: error)
            throw error
        }
        receipt = reception.end(transfer, receipt, fault: nil)
        for item in receipt.items {
            if case .failed(let fault) = item.outcome { throw fault }
        }
    }
}

/// Moves one archive from a connection into a transfer.
///
/// Sendable, although its properties are not: `BodyPull` never runs the unpacking thread and the feeding task at the
/// same time.
private final class Unpacking: @unchecked Sendable {
    private let transfer: IncomingTransfer
    private let asked: AskedOffer
    private let verdict: Verdict
    private let pull = BodyPull()
    private var result: Result<Void, TransferError> = .failure(TransferError(.unexpected, "nothing was unpacked"))
    /// Entries that were left out or renamed.
    private(set) var remarks: [EntryRemark] = []
    /// Why the bytes stopped before their end; nil at a normal end.
    private var interruption: TransferError?

    init(_ transfer: IncomingTransfer, _ asked: AskedOffer, _ verdict: Verdict) {
        (self.transfer, self.asked, self.verdict) = (transfer, asked, verdict)
    }

    /// - Parameter next: returns the next bytes, nil at their end.
    func run(_ next: () async throws -> ByteBuffer?) async -> Result<Void, TransferError> {
        var demand = await pull.start { self.unpack() }
        while case .more = demand {
            demand = await pull.give(await piece(next))
        }
        return result
    }

    private func piece(_ next: () async throws -> ByteBuffer?) async -> ByteBuffer? {
        guard interruption == nil else { return nil }
        do {
            try Task.checkCancellation()
            return try await next()
        } catch {
            if error is CancellationError || Task.isCancelled {
                interruption = .receiverStopped
            } else {
                let reason = (error as? HTTPError)?.description ?? "the connection broke off"
                interruption = TransferError(.interrupted, reason)
            }
            return nil
        }
    }

    /// Runs on the thread of the pull.
    private func unpack() {
        do throws(TransferError) {
            let archive = try CPIOReader(BodyInflater(InflationLimit(asked.offer))) { self.pull.take() }
            let unpacker = ContentsUnpacker(transfer, asked, verdict, archive: archive)
            defer { remarks = unpacker.remarks.all }
            try unpacker.run()
            result = .success(())
        } catch {
            result = .failure(interruption ?? error)
        }
    }
}

extension HTTPExchange {
    /// Answers with a message, and ends the connection if the client asked for that.
    fileprivate func answer(_ message: PropertyList) async throws {
        let body = try message.encoded()
        if head.isKeepAlive {
            try await respond(.ok, contentType: AirDropDialect.propertyListType, body: body)
        } else {
            try await respondAndClose(.ok, contentType: AirDropDialect.propertyListType, body: body)
        }
    }

    /// Answers with a status only, and ends the connection.
    fileprivate func respondAndClose(_ status: HTTPResponseStatus) async throws {
        try await respondAndClose(status, contentType: nil, body: ByteBuffer())
    }
}

extension TransferError {
    /// The HTTP status for this fault. Apple's senders distinguish only 200 from all others.
    fileprivate var airDropStatus: HTTPResponseStatus {
        switch code {
        case .protocolViolation, .sizeMismatch, .digestMismatch, .notAsDeclared, .unsafeName: .badRequest
        case .notAccepted: .unauthorized
        case .stopping: .serviceUnavailable
        default: .internalServerError
        }
    }
}
