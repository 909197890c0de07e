import Contacts
package import Endpoints
import Settings
package import Sharing
import Synchronization

extension Dialect {
    /// Files by word of mouth, among the machines of one process.
    package static let toy = Dialect(
        name: "toy", title: "Toy", proof: .never, givesReceipts: false, resumes: false)
}

/// The air in which the machines of one process hear each other, by name.
package final class ToyAir: Sendable {
    private let hosts = Mutex<[String: ReceivingHost]>([:])

    package init() {}

    func open(_ host: ReceivingHost) { hosts.withLock { $0[host.name] = host } }

    func close(_ name: String) { hosts.withLock { _ = $0.removeValue(forKey: name) } }

    func host(_ name: String) -> ReceivingHost? { hosts.withLock { $0[name] } }

    var names: [String] { hosts.withLock { $0.keys.sorted() } }
}

/// A whole dialect: everything that a receiver and a sender need for it.
package struct ToyEndpoint: Endpoint {
    package let dialect = Dialect.toy
    private let air: ToyAir
    private let name: String

    package init(_ air: ToyAir, _ parts: EndpointParts) {
        (self.air, name) = (air, parts.settings.current.name)
    }

    package func listen(_ host: ReceivingHost) async throws {
        while !Task.isCancelled {
            host.report(EndpointStatus("off: not visible to everyone"))
            await host.visibility.wait { $0 == .everyone }
            guard !Task.isCancelled else { return }
            air.open(host)
            host.report(EndpointStatus(port: 1, "taking off", isReady: true))
            host.report(EndpointStatus(port: 1, "in the air", isReady: true))
            await host.visibility.wait { $0 != .everyone }
            air.close(host.name)
        }
    }

    package func search(_ found: AsyncStream<PeerEvent>.Continuation, isWatched: Bool) async {
        for peer in air.names where peer != name {
            let target = PeerTarget(.toy, addresses: [], announcement: .init(instance: peer, facts: [:]))
            found.yield(.found(FoundPeer(id: id(of: peer), card: Card(name: peer, device: "toy"), target: target)))
        }
    }

    private func id(of name: String) -> PeerID { .unproven(.toy, seed: Array(name.utf8)) }

    package func send(_ request: SendRequest) async throws(SendError) -> SendReport {
        guard let peer = request.target.announcement?.instance, let host = air.host(peer) else {
            throw SendError(.notFound, "\(request.peerText) is not in the air")
        }
        let sender = PeerID.unproven(.toy)
        request.observe(.connected(id(of: peer), name: peer))
        request.observe(.offered(request.offer))
        let verdict = await host.reception.judge(request.offer, from: Visitor(sender))
        request.observe(.answered(verdict))
        var items = SendResult(verdict).items
        if verdict.acceptsAnything {
            do throws(TransferError) {
                let receipt = try move(request, verdict, to: host.reception, as: sender)
                for number in items.indices where verdict.items[number].answer == .accepted {
                    items[number] = .acknowledged(receipt.items[number], sent: nil)
                }
            } catch {
                throw SendError(.refused(error.code), error.message)
            }
        }
        return SendReport(peer: id(of: peer), name: peer, offer: request.offer, items: items)
    }

    private func move(
        _ request: SendRequest, _ verdict: Verdict, to reception: Reception, as sender: PeerID
    ) throws(TransferError) -> Receipt {
        let transfer = try reception.begin(request.offer.transfer, from: sender, binding: .announced)
        do throws(TransferError) {
            for (number, source) in request.sources.enumerated() where verdict.items[number].answer == .accepted {
                try transfer.beginItem(number)
                try move(source, into: transfer)
                try transfer.endItem(digest: nil)
            }
            return reception.end(transfer, try transfer.finish(), fault: nil)
        } catch {
            _ = reception.end(transfer, transfer.fail(error), fault: error)
            throw error
        }
    }

    /// Single files only.
    private func move(_ source: any ItemSource, into transfer: IncomingTransfer) throws(TransferError) {
        do {
            let reading = try source.open()
            while let step = try reading.next() {
                guard case .file(let entry) = step else { continue }
                try transfer.beginFile(entry)
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                while case let count = try buffer.withUnsafeMutableBytes({ try reading.read(into: $0) }), count > 0 {
                    try buffer.withUnsafeBytes { try transfer.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                }
                try transfer.endFile(digest: nil)
            }
        } catch let fault as TransferError {
            throw fault
        } catch {
            throw TransferError(.interrupted, "\(error)")
        }
    }
}
