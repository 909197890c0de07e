import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import WebPages

/// The way of programs such as curl, for which each file is one request.
extension WebServer {
    /// Answers a program that has the secret.
    /// - Parameter name: of the file that it sends, or the number of the item that it wants.
    func answerProgram(_ visit: Visit, secret: String, _ name: String?) async throws {
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
        try await visit.session.counting(guest) { try await serve(guest, visit, name) }
    }

    private func serve(_ guest: Guest, _ visit: Visit, _ name: String?) async throws {
        let exchange = visit.exchange
        guard let name else { return try await exchange.respond(.ok, line: visit.session.shared.lines) }
        if exchange.head.method != .PUT {
            guard let item = visit.session.shared[name] else { return try await exchange.refuseUnknown() }
            return try await send(item, visit)
        }
        guard visit.session.facts.takes else {
            return try await exchange.respond(.forbidden, line: "nothing is taken here", closing: true)
        }
        try await take(fileOf: guest, named: name, visit)
    }

    private func take(fileOf guest: Guest, named name: String, _ visit: Visit) async throws {
        let exchange = visit.exchange
    }

    private func put(_ name: String, _ guest: Guest, _ visit: Visit) async throws {
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

    // MARK: The form

    /// Takes the text and the file of the page's form. The host is asked before the file is read.
    func takeForm(_ guest: Guest, _ visit: Visit) async throws {
        let (exchange, words) = (visit.exchange, visit.words)
        guard visit.session.facts.takes else { return try await exchange.refuse(.forbidden, "nothing is taken here") }
        let type = exchange.head.headers.first(name: "content-type")
        guard var form = MultipartReader(type, { try await exchange.nextBytes() }) else {
            return try await exchange.refuse(.unsupportedMediaType, "a form in parts is expected")
        }
        try await exchange.inviteBody()
        let arrival = try SingleArrival(host, guest)
        var hasFile = false
        while !hasFile, let part = try await form.next() {
            switch (part.name, part.fileName) {
            case ("name", nil):
                arrival.senderName = GuestItems.senderName(try await form.text(upTo: WebLimits.textBytes))
            case ("text", nil):
                let text = try await form.text(upTo: WebLimits.textBytes)
                if !text.allSatisfy(\.isWhitespace) { try arrival.add(text: text) }
            case ("file", let name?) where !name.isEmpty:
                try arrival.add(file: Self.lastName(name), type: part.type, size: nil, hint: exchange.announcedBytes)
                hasFile = true
            default: break
            }
        }
        guard !arrival.items.isEmpty else { return try await showPage(visit, .badRequest, notice: words["nothing"]) }
        let verdicts = await arrival.ask(visit)
        guard verdicts.contains(where: { $0.answer == .accepted }) else {
            let status = verdicts.first?.webStatus ?? .requestTimeout
            return try await showPage(closing: visit, status, words.notice(verdicts, arrival.items, nil))
        }
        do {
            try arrival.begin(interrupt: exchange.breakingOff)
            exchange.readInBulk()
            for (number, verdict) in verdicts.enumerated() where verdict.answer == .accepted {
                if arrival.texts[number] != nil {
                    try arrival.takeText(number)
                } else {
                    try await arrival.take(number) { try await form.bytes() }
                }
            }
            let receipt = try arrival.finish()
            host.observe(.ended(guest.peer))
            let notice = words.notice(verdicts, arrival.items, receipt)
            try await showPage(closing: visit, receipt.failures == nil ? .ok : .internalServerError, notice)
        } catch {
            arrival.fail(error)
            guard let fault = error as? TransferError else { throw error }
            try await showPage(closing: visit, fault.webStatus, "\(words["failed"]): \(fault.message)")
        }
    }

    /// Shows the page, and ends the connection: not all of the form has been read.
    private func showPage(closing visit: Visit, _ status: HTTPResponseStatus, _ notice: String) async throws {
        visit.exchange.closeAfterAnswer()
        try await showPage(visit, status, notice: notice)
    }

    /// Some browsers send a path.
    private static func lastName(_ name: String) -> String {
        String(name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? "file")
    }
}

extension PageWords {
    /// The result of each item, in one line.
    fileprivate func notice(_ verdicts: [ItemVerdict], _ items: [OfferedItem], _ receipt: Receipt?) -> String {
        var parts: [String] = []
        for (number, (item, verdict)) in zip(items, verdicts).enumerated() {
            switch receipt?.items[number].outcome {
            case .stored(let name, _, _)?: parts.append(self["storedAs", ["name": name]])
            case .failed(let fault)?: parts.append("\(item.name): \(self["failed"]) (\(fault.message))")
            default:
                let reason = verdict.reason.isEmpty ? "" : " (\(verdict.reason))"
                parts.append("\(item.name): \(self[verdict.answer.rawValue])\(reason)")
            }
        }
        return PathText.printable(parts.joined(separator: " · "))
    }
}
