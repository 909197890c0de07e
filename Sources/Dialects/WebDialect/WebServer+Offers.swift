import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import WebPages

/// The offers of guests whose browsers run the page's script.
extension WebServer {
    func ask(_ guest: Guest, _ visit: Visit) async throws {
        let exchange = visit.exchange
        guard visit.session.facts.takes else { return try await exchange.refuse(.forbidden, "nothing is taken here") }
        let type = exchange.head.headers.first(name: "content-type") ?? ""
        guard type.lowercased().split(separator: ";").first == "application/json" else {
            return try await exchange.refuse(.unsupportedMediaType, "a question is JSON")
        }
        try await exchange.inviteBody()
        guard let items = try await question(in: exchange) else {
            return try await exchange.refuse(.serviceUnavailable, "too many questions at once; try again")
        }
        let offer = GuestOffer(
            items, of: guest, host.reception,
            waits: GuestOffer.Waits(asking: waits.asking, piece: waits.piece, turn: waits.turn)
        ) { [host] in host.observe(.ended(guest.peer)) }
        guard visit.session.add(offer) else {
            return try await exchange.refuse(.tooManyRequests, "other offers have not ended")
        }
        if !items.remarks.all.isEmpty { host.remarked(items.offer, guest.peer, items.remarks.all) }
        offer.start(guest.visitor(from: visit), on: host.threads())
        try await exchange.respond(.created, json: offer.ticket)
    }

    /// - Returns: nil if there is no memory for the question now.
    private func question(in exchange: HTTPExchange) async throws -> GuestItems? {
        let claim = host.reception.bodies.claim(isContact: false)
        defer { claim.giveBack() }
        var body = ByteBuffer()
        let hasCome = try await exchange.readBody(upTo: WebLimits.questionBytes) { bytes in
            guard claim.take(bytes.readableBytes) else { return false }
            body.writeImmutableBuffer(bytes)
            return true
        }
        guard hasCome else { return nil }
        do throws(TransferError) {
            guard let question = try? JSONDecoder().decode(GuestQuestion.self, from: Data(body.readableBytesView))
            else {
                throw GuestItems.malformed("it is not a question of the page")
            }
            return try GuestItems(question, registry: host.registry())
        } catch {
            host.refused(error)
            throw error
        }
    }

    func follow(_ guest: Guest, _ visit: Visit, _ id: String) async throws {
        let target = RequestTarget(visit.exchange.head.uri)
        guard let offer = visit.session.offer(id, of: guest) else { return try await visit.exchange.refuseUnknown() }
        let wait = target["wait"].flatMap { Int($0) } ?? 0
        let time = min(.seconds(max(0, wait)), WebLimits.longestPoll)
        let version = target["after"].flatMap { Int($0) }
        let report = await visit.exchange.whileClientWaits { await offer.report(after: version, within: time) }
        try await visit.exchange.respond(.ok, json: report)
    }

    func takePiece(_ guest: Guest, _ visit: Visit, _ id: String, _ file: String) async throws {
        let exchange = visit.exchange
        guard let offer = visit.session.offer(id, of: guest), let number = Int(file), number >= 0,
            let offset = RequestTarget(exchange.head.uri)["offset"].flatMap({ UInt64($0) })
        else { return try await exchange.refuseUnknown() }
        do {
            let report = try await offer.take(number, from: offset, interrupt: exchange.breakingOff) {
                try await exchange.inviteBody()
                exchange.readInBulk()
                return try await exchange.nextBytes()
            }
            try await exchange.respond(.ok, json: report)
        } catch let refusal as GuestOffer.Refusal {
            // Browsers read an answer surely only after they have sent their piece.
            if (exchange.announcedBytes ?? .max) <= UInt64(WebLimits.unwantedPiece) {
                while try await exchange.nextBytes() != nil {}
                try await exchange.respond(refusal.status, json: refusal.report)
            } else {
                let body = ByteBuffer(bytes: try JSONEncoder().encode(refusal.report))
                try await exchange.respondAndClose(refusal.status, body: body)
            }
        }
    }

    func cancel(_ guest: Guest, _ visit: Visit, _ id: String) async throws {
        guard let offer = visit.session.offer(id, of: guest) else { return try await visit.exchange.refuseUnknown() }
        await offer.close(.cancelled, .senderCancelled)
        try await visit.exchange.respond(.ok, json: offer.report)
    }
}
