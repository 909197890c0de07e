import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import WebPages

/// The way without script, on which everything comes in one form.
extension WebServer {
    /// Takes the texts and the files of a form in their order. The host is asked before each file is read, together with
    /// the texts before it. The answer names each part that was not taken.
    func takeForm(_ guest: Guest, _ visit: Visit) async throws {
        let (exchange, words) = (visit.exchange, visit.words)
        guard visit.session.facts.takes else { return try await exchange.refuse(.forbidden, "nothing is taken here") }
        let source = CountedBody(exchange)
        guard
            var form = MultipartReader(
                exchange.head.headers.first(name: "content-type"), { try await source.next() })
        else { return try await exchange.refuse(.unsupportedMediaType, "a form in parts is expected") }
        try await exchange.inviteBody()
        var report = FormReport(words: words)
        defer { if report.hasArrivals { host.observe(.ended(guest.peer)) } }
        do {
            var name = WebDialect.guestName
            var isNext = true
            while isNext {
                let arrival = try SingleArrival(host, guest)
                arrival.senderName = name
                let hasFile = try await Self.gather(arrival, from: &form, source)
                if arrival.items.isEmpty, report.hasArrivals, arrival.senderName != name {
                    report.lines.append(words["nameLate"])
                }
                name = arrival.senderName
                guard !arrival.items.isEmpty else { break }
                let isLastTaken = try await take(arrival, from: &form, visit, &report)
                isNext = hasFile && isLastTaken
                if hasFile, !isLastTaken { report.lines.append(words["restUnread"]) }
            }
        } catch let fault as MultipartReader.Malformed {
            report.stop(.badRequest, "the form is malformed: \(fault.reason)")
        } catch let fault as TransferError {
            report.stop(fault.webStatus, fault.message)
        }
        guard !report.lines.isEmpty else { return try await showPage(visit, .badRequest, notice: words["nothing"]) }
        // The end of the form may not have been read.
        exchange.closeAfterAnswer()
        try await showPage(visit, report.status, notice: PathText.printable(report.lines.joined(separator: " · ")))
    }

    /// Reads parts until a file begins.
    /// - Returns: whether there is one; false at the end of the form.
    /// - Throws: `Malformed` also for a part that has no place in the page's form: it would be lost.
    private static func gather(
        _ arrival: SingleArrival, from form: inout MultipartReader, _ source: CountedBody
    ) async throws -> Bool {
        var room = WebLimits.questionBytes
        while let part = try await form.next() {
            switch (part.name, part.fileName) {
            case (_, let name?) where !name.isEmpty:
                try arrival.add(file: lastName(name), type: part.type, size: nil, hint: source.left)
                return true
            case (_, .some):
                // Browsers send this for no choice.
                guard try await form.bytes() == nil else {
                    throw MultipartReader.Malformed(reason: "a file has no name")
                }
            case ("name", nil):
                arrival.senderName = GuestItems.senderName(try await form.text(upTo: WebLimits.textBytes))
            case ("text", nil):
                let text = try await form.text(upTo: min(WebLimits.textBytes, room))
                room -= text.utf8.count
                guard !text.allSatisfy(\.isWhitespace) else { continue }
                guard arrival.items.count < WebLimits.files else {
                    throw MultipartReader.Malformed(reason: "it has too many texts")
                }
                // Forms write each line break as two characters; with script, texts come as they were typed.
                try arrival.add(text: text.replacing("\r\n", with: "\n"))
            case ("file", nil):
                throw MultipartReader.Malformed(reason: "its field file has no name of a file")
            case (let name, nil):
                throw MultipartReader.Malformed(
                    reason: "the fields of this page are name, text and file, not \(name.prefix(80))")
            }
        }
        return false
    }

    /// Asks the host, and stores the parts that it accepts.
    /// - Returns: whether the last part, which may be a file, was read and stored.
    private func take(
        _ arrival: SingleArrival, from form: inout MultipartReader, _ visit: Visit, _ report: inout FormReport
    ) async throws -> Bool {
        let verdicts = await arrival.ask(visit)
        guard verdicts.contains(where: { $0.answer == .accepted }) else {
            report.add(verdicts, arrival.items, nil, verdicts.first?.webStatus ?? .requestTimeout)
            return false
        }
        do {
            try arrival.begin(interrupt: visit.exchange.breakingOff)
            visit.exchange.readInBulk()
            for (number, verdict) in verdicts.enumerated() where verdict.answer == .accepted {
                if arrival.texts[number] != nil {
                    try arrival.takeText(number)
                } else {
                    try await arrival.take(number) { try await form.bytes() }
                }
            }
            let receipt = try arrival.finish()
            report.hasArrivals = true
            report.add(verdicts, arrival.items, receipt, receipt.failures == nil ? .ok : .internalServerError)
            return verdicts.last?.answer == .accepted && receipt.failures == nil
        } catch {
            arrival.fail(error)
            throw error
        }
    }

    /// Some browsers send a path.
    private static func lastName(_ name: String) -> String {
        String(name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? "file")
    }
}

/// The body of a form while it is read. Used by one task.
private final class CountedBody {
    private let exchange: HTTPExchange
    private var count: UInt64 = 0

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    /// Bytes that are still to come; nil if the client has not said it.
    var left: UInt64? { exchange.announcedBytes.map { $0 > count ? $0 - count : 0 } }

    func next() async throws -> ByteBuffer? {
        let bytes = try await exchange.nextBytes()
        count += UInt64(bytes?.readableBytes ?? 0)
        return bytes
    }
}

/// The results of the parts of a form, for its answer.
private struct FormReport {
    let words: PageWords
    /// The first one that tells of a fault.
    private(set) var status = HTTPResponseStatus.ok
    var lines: [String] = []
    /// Whether a transfer has ended well.
    var hasArrivals = false

    init(words: PageWords) { self.words = words }

    /// - Parameter receipt: nil if nothing was accepted.
    mutating func add(
        _ verdicts: [ItemVerdict], _ items: [OfferedItem], _ receipt: Receipt?, _ status: HTTPResponseStatus
    ) {
        for (number, (item, verdict)) in zip(items, verdicts).enumerated() {
            switch receipt?.items[number].outcome {
            case .stored(let name, _, _)?: lines.append(words["storedAs", ["name": name]])
            case .failed(let fault)?: lines.append("\(item.name): \(words["failed"]) (\(fault.message))")
            default:
                let reason = verdict.reason.isEmpty ? "" : " (\(verdict.reason))"
                lines.append("\(item.name): \(words[verdict.answer.rawValue])\(reason)")
            }
        }
        if self.status == .ok { self.status = status }
    }

    /// Notes why the rest of the form is not read.
    mutating func stop(_ status: HTTPResponseStatus, _ reason: String) {
        lines += ["\(words["failed"]): \(reason)", words["restUnread"]]
        if self.status == .ok { self.status = status }
    }
}
