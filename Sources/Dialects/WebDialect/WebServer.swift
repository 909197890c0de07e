package import HTTPChannel
import NIOCore
import NIOHTTP1
package import Sharing
import Synchronization
package import UniformTypes
import WebPages

/// Serves a page to guests who have only a browser, while a `WebSession` is open. One for all connections of a listener.
package final class WebServer: Sendable {
    /// The receiver, as this server asks for it.
    package struct Host: Sendable {
        package var reception: Reception
        /// The types known now.
        package var registry: @Sendable () -> TypeRegistry
        /// The name of this machine as guests read it.
        package var name: @Sendable () -> String
        /// The values of `Host` that belong to this machine, in lower case, as browsers send them: addresses, name and
        /// `.local` name, each with the port (without it where it is the scheme's own); IPv6 addresses in brackets.
        package var authorities: @Sendable () -> Set<String>
        /// Called for each step of a guest; returns soon.
        package var observe: @Sendable (WebEvent) -> Void
        /// Called with the reason if a question is invalid. Any guest can cause such calls.
        package var refused: @Sendable (TransferError) -> Void
        /// Called after a question in which names could not be kept.
        package var remarked: @Sendable (Offer, PeerID, [EntryRemark]) -> Void
        /// Threads that may wait for the disk.
        package var threads: @Sendable () -> (any TaskExecutor)?

        package init(
            reception: Reception, registry: @escaping @Sendable () -> TypeRegistry = { .system },
            name: @escaping @Sendable () -> String, authorities: @escaping @Sendable () -> Set<String>,
            observe: @escaping @Sendable (WebEvent) -> Void = { _ in },
            refused: @escaping @Sendable (TransferError) -> Void = { _ in },
            remarked: @escaping @Sendable (Offer, PeerID, [EntryRemark]) -> Void = { _, _, _ in },
            threads: @escaping @Sendable () -> (any TaskExecutor)? = { nil }
        ) {
            (self.reception, self.registry, self.name) = (reception, registry, name)
            (self.authorities, self.observe) = (authorities, observe)
            (self.refused, self.remarked, self.threads) = (refused, remarked, threads)
        }
    }

    /// The longest waits for a guest.
    package struct Waits: Sendable {
        /// While the host decides, without a question about the answer.
        package var asking: Duration = .seconds(45)
        /// For the next piece of an accepted file: a phone can sleep meanwhile.
        package var piece: Duration = .seconds(600)
        /// How long a file keeps others waiting between two of its pieces.
        package var turn: Duration = .seconds(10)
        /// For the next bytes in the middle of a request.
        package var silence = Limits.silence

        package init() {}
    }

    let host: Host
    let pins: PINGate
    /// Anybody can type wrong PINs: the host sees one line a minute.
    let wrongPINs = Mutex(LogRateLimiter(interval: .seconds(60)))
    let waits: Waits
    private let current = Mutex<OpenSession?>(nil)

    package init(_ host: Host, pins: PINGate = PINGate(tries: WebLimits.wrongPINs), waits: Waits = Waits()) {
        (self.host, self.pins, self.waits) = (host, pins, waits)
    }

    // MARK: Sessions

    /// Opens a session in place of the one before it.
    package func open(_ session: WebSession) async {
        let new = OpenSession(session)
        let old = current.withLock { current in
            defer { current = new }
            return current
        }
        await old?.close()
    }

    /// Ends the session: everything is answered with 404. The files that have come stay.
    package func close() async { await current.withLock { $0.take() }?.close() }

    /// How long no guest of the session has asked for anything.
    package var quietTime: Duration { current.withLock { $0 }?.quietTime ?? .zero }

    /// Whether a transfer of a guest is under way.
    package var isBusy: Bool { current.withLock { $0 }?.isBusy ?? false }

    // MARK: Requests

    /// Serves one connection until it is closed.
    ///
    /// - Parameters:
    ///   - visitor: the other end of the connection.
    ///   - isIdle: called with whether the connection may be closed in favour of another one.
    ///   - enter: called when it is a guest's.
    package func serve(
        _ connection: HTTPServer.Connection, visitor: Visitor, isIdle: (Bool) -> Void = { _ in },
        enter: @escaping @Sendable () -> Void = {}
    ) async {
        // Browsers need no interim answers while users decide, and some do not know them.
        await HTTPServer.serve(
            connection, idle: Limits.idleStranger, silence: waits.silence, interim: .seconds(86_400), isIdle: isIdle
        ) { exchange in
            RequestGuard.add(to: &exchange.answerHeaders, policy: WebDialect.policy)
            do {
                try await respond(to: exchange, from: visitor, enter)
            } catch let fault as TransferError {
                guard !exchange.hasAnswered else { throw fault }
                try await exchange.refuse(fault.webStatus, fault.message)
            } catch is Downloads.Full {
                exchange.answerHeaders.add(name: "retry-after", value: "\(WebLimits.downloadPause)")
                let words = "too many downloads at the moment: try again in \(WebLimits.downloadPause) seconds"
                try await exchange.respond(.serviceUnavailable, line: words, closing: true)
            } catch let fault as SourceError {
                // After the head of an answer only the end of the connection can say it.
                guard !exchange.hasAnswered else { throw fault }
                try await exchange.respond(.conflict, line: "this item has changed, or is gone", closing: true)
            } catch let fault as MultipartReader.Malformed {
                guard !exchange.hasAnswered else { throw fault }
                try await exchange.refuse(.badRequest, "the form is malformed: \(fault.reason)")
            }
        }
    }

    private func respond(
        to exchange: HTTPExchange, from visitor: Visitor, _ hasEntered: @escaping @Sendable () -> Void
    ) async throws {
        guard RequestGuard.isForThisHost(exchange.head, host.authorities()) else {
            return try await exchange.respond(.misdirectedRequest, line: "this is another host", closing: true)
        }
        guard let session = current.withLock({ $0 }), var names = RequestTarget(exchange.head.uri).names else {
            return try await exchange.refuseUnknown()
        }
        let isInRoom = names.count > 2 && names[0] == "p" && WebSecret.areEqual(names[1], session.facts.room)
        if isInRoom { names.removeFirst(2) }
        guard !session.isOver || Self.goesOn(exchange.head.method, names) else {
            return try await exchange.refuseUnknown()
        }
        if ![.GET, .HEAD].contains(exchange.head.method),
            !RequestGuard.isOfThisOrigin(exchange.head, isPlain: session.facts.isPlain)
        {
            return try await exchange.refuse(.forbidden, "this comes from another page")
        }
        if let foreign = exchange.foreignBody {
            return try await exchange.respond(foreign.status, line: foreign.message, closing: true)
        }
        let known = session.guest(cookie(of: exchange.head, session))
        let visit = Visit(
            exchange: exchange, session: session, visitor: visitor, known: known, guest: isInRoom ? known : nil,
            hasEntered: hasEntered)
        if visit.guest != nil { hasEntered() }
        if try await answerAnybody(visit, names) { return }
        guard let guest = visit.guest else { return try await exchange.refuse(.forbidden, "open the page first") }
        try await session.counting(guest) { try await answer(guest, visit, names) }
    }

    private func cookie(of head: HTTPRequestHead, _ session: OpenSession) -> String? {
        RequestGuard.cookie(WebDialect.cookie(isPlain: session.facts.isPlain), in: head)
    }

    /// Whether a request belongs to a transfer that began before: it goes on when the time of the page is over.
    private static func goesOn(_ method: HTTPMethod, _ names: [String]) -> Bool {
        names.first == "offers" && (method != .POST || names.last == "cancel")
    }

    /// Answers what needs no cookie.
    /// - Returns: false for anything else.
    private func answerAnybody(_ visit: Visit, _ names: [String]) async throws -> Bool {
        let exchange = visit.exchange
        switch (exchange.head.method, names.first ?? "", names.count) {
        case (.GET, "", 1), (.HEAD, "", 1): try await showPage(visit)
        case (.GET, "g", 2), (.HEAD, "g", 2): try await enter(visit, names[1])
        case (.POST, "pin", 1): try await checkPIN(visit)
        case (_, "u", 2...): try await answerProgram(visit, secret: names[1], Array(names.dropFirst(2)))
        case (.GET, "words.json", 1), (.HEAD, "words.json", 1):
            exchange.answerHeaders.add(name: "vary", value: "accept-language")
            try await exchange.respond(static: visit.words.file, "application/json")
        case (_, "", 1), (_, "words.json", 1): try await exchange.refuse(allowing: "GET, HEAD")
        case (_, "pin", 1): try await exchange.refuse(allowing: "POST")
        case (let method, let name, 1):
            guard let file = WebPage.file(name) else { return false }
            if [.GET, .HEAD].contains(method) {
                try await exchange.respond(static: file.bytes, file.type)
            } else {
                try await exchange.refuse(allowing: "GET, HEAD")
            }
        default: return false
        }
        return true
    }

    private func answer(_ guest: Guest, _ visit: Visit, _ names: [String]) async throws {
        switch (visit.exchange.head.method, names[0], names.count) {
        case (.GET, "d", 2...3), (.HEAD, "d", 2...3):
            guard let item = visit.session.shared[names[1]] else { return try await visit.exchange.refuseUnknown() }
            try await send(item, visit)
        case (.GET, "all.zip", 1), (.HEAD, "all.zip", 1): try await sendAll(visit)
        case (.POST, "offers", 1): try await ask(guest, visit)
        case (.GET, "offers", 2): try await follow(guest, visit, names[1])
        case (.PUT, "offers", 4) where names[2] == "files": try await takePiece(guest, visit, names[1], names[3])
        case (.POST, "offers", 3) where names[2] == "cancel": try await cancel(guest, visit, names[1])
        case (.POST, "upload", 1): try await takeForm(guest, visit)
        case (_, "d", 2...3), (_, "all.zip", 1): try await visit.exchange.refuse(allowing: "GET, HEAD")
        case (_, "offers", 1), (_, "upload", 1): try await visit.exchange.refuse(allowing: "POST")
        default: try await visit.exchange.refuseUnknown()
        }
    }
}

/// One request to an open session.
struct Visit {
    let exchange: HTTPExchange
    let session: OpenSession
    let visitor: Visitor
    /// The guest of the cookie, which alone opens nothing; nil without one that is known.
    let known: Guest?
    /// The same within the session's room; nil elsewhere.
    let guest: Guest?
    /// Called when the visitor becomes a guest.
    let hasEntered: @Sendable () -> Void

    /// The address of the guest; nil if unknown.
    var address: String? { visitor.origin.host }

    /// The browser or the program, as it calls itself.
    var program: String { BrowserName.of(exchange.head.headers.first(name: "user-agent") ?? "") }

    /// In the language of the guest.
    var words: PageWords { .accepted(exchange.head.headers.first(name: "accept-language")) }
}

/// A step of a guest, for displays and logs. Offers are events of the `Reception`.
package enum WebEvent: Sendable {
    /// A guest has shown the secret or the PIN.
    /// - Parameter browser: such as `Firefox on Android`. Foreign text of at most 60 characters.
    case entered(PeerID, at: String?, browser: String)
    /// A wrong PIN was typed. Told once a minute, as anybody can type wrong PINs.
    case wrongPIN(at: String?)
    /// The PIN was guessed at too often, and has changed; nil if no PIN opens the page any more.
    case newPIN(String?)
    /// A download has ended.
    /// - Parameters:
    ///   - name: the file's, or `all.zip`.
    ///   - isWhole: whether all its bytes were sent.
    case fetched(PeerID?, at: String?, name: String, isWhole: Bool)
    /// An offer of the guest is over.
    case ended(PeerID)
}

/// The name of a browser for people, such as `Firefox on Android`, from the `User-Agent` that it sends.
enum BrowserName {
    /// Characters of the name of another program.
    static let limit = 60

    /// A browser names its ancestors too: the first of these that is there is its own name.
    private static let browsers: KeyValuePairs = [
        "Edg": "Edge", "OPR/": "Opera", "SamsungBrowser": "Samsung Internet", "FxiOS": "Firefox", "Firefox": "Firefox",
        "CriOS": "Chrome", "Chromium": "Chromium", "Chrome": "Chrome", "Safari": "Safari",
    ]
    private static let systems: KeyValuePairs = [
        "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "CrOS": "ChromeOS", "Windows": "Windows",
        "Mac OS X": "Mac", "Linux": "Linux",
    ]

    /// - Parameter agent: foreign text.
    /// - Returns: for other programs, the start of their text, without control characters.
    static func of(_ agent: String) -> String {
        let agent = String(agent.prefix(500))
        guard let browser = browsers.first(where: { agent.contains($0.key) })?.value else {
            let name = PathText.printable(agent, limit: limit)
            return name.isEmpty ? "an unknown program" : name
        }
        let system = systems.first { agent.contains($0.key) }?.value
        return system.map { "\(browser) on \($0)" } ?? browser
    }
}
