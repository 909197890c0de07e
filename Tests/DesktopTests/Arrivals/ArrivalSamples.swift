import ContentCheck
import Digests
import Sharing
import TestSupport

@testable import Desktop

extension Arrival {
    /// A stored item of a transfer.
    static func sample(
        _ number: Int64 = 1, _ name: String = "report.pdf", item: Int = 0, of transfer: TransferID = TransferID(),
        from peer: UInt8 = 1, senderName: String = "laptop", content: ContentVerdict? = nil,
        annotation: [String: String] = [:]
    ) -> Arrival {
        Arrival(
            number: ArrivalNumber(number),
            facts: ArrivalFacts(
                transfer: transfer, itemNumber: item, itemsInOffer: item + 1,
                item: OfferedItem(kind: .file, name: safe(name), type: uniform("public.data"), size: 5), size: 5,
                digest: .of(.xxh3_128, Array("hello".utf8)), peer: .sample(peer), senderName: senderName,
                annotation: annotation, content: content),
            stored: StoredItem(name: safe(name), path: "/inbox/\(name)"))
    }
}

extension ArrivalGroup {
    private static let transfer = TransferID()

    static func sample(_ names: String..., from peer: UInt8 = 1) -> ArrivalGroup {
        let items = names.enumerated().map {
            Arrival.sample(Int64($0.offset + 1), $0.element, of: transfer, from: peer)
        }
        return ArrivalGroup(items, count: items.count)
    }
}

extension Reception.Event {
    /// The end of the transfer of an arrival, with the handlers' answers to its items so far.
    static func ended(_ transfer: TransferID, _ answers: HandlerAnswer.State..., from peer: UInt8 = 1) -> Self {
        let items = answers.map { answer in
            ItemReceipt(
                .stored(name: "a", size: 5, digest: .of(.xxh3_128, Array("hello".utf8))), handler: HandlerAnswer(answer)
            )
        }
        return .ended(transfer, from: .sample(peer), Receipt(transfer: transfer, items: items), nil)
    }
}
