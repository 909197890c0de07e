import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import Synchronization
import WebPages

/// The page, and the ways in.
extension WebServer {
    func showPage(_ visit: Visit, _ status: HTTPResponseStatus = .ok, notice: String = "") async throws {
        let isGuest = visit.guest != nil
        visit.exchange.answerHeaders.add(name: "vary", value: "accept-language, cookie")
        let page = WebPage(
            words: visit.words, host: host.name(), isPlain: visit.session.facts.isPlain, asksPIN: !isGuest,
            takes: isGuest && visit.session.facts.takes, items: isGuest ? visit.session.shared.all : [], notice: notice)
        try await visit.exchange.respond(status, html: page.html)
    }

    /// Opens the page to a visitor with the right secret.
    func enter(_ visit: Visit, _ secret: String) async throws {
        guard WebSecret.areEqual(secret, visit.session.facts.secret) else {
            return try await visit.exchange.refuseUnknown()
        }
        guard visit.known != nil || admit(visit) != nil else { return try await visit.exchange.refuseUnknown() }
        visit.exchange.answerHeaders.replaceOrAdd(name: "referrer-policy", value: "no-referrer")
        try await visit.exchange.respond(
            .ok, html: WebPage.door(visit.words, host.name(), to: visit.session.facts.roomPath))
    }

    func checkPIN(_ visit: Visit) async throws {
        let (exchange, words, pin) = (visit.exchange, visit.words, visit.session.facts.pin)
        try await exchange.inviteBody()
        let form = RequestTarget(form: String(buffer: try await exchange.body(upTo: WebLimits.pinFormBytes)))
        let digits = form["pin"].map { String($0.filter { $0 != " " }) }
        // A guest who is in stays in. The gate reads nil as a page without a PIN, which is open to all.
        let answer: PINGuesses.Answer =
            if visit.guest != nil {
                .right
            } else if pin.text == nil {
                .tooMany
            } else {
                pins.check(digits, against: pin.text ?? "", from: visit.visitor.address)
            }
        if answer == .spent {
            let new = pin.change()
            pins.pinHasChanged()
            host.observe(.newPIN(new))
        }
        switch answer {
        case .right:
            guard visit.known != nil || admit(visit) != nil else { return try await exchange.refuseUnknown() }
            exchange.answerHeaders.add(name: "location", value: visit.session.facts.roomPath)
            try await exchange.respond(.seeOther, contentType: nil, body: ByteBuffer())
        case .wrong where wrongPINs.withLock { $0.mayBeSaid(now: .now) }:
            host.observe(.wrongPIN(at: visit.address))
            fallthrough
        case .missing, .wrong, .spent:
            try await showPage(visit, .forbidden, notice: words["pinWrong"])
        case .tooMany:
            exchange.answerHeaders.add(name: "retry-after", value: "\(PINGate.wait.components.seconds)")
            try await showPage(visit, .tooManyRequests, notice: words["pinLocked"])
        }
    }

    /// Gives the guest its cookie.
    /// - Returns: nil if no other guest may come.
    private func admit(_ visit: Visit) -> Guest? {
        guard let (guest, _) = visit.session.enter(from: visit.visitor.address) else { return nil }
        visit.hasEntered()
        let secure = visit.session.facts.isPlain ? "" : "; Secure"
        visit.exchange.answerHeaders.add(
            name: "set-cookie",
            value:
                "\(WebDialect.cookie(isPlain: visit.session.facts.isPlain))=\(guest.token); Path=/; HttpOnly; SameSite=Strict\(secure)"
        )
        host.observe(.entered(guest.peer, at: visit.address, browser: visit.program))
        return guest
    }
}
