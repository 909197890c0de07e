package import HTTPChannel
import NIOCore
import NIOHTTP1
package import Sharing

/// The receiver's side of the protocol: HTTP requests in, calls on the `Reception`, answers out.
package struct WaftServer: Sendable {
    private let reception: Reception
    private let card: @Sendable (PeerID) -> Card?

    /// - Parameter card: what this peer tells of itself to another; nil where it tells nothing.
    package init(reception: Reception, card: @escaping @Sendable (PeerID) -> Card?) {
        self.reception = reception
        self.card = card
    }

    /// Serves one connection until it is closed.
    ///
    /// To be run on an executor whose threads may block: contents are written to the disk inline.
    /// - Parameters:
    ///   - peer: whose key the connection's handshake proved.
    ///   - pairing: answers this connection's pairing messages; nil where there is no pairing.
    package func serve(_ connection: HTTPServer.Connection, peer: PeerID, pairing: PairingPort? = nil) async {
        await HTTPServer.serve(connection, idle: Limits.idleConnection, silence: Limits.silence) { exchange in
            do {
                try await respond(to: exchange, from: peer, pairing)
            } catch let fault as TransferFault {
                try await refuse(exchange, fault)
            }
        }
    }

    private func respond(to exchange: HTTPExchange, from peer: PeerID, _ pairing: PairingPort?) async throws {
        guard let resource = WaftDialect.Resource(path: exchange.head.uri) else {
            let fault = TransferFault(.protocolViolation, "no such resource")
            return try await exchange.respondAndClose(.notFound, body: try WaftDialect.encode(fault))
        }
        switch (exchange.head.method, resource) {
        case (.GET, .card):
            guard let card = card(peer) else {
                // Not the end of the connection: whoever is hidden from may still be heard.
                let fault = TransferFault(.notAccepted, "no card for this peer")
                return try await exchange.respond(.forbidden, body: try WaftDialect.encode(fault))
            }
            try await exchange.respond(.ok, body: try WaftDialect.encode(CardMessage(card)))
        case (.POST, .offers):
            try await judge(exchange, from: peer)
        case (.POST, .contents(let id)):
            try await receive(id, in: exchange, from: peer)
        case (.GET, .kept(let id)):
            try await list(id, in: exchange, from: peer)
        case (.GET, .receipt(let id, let answered)):
            let reception = self.reception
            let receipt = await exchange.whileClientWaits {
                await reception.receipt(of: id, from: peer, answered: answered)
            }
            guard let receipt else {
                // Not the end of the connection: whoever goes on with a transfer asks for this first.
                let fault = TransferFault(.notAccepted, "no receipt for this transfer")
                return try await exchange.respond(.forbidden, body: try WaftDialect.encode(fault))
            }
            try await respond(exchange, receipt)
        case (.POST, .pairing):
            guard let pairing else { throw TransferFault(.notAccepted, "no pairing here") }
            try await pair(exchange, pairing)
        default:
            let fault = TransferFault(.protocolViolation, "no such method here")
            try await exchange.respondAndClose(.methodNotAllowed, body: try WaftDialect.encode(fault))
        }
    }

    private func pair(_ exchange: HTTPExchange, _ pairing: @escaping PairingPort) async throws {
        let letter = PairingLetter(try await exchange.body(upTo: PairingLetter.byteLimit))
        let answer = await exchange.whileClientWaits { await pairing(letter) }
        if Task.isCancelled { throw Self.stopping }
        try await exchange.respond(.ok, body: answer.body)
    }

    private func judge(_ exchange: HTTPExchange, from peer: PeerID) async throws {
        let offer = try await Self.offer(in: exchange)
        let reception = self.reception
        let verdict = await exchange.whileClientWaits { await reception.judge(offer, from: peer) }
        if Task.isCancelled { throw Self.stopping }
        let told = await exchange.keepingClientInformed {
            if verdict.acceptsAnything { await reception.awaitRivals(of: offer, from: peer) }
            return reception.recognising(offer, verdict, from: peer)
        }
        try await exchange.respond(.ok, body: try WaftDialect.encode(VerdictMessage(told)))
    }

    private static func offer(in exchange: HTTPExchange) async throws -> Offer {
        var reader = OfferReader()
        try await exchange.readBody(upTo: Limits.offerBytes) { try reader.read($0) }
        return try reader.finish()
    }

    private func respond(_ exchange: HTTPExchange, _ receipt: Receipt) async throws {
        var writer = try WaftDialect.writer(receipt)
        try await exchange.respond(.ok) { try writer.nextPiece() }
    }

    /// Answers with what is kept of a transfer's items, summed up as it lies on the disk now.
    private func list(_ id: TransferID, in exchange: HTTPExchange, from peer: PeerID) async throws {
        let list = await exchange.keepingClientInformed { () -> Result<ByteBuffer, TransferFault> in
            var list = ByteBuffer()
            do throws(TransferFault) {
                try reception.readKept(of: id, from: peer) { number, file in
                    list.writeKept(file, item: number) && !Task.isCancelled
                }
                return .success(list)
            } catch {
                return .failure(error)
            }
        }
        if Task.isCancelled { throw Self.stopping }
        try await exchange.respond(.ok, contentType: WaftDialect.keptType, body: try list.get())
    }

    private func receive(_ id: TransferID, in exchange: HTTPExchange, from peer: PeerID) async throws {
        let transfer = try reception.begin(id, from: peer, interrupt: exchange.breakingOff)
        let receiver = ContentsReceiver(transfer)
        let receipt: Receipt
        do {
            // Reading again what was kept, looking at what is there, and syncing a lot to a slow disk take their time.
            receipt = try await exchange.keepingClientInformed { () -> Result<Receipt, any Error> in
                do {
                    try await receiver.receiveAll(from: exchange)
                    return .success(try transfer.finish())
                } catch {
                    return .failure(error)
                }
            }.get()
        } catch let fault as TransferFault {
            let receipt = reception.end(transfer, transfer.fail(fault), fault: fault)
            return try await refuse(exchange, fault, receipt)
        } catch {
            let fault = Self.interruption(error)
            let receipt = reception.end(transfer, transfer.fail(fault), fault: fault)
            guard fault == Self.stopping else { throw error }
            return try await refuse(exchange, fault, receipt)
        }
        try await respond(exchange, reception.end(transfer, receipt, fault: nil))
    }

    private static let stopping = TransferFault(.stopping, "the receiver is being stopped")

    /// What has become of a transfer whose request could not be read to its end.
    private static func interruption(_ error: any Error) -> TransferFault {
        if error is CancellationError || Task.isCancelled { return stopping }
        if let fault = error as? HTTPFault { return TransferFault(.interrupted, fault.description) }
        return TransferFault(.interrupted, "the connection broke off")
    }

    private func refuse(_ exchange: HTTPExchange, _ fault: TransferFault, _ receipt: Receipt? = nil) async throws {
        guard !exchange.hasAnswered else { return }
        guard let receipt else {
            return try await exchange.respondAndClose(fault.status, body: try WaftDialect.encode(fault))
        }
        var writer = try WaftDialect.writer(fault, receipt)
        try await exchange.respondAndClose(fault.status) { try writer.nextPiece() }
    }
}

extension TransferFault {
    /// The status of an answer that bears the fault (Protocol, section 6).
    fileprivate var status: HTTPResponseStatus {
        switch code {
        case .protocolViolation: .badRequest
        case .notAccepted: .forbidden
        case .sizeMismatch, .digestMismatch, .unsafeName, .notKept: .conflict
        case .changed, .unreadable: .conflict
        case .noRoom: .insufficientStorage
        case .cancelled: .custom(code: 499, reasonPhrase: "Cancelled")
        case .stopping: .serviceUnavailable
        case .interrupted: .requestTimeout
        case .storage, .unexpected: .internalServerError
        }
    }
}
