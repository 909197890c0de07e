import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import WebPages

/// The way of programs such as curl, for which each file is one request.
extension WebServer {
    /// Answers a program that has the secret.
    /// - Parameter names: behind the secret: the name of the file that it sends, or the number of the item that it wants.
    func answerProgram(_ visit: Visit, secret: String, _ names: [String]) async throws {
        let exchange = visit.exchange
        // A program keeps no cookie: it is known by its address. Its token contains the secret, so that no other program
        // can make it.
        let token = "\(visit.session.facts.secret) at \(visit.address ?? "an unknown address")"
        guard WebSecret.areEqual(secret, visit.session.facts.secret),
            let (guest, isNew) = visit.session.enter(from: visit.visitor.address, token)
        else { return try await exchange.refuseUnknown() }
        if isNew { host.observe(.entered(guest.peer, at: visit.address, browser: visit.program)) }
        visit.hasEntered()
        let visit = Visit(
            exchange: exchange, session: visit.session, visitor: visit.visitor, known: guest, guest: guest,
            hasEntered: visit.hasEntered)
        guard names.count < 2 else {
            let words = "one name is expected behind the secret: the files of a folder are sent one by one"
            return try await exchange.respond(.notFound, line: words, closing: true)
        }
        try await visit.session.counting(guest) { try await serve(guest, visit, names.first) }
    }

    private func serve(_ guest: Guest, _ visit: Visit, _ name: String?) async throws {
        let exchange = visit.exchange
        switch (exchange.head.method, name) {
        case (.GET, nil), (.HEAD, nil): return try await exchange.respond(.ok, line: visit.session.shared.lines)
        case (.GET, let name?), (.HEAD, let name?):
            guard let item = visit.session.shared[name] else { return try await exchange.refuseUnknown() }
            return try await send(item, visit)
        case (.PUT, let name?): try await put(name, guest, visit)
        case (_, nil): try await exchange.refuse(allowing: "GET, HEAD")
        case (_, _?): try await exchange.refuse(allowing: "GET, HEAD, PUT")
        }
    }

    private func put(_ name: String, _ guest: Guest, _ visit: Visit) async throws {
        let exchange = visit.exchange
        guard visit.session.facts.takes else {
            return try await exchange.respond(.forbidden, line: "nothing is taken here", closing: true)
        }
        try await take(fileOf: guest, named: name, visit)
    }

    private func take(fileOf guest: Guest, named name: String, _ visit: Visit) async throws {
        let exchange = visit.exchange
        let arrival = try SingleArrival(host, guest)
        try arrival.add(file: name, type: nil, size: exchange.announcedBytes)
        let verdicts = await arrival.ask(visit)
        guard let verdict = verdicts.first, verdict.answer == .accepted else {
            let verdict = verdicts.first ?? ItemVerdict(.expired)
            return try await exchange.respond(verdict.webStatus, line: verdict.webLine, closing: true)
        }
        do {
            try arrival.begin(interrupt: exchange.breakingOff)
            try await exchange.inviteBody()
            exchange.readInBulk()
            try await arrival.take(0) { try await exchange.nextBytes() }
            let receipt = try arrival.finish()
            host.observe(.ended(guest.peer))
            guard case .stored(let stored, _, _)? = receipt.items.first?.outcome else {
                throw TransferError(.storage, receipt.failures ?? "it could not be stored")
            }
            try await exchange.respond(.created, line: "stored as \(PathText.printable(stored))")
        } catch {
            arrival.fail(error)
            guard let fault = error as? TransferError else { throw error }
            try await exchange.respond(fault.webStatus, line: PathText.printable(fault.message), closing: true)
        }
    }
}
