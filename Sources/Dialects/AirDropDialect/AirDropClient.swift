import Digests
package import HTTPChannel
import NIOCore
import NIOHTTP1
package import Sharing

/// The receiver does not take the form of the body, whatever its TXT record says.
package struct BodyFormRefusal: Error {
    let status: Int

    package var fault: TransferFault {
        TransferFault(.storage, "the other side takes none of the forms that were tried: HTTP status \(status)")
    }
}

/// The sender's side of AirDrop, on one connection. Used by one task, on an executor whose threads may block.
///
/// Discovery wants a connection of its own; the question and the contents go over another, both.
package struct AirDropClient {
    private let http: HTTPClient
    private let card: AirDropCard
    private let instance: String

    /// - Parameters:
    ///   - card: what this sender calls itself.
    ///   - instance: its id, as `AirDropDialect.makeInstance` makes it.
    package init(_ http: HTTPClient, card: AirDropCard, instance: String) {
        self.http = http
        self.card = card
        self.instance = instance
    }

    /// What the receiver calls itself.
    /// - Returns: nil where it does not show itself.
    /// - Throws: `HTTPFault` when the connection broke off.
    package func discover(patience: Duration) async throws -> AirDropCard? {
        let answer = try await post(
            .discover, AirDropMessage.discover.encoded(), connection: "close", patience: patience)
        guard answer.status == .ok, let message = BinaryPropertyList.read(answer.body)?.dictionary,
            let name = message["ReceiverComputerName"]?.string
        else { return nil }
        let model = message["ReceiverModelName"]?.string ?? ""
        return AirDropCard(
            name: PeerName.fit(name), model: PeerName.fit(model, fallback: "unknown"),
            isWaft: message[AirDropMessage.waftKey]?.truth == true)
    }

    /// Asks, and waits for the answer; closing the connection withdraws the question.
    ///
    /// Where there are links alone, an accepted question is the whole sending.
    /// - Parameter patience: maximum wait for the other side's user, including interim answers.
    /// - Throws: `HTTPFault.silence` when nobody answers; `TransferFault` for what does not fit into a question, before
    ///   it is asked.
    package func ask(_ plan: SendingPlan, patience: Duration) async throws -> Verdict {
        let question = try AirDropMessage.question(plan, from: card, instance: instance).encoded()
        guard question.readableBytes <= AirDropLimits.askBytes else {
            throw SendingPlan.tooMany(plan.offer.items.count)
        }
        let answer: HTTPAnswer
        do {
            answer = try await post(.ask, question, patience: patience)
        } catch let fault as HTTPFault where fault == .closed {
            // Some receivers say no by closing.
            return Self.declined(plan, "the other side closed the connection")
        }
        guard answer.status == .ok else { return Self.declined(plan, "the other side said no") }
        return Verdict(all: .accepted, count: plan.offer.items.count)
    }

    /// Sends the contents after an accepted question, and waits until the receiver says that it has them: AirDrop knows no
    /// receipt that says more.
    ///
    /// - Parameters:
    ///   - flags: the receiver's.
    ///   - patience: how long the other side may be silent.
    ///   - stall: how long it may make no progress while it sends interim answers; `Limits.work` is added.
    ///   - cancellation: when it is requested the connection is broken off, which is AirDrop's word for it.
    ///   - progressed: called with the bytes of contents handed to the connection so far.
    /// - Returns: also where a source could not be read: then nothing of it all has arrived.
    /// - Throws: `BodyFormRefusal` when the receiver does not take the form of the body; `HTTPFault` when the connection broke off, `TransferFault` for what could not be packed,
    ///   `CancellationError`.
    package func upload(
        _ plan: SendingPlan,
        to flags: AirDropFlags,
        patience: Duration,
        stall: Duration = Limits.stall,
        cancellation: Cancellation,
        progressed: (UInt64) -> Void
    ) async throws -> SendOutcome {
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
                AirDropDialect.Resource.upload.rawValue, headers: headers, patience: patience,
                maximum: stall + Limits.work(on: plan.totalBytes)
            ) {
                if cancellation.isRequested { throw CancellationError() }
                progressed(packer.contentBytes)
                return try packer.nextPiece()
            }
        } catch let fault as SourceFault {
            // An archive has no word for a file that cannot be read on: the whole is broken off.
            let rest = TransferFault(.interrupted, "the transfer was interrupted: \(fault.message)")
            let unread = packer.currentItem
            return SendOutcome(
                items: plan.sources.indices.map { $0 == unread ? .unread(fault) : .lost(rest) })
        }
        progressed(packer.contentBytes)
        guard answer.status != .notAcceptable, answer.status != .unsupportedMediaType else {
            throw BodyFormRefusal(status: Int(answer.status.code))
        }
        guard answer.status == .ok else {
            let fault = Self.fault(of: answer.status)
            return SendOutcome(items: plan.offer.items.map { _ in .lost(fault) })
        }
        return plan.outcome(packer.read)
    }

    private static func fault(of status: HTTPResponseStatus) -> TransferFault {
        switch status {
        case .insufficientStorage: TransferFault(.noRoom, "the other side has no room for it")
        case .unauthorized, .forbidden: TransferFault(.notAccepted, "the other side said no")
        default: TransferFault(.storage, "the other side answered with HTTP status \(status.code)")
        }
    }

    private var headers: HTTPHeaders {
        // A host is asked for by HTTP/1.1, and names nothing here.
        ["host": "airdrop", "user-agent": AirDropDialect.userAgent]
    }

    private func post(
        _ resource: AirDropDialect.Resource, _ message: ByteBuffer, connection: String = "keep-alive",
        patience: Duration
    ) async throws -> HTTPAnswer {
        var headers = self.headers
        headers.add(name: "content-type", value: AirDropDialect.propertyListType)
        headers.add(name: "connection", value: connection)
        // With its length said: not everybody reads a question in chunks.
        return try await http.exchange(
            .POST, resource.rawValue, headers: headers, body: message, patience: patience)
    }

    private static func declined(_ plan: SendingPlan, _ reason: String) -> Verdict {
        Verdict(all: ItemVerdict(.declined, reason: reason), count: plan.offer.items.count)
    }
}

extension SendingPlan {
    /// What the transfer is called towards the receiver: a UUID in capitals, as Apple writes it, of the transfer's digits. It
    /// has the version and the variant of a random one (RFC 9562, section 5.4).
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

    /// That the receiver has said that it has everything: this side's own digests, for it says none.
    fileprivate func outcome(_ read: [Int: ContentsPacker.ReadItem]) -> SendOutcome {
        var names = Dictionary(uniqueKeysWithValues: files.map { ($0.item, $0.name.text) })
        for link in links { names[link.item] = sources[link.item].offered.name.text }
        let items = sources.indices.map { item -> SendOutcome.Item in
            let name = names[item] ?? sources[item].offered.name.text
            // A link that went in the question was not read.
            let unread = ContentsPacker.ReadItem(bytes: sources[item].offered.size ?? 0, digest: .of(.xxh3_128, []))
            let known = read[item] ?? unread
            return .acknowledged(
                ItemReceipt(.stored(name: name, size: known.bytes, digest: known.digest)), sent: nil)
        }
        return SendOutcome(items: items)
    }
}
