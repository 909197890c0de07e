import Digests
package import HTTPChannel
import NIOCore
import NIOHTTP1
import PropertyLists
package import Sharing

/// The receiver rejects the form of the body, although its TXT record may announce it.
package struct BodyFormError: Error {
    let status: Int

    package var fault: TransferError {
        TransferError(.storage, "the other side takes none of the forms that were tried: HTTP status \(status)")
    }
}

/// The sender's side of AirDrop, on one connection. One task uses it, on an executor whose threads may block.
///
/// Discovery needs its own connection. The question and the contents share another one.
package struct AirDropClient {
    private let http: HTTPClient
    private let card: AirDropCard
    private let instance: String

    /// - Parameters:
    ///   - card: the name and model that this sender shows.
    ///   - instance: the sender's id, made by `AirDropDialect.makeInstance`.
    package init(_ http: HTTPClient, card: AirDropCard, instance: String) {
        self.http = http
        self.card = card
        self.instance = instance
    }

    /// Asks the receiver for its name and model.
    /// - Returns: nil if the receiver does not show itself.
    /// - Throws: `HTTPError` if the connection breaks.
    package func discover(timeout: Duration) async throws -> AirDropCard? {
        let answer = try await post(
            .discover, AirDropMessage.discover(from: card).encoded(), connection: "close", timeout: timeout)
        guard answer.status == .ok, let message = PropertyList(message: answer.body)?.dictionary,
            let name = message["ReceiverComputerName"]?.string
        else { return nil }
        let model = message["ReceiverModelName"]?.string ?? ""
        return AirDropCard(
            name: PeerName.fit(name), model: PeerName.fit(model, fallback: "unknown"),
            isWaft: message[AirDropMessage.waftKey]?.truth == true)
    }

    /// Sends the question and waits for the answer. Closing the connection withdraws the question.
    ///
    /// If all items are links, an accepted question completes the sending.
    /// - Parameters:
    ///   - icon: a picture of the items; nil for none.
    ///   - timeout: maximum wait for the other side's user, including interim answers.
    /// - Throws: `HTTPError.silence` if the receiver does not answer; `TransferError`, before the question is sent, if
    ///   the items do not fit into one.
    package func ask(_ plan: SendingPlan, icon: ItemPreview? = nil, timeout: Duration) async throws -> Verdict {
        var question = try AirDropMessage.question(plan, icon: icon, from: card, instance: instance).encoded()
        if question.readableBytes > AirDropLimits.askBytes, icon != nil {
            question = try AirDropMessage.question(plan, from: card, instance: instance).encoded()
        }
        guard question.readableBytes <= AirDropLimits.askBytes else {
            throw SendingPlan.tooMany(plan.offer.items.count)
        }
        let answer: HTTPAnswer
        do {
            answer = try await post(.ask, question, timeout: timeout)
        } catch let fault as HTTPError where fault == .closed {
            // Some receivers decline by closing the connection.
            return Self.declined(plan, "the other side closed the connection", .fault)
        }
        if answer.status == .serviceUnavailable {
            let verdict = ItemVerdict(.busy, reason: "the other side takes nothing now")
            return Verdict(all: verdict, count: plan.offer.items.count)
        }
        guard answer.status == .ok else { return Self.declined(plan, EndCause.user.words) }
        return Verdict(all: .accepted, count: plan.offer.items.count)
    }

    /// Sends the contents after an accepted question, and waits until the receiver confirms them. AirDrop has no more
    /// detailed receipt.
    ///
    /// - Parameters:
    ///   - flags: the receiver's.
    ///   - timeout: how long the other side may be silent.
    ///   - stall: how long it may make no progress while it sends interim answers; `Limits.work` is added.
    ///   - cancellation: a request closes the connection, because AirDrop has no other way to cancel.
    ///   - progressed: called with the bytes of contents handed to the connection so far.
    /// - Returns: an outcome also if a source could not be read: then no item has arrived.
    /// - Throws: `BodyFormError` if the receiver rejects the form of the body; `HTTPError` if the connection breaks;
    ///   `TransferError` if the contents cannot be packed; `CancellationError`.
    package func upload(
        _ plan: SendingPlan,
        to flags: AirDropFlags,
        timeout: Duration,
        stall: Duration = Limits.stall,
        cancellation: Cancellation,
        progressed: (UInt64) -> Void
    ) async throws -> SendResult {
        guard !plan.files.isEmpty else { return plan.outcome([:]) }
        let form: BodyDeflater.Form = flags.contains(.dvzip) ? .dvzip : .gzip
        let packer = try ContentsPacker(plan, form)
        var headers = self.headers
        headers.add(
            name: "content-type",
            value: form == .dvzip ? AirDropDialect.ArchiveType.dvzip : AirDropDialect.ArchiveType.cpio)
        headers.add(name: "totalbytes", value: String(plan.totalBytes))
        headers.add(name: "transferid", value: plan.identifier)
        let answer: HTTPAnswer
        do {
            answer = try await http.upload(
                AirDropDialect.Resource.upload.rawValue, headers: headers, timeout: timeout,
                maximum: stall + Limits.work(on: plan.totalBytes)
            ) {
                if cancellation.isRequested { throw CancellationError() }
                progressed(packer.contentBytes)
                return try packer.nextPiece()
            }
        } catch let fault as SourceError {
            // An archive cannot mark a file as unreadable: the whole transfer stops.
            let rest = TransferError(.interrupted, "the transfer was interrupted: \(fault.message)")
            let unread = packer.currentItem
            return SendResult(
                items: plan.sources.indices.map { $0 == unread ? .unread(fault) : .lost(rest) })
        }
        progressed(packer.contentBytes)
        guard answer.status != .notAcceptable, answer.status != .unsupportedMediaType else {
            throw BodyFormError(status: Int(answer.status.code))
        }
        guard answer.status == .ok else {
            let fault = Self.fault(of: answer.status)
            return SendResult(items: plan.offer.items.map { _ in .lost(fault) })
        }
        return plan.outcome(packer.read)
    }

    private static func fault(of status: HTTPResponseStatus) -> TransferError {
        switch status {
        case .insufficientStorage: TransferError(.noRoom, "the other side has no room for it")
        case .unauthorized, .forbidden: TransferError(.notAccepted, "the other side said no")
        default: TransferError(.storage, "the other side answered with HTTP status \(status.code)")
        }
    }

    private var headers: HTTPHeaders {
        // HTTP/1.1 requires a host; this one has no meaning.
        ["host": "airdrop", "user-agent": AirDropDialect.userAgent]
    }

    private func post(
        _ resource: AirDropDialect.Resource, _ message: ByteBuffer, connection: String = "keep-alive",
        timeout: Duration
    ) async throws -> HTTPAnswer {
        var headers = self.headers
        headers.add(name: "content-type", value: AirDropDialect.propertyListType)
        headers.add(name: "connection", value: connection)
        // The body has a stated length, because some receivers cannot read a question in chunks.
        return try await http.exchange(
            .POST, resource.rawValue, headers: headers, body: message, timeout: timeout)
    }

    private static func declined(_ plan: SendingPlan, _ reason: String, _ cause: EndCause = .user) -> Verdict {
        Verdict(all: ItemVerdict(.declined, reason: reason, cause: cause), count: plan.offer.items.count)
    }
}

extension SendingPlan {
    /// The id of the transfer for the receiver: a UUID in capitals, as Apple writes it, made of the transfer's digits.
    /// It has the version and the variant of a random UUID (RFC 9562, section 5.4).
    var identifier: String {
        var digits = Array(offer.transfer.text.uppercased())
        digits[12] = "4"
        digits[16] = Array("89AB")[(digits[16].hexDigitValue ?? 0) & 3]
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(digits[$0]) }.joined(separator: "-")
    }

    /// Bytes of all files.
    var totalBytes: UInt64 {
        files.reduce(0) { sum, file in
            let (total, overflow) = sum.addingReportingOverflow(file.size ?? 0)
            return overflow ? .max : total
        }
    }

    /// The outcome after the receiver has confirmed everything, with this side's digests: AirDrop returns none.
    fileprivate func outcome(_ read: [Int: ContentsPacker.ReadItem]) -> SendResult {
        var names = Dictionary(uniqueKeysWithValues: files.map { ($0.item, $0.name.text) })
        for link in links { names[link.item] = sources[link.item].offered.name.text }
        let items = sources.indices.map { item -> SendResult.Item in
            let name = names[item] ?? sources[item].offered.name.text
            // A link that was sent in the question has not been read.
            let unread = ContentsPacker.ReadItem(bytes: sources[item].offered.size ?? 0, digest: .of(.xxh3_128, []))
            let known = read[item] ?? unread
            return .acknowledged(
                ItemReceipt(.stored(name: name, size: known.bytes, digest: known.digest)), sent: nil)
        }
        return SendResult(items: items)
    }
}
