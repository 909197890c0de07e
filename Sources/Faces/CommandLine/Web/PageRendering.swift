import Glibc
import Lines
import Operations
import Sharing

/// The output of `waft web`: text for people, or one JSON document a line.
struct PageRendering: Sendable {
    let output: OutputOptions
    let showsCode: Bool
    /// Whether the address carries no secret.
    let byPIN: Bool
    /// Says why this machine is in no network; nil if it is in one.
    var network: @Sendable () -> String? = { (try? CommandContext()).flatMap { NetworkNote.text($0.waft) } }

    private var json: Bool { output.json }

    /// Whether questions about offers go to this terminal.
    var asks: Bool { !json && LineReader.hasTerminal }

    func opened(_ page: PageProgress) {
        if json { return moved(page) }
        let say = { Console.shared.result($0) }
        if let fingerprint = page.fingerprint {
            say("Browsers warn once: nobody vouches for this certificate. Its SHA-256 fingerprint is")
            for line in PageCode.pairs(fingerprint) { say("  " + line) }
        } else {
            say("NOT ENCRYPTED: others on this network can read and change everything.")
        }
        if !page.items.isEmpty {
            let shown = page.items.prefix(5).map { TerminalText.escaped($0, limit: 80) }.joined(separator: ", ")
            let rest = page.items.count > 5 ? " and \(page.items.count - 5) more" : ""
            say("Guests can fetch \(shown)\(rest).")
        }
        if page.takes { say("Guests can send files; you are asked first.") }
        say(end(page))
        if page.takes, !asks {
            Console.shared.note("waft: no terminal to ask at; answer with: waft offers, waft accept N, waft decline N")
        }
        // Last: the code and the address fit a small terminal together.
        for line in way(to: page) { say(line) }
    }

    /// The page is at another address.
    func moved(_ page: PageProgress) {
        guard json else { return way(to: page).forEach { Console.shared.result($0) } }
        if let line = PageLine(page, byPIN: byPIN) { output.show(line, as: []) }
    }

    /// The addresses, the code and the PIN. There is no code for an address that leads guests to their own machine.
    func way(to page: PageProgress) -> [String] {
        guard let line = PageLine(page, byPIN: byPIN) else { return [] }
        let (address, url, isLocal) = (line.address, line.url, page.isLocal)
        var lines: [String] = []
        if isLocal {
            let cause =
                network()
                ?? "its addresses are link-local ones of IPv6, which browsers do not take; join a network that "
                + "gives others"
            lines.append("No other machine can reach this page now: \(cause).")
            lines.append("The address for guests follows here when there is one.")
        } else {
            if let cause = network() { lines.append("Perhaps no other machine can reach this page: \(cause).") }
            lines += page.addresses.dropFirst().prefix(3).map { "It is also at  \($0)" }
        }
        let code = showsCode && !isLocal ? Pages.code(of: url ?? address) : nil
        lines += (code ?? []).map { PageCode.colours.0 + $0 + PageCode.colours.1 }
        let digits = page.pin.map(Self.digits)
        let way = isLocal ? "On this machine open" : code == nil ? "Guests open" : "Guests scan the code, or open"
        if let url {
            lines.append("\(way)  \(url)")
            if let digits { lines.append("or type  \(address)  and the PIN  \(digits)") }
        } else if let digits {
            lines.append("\(way)  \(address)  and type the PIN  \(digits)")
        } else {
            lines.append("No PIN opens this page any more. For one with another PIN: waft web --pin")
        }
        return lines
    }

    private static func digits(_ pin: String) -> String { "\(pin.prefix(3)) \(pin.suffix(3))" }

    private func end(_ page: PageProgress) -> String {
        if page.isStanding { return "The settings keep this page open; Ctrl-C ends this command only." }
        guard let seconds = page.secondsLeft else { return "It is open until Ctrl-C." }
        return "It is open for \(VisibleCommand.words(Int64(seconds))), or until Ctrl-C."
    }

    func show(_ event: Pages.Event) {
        switch event {
        case .guest(let line): output.show(line, as: [words(line)])
        case .moved(let page): moved(page)
        case .receiver(let event): show(event)
        }
    }

    private func words(_ line: GuestLine) -> String {
        let address = line.address ?? "an unknown address"
        switch line.kind {
        case .guest: return "\(address) has opened the page (\(TerminalText.escaped(line.browser ?? "", limit: 80)))"
        case .wrongPin: return "\(address) has typed a wrong PIN"
        case .newPin:
            let now =
                line.pin.map { "the PIN is now  \(Self.digits($0))" }
                ?? (byPIN ? "no PIN opens it any more: run waft web again" : "guests get in by the code only")
            return "Too many wrong PINs were typed: \(now)"
        case .fetched:
            let name = TerminalText.escaped(line.name ?? "", limit: 256)
            return "\(address) has \(line.whole == true ? "fetched" : "broken off fetching") \(name)"
        }
    }

    private func show(_ event: ControlEvent) {
        if json { return output.show(event.line, as: []) }
        switch event {
        case .offer, .answered:
            // A question shows those that wait; others are shown by what is stored.
            if asks { break }
            if case .answered(let answer) = event, answer.offer == nil { break }
            for line in OfferText.lines(event) { Console.shared.result(line) }
        case .arrival(let arrival) where arrival.change == .stored:
            let name = TerminalText.escaped(arrival.stored, limit: 256)
            let sender = TerminalText.peerName(arrival.from.name ?? "")
            Console.shared.result("stored \(name), \(ByteCount.text(arrival.size)), from \(sender)")
        case .ended(let end) where end.isFailed:
            Console.shared.result("a transfer of a guest ended: \(TerminalText.escaped(end.reason ?? "", limit: 400))")
        case .progress, .arrival, .ended, .ready, .visibility, .settings, .contacts, .protection: break
        }
    }
}

extension PageClosedLine: WordedLine {
    var words: [String] {
        if stays, end == .interrupted { return ["The page stays open."] }
        let why =
            switch end {
            case .time: "its time is over"
            case .guest: "the guest is through"
            case .interrupted: "you have ended it"
            case .receiver: "the receiver has ended"
            }
        return ["The page is closed: \(why)."]
    }
}

/// The look of codes and fingerprints.
private enum PageCode {
    /// White on black, on terminals of either ground; nothing if standard output is no terminal, or wants no colours.
    static var colours: (String, String) {
        let isPlain = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let isDumb = getenv("TERM").map { strcmp($0, "dumb") == 0 } ?? true
        return isatty(STDOUT_FILENO) == 1 && !isPlain && !isDumb ? ("\u{1B}[97;40m", "\u{1B}[0m") : ("", "")
    }

    /// `AB:CD:…`, in two lines.
    static func pairs(_ digits: String) -> [String] {
        let pairs = stride(from: 0, to: digits.count, by: 2).map { String(digits.dropFirst($0).prefix(2)) }
        return [pairs.prefix(16), pairs.dropFirst(16)].map { $0.joined(separator: ":") }
    }
}
