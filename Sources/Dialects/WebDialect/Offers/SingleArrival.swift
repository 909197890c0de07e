import Digests
import Foundation
import HTTPChannel
import NIOCore
import Sharing

/// An offer whose question and contents come in one request. Used by one task.
final class SingleArrival {
    private(set) var items: [OfferedItem] = []
    /// The contents of texts and links, by their items.
    private(set) var texts: [Int: [UInt8]] = [:]
    var senderName = WebDialect.guestName

    private let host: WebServer.Host
    private let guest: Guest
    private var offer: Offer?
    private var transfer: IncomingTransfer?

    init(_ host: WebServer.Host, _ guest: Guest) throws { (self.host, self.guest) = (host, guest) }

    /// - Parameters:
    ///   - type: the MIME type that the browser names.
    ///   - size: nil if it is not known.
    ///   - hint: bytes that are expected.
    func add(file name: String, type: String?, size: UInt64?, hint: UInt64? = nil) throws(TransferError) {
        guard !name.isEmpty, (size ?? 0) <= Limits.itemBytes else {
            throw GuestItems.malformed("a file without a name")
        }
        let registry = host.registry()
        let safe = SafeName(fitting: name.precomposedStringWithCanonicalMapping)
        let uniform = AnnouncedType.of(
            said: GuestItems.said(type, registry), name: safe.text, kind: .file, registry)
        var item = OfferedItem(kind: .file, name: safe, type: uniform, size: size)
        item.sizeHint = size == nil ? hint : nil
        items.append(item)
    }

    func add(text: String) throws(TransferError) {
        let (item, contents) = try GuestItems.message(text)
        texts[items.count] = contents
        items.append(item)
    }

    /// Waits for the host. The guest takes the question back when it closes the connection.
    func ask(_ visit: Visit) async -> [ItemVerdict] {
        let offer = Offer(items: items, senderName: senderName, digests: [.xxh3_128], takesPart: true, dialect: .web)
        self.offer = offer
        let (reception, visitor) = (host.reception, guest.visitor(from: visit))
        return await visit.exchange.whileClientWaits { [cause = visit.exchange.endCause] in
            await reception.judge(offer, from: visitor, withdrawn: cause)
        }.items
    }

    func begin(interrupt: @escaping @Sendable () -> Void) throws(TransferError) {
        guard let offer else { throw TransferError(.notAccepted, "nothing was asked") }
        transfer = try host.reception.begin(offer.transfer, from: guest.peer, binding: .scattered, interrupt: interrupt)
    }

    /// Takes the contents of a file.
    /// - Parameter next: the next bytes, nil at their end.
    func take(_ number: Int, next: () async throws -> ByteBuffer?) async throws {
        guard let transfer else { return }
        try transfer.beginItem(number)
        try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: items[number].size))
        while let bytes = try await next() {
            try bytes.withUnsafeReadableBytes { (raw) throws(TransferError) in try transfer.write(raw) }
        }
        try transfer.endFile(digest: nil)
        try transfer.endItem(digest: nil)
    }

    func takeText(_ number: Int) throws(TransferError) {
        guard let transfer, let text = texts[number] else { return }
        try transfer.beginItem(number)
        try transfer.beginFile(
            FileEntry(path: nil, executable: false, modified: nil, size: UInt64(text.count)))
        try ByteBuffer(bytes: text).withUnsafeReadableBytes { (raw) throws(TransferError) in try transfer.write(raw) }
        try transfer.endFile(digest: nil)
        try transfer.endItem(digest: nil)
    }

    func finish() throws(TransferError) -> Receipt {
        guard let ending = transfer else { throw TransferError(.notAccepted, "nothing was asked") }
        let receipt = try ending.finish()
        transfer = nil
        return host.reception.end(ending, receipt, fault: nil)
    }

    /// Ends a transfer that has begun. Whole items stay.
    func fail(_ error: any Error) {
        guard let ending = transfer else { return }
        transfer = nil
        let fault = error as? TransferError ?? TransferError(.interrupted, "the connection broke off")
        host.reception.end(ending, ending.fail(fault), fault: fault)
    }
}
