import ContentCheck
import Digests
import Sharing
import Testing

@Suite("What receipts have in common")
struct ReceiptPoolTests {
    @Test("is held once, and no receipt says anything else for it")
    func sameReceipts() {
        var pool = ReceiptPool()
        for round in 0..<2 {
            for number in 0..<200 {
                let receipts = [
                    ItemReceipt(
                        .stored(name: "\(number)", size: 5, digest: .of(.sha256, "\(round)".utf8)),
                        handler: HandlerAnswer(.no, exitCode: number),
                        content: ContentVerdict(.mislabelled, nil, "not what \(number) says"), isAlready: round == 0),
                    ItemReceipt(
                        .stored(name: "b", size: 5, digest: .of(.xxh3_128, [])),
                        content: ContentVerdict(.lying, nil, "a lie")),
                    ItemReceipt(.failed(TransferFault(.noRoom, "no room for \(number)"))),
                    ItemReceipt(.failed(TransferFault(.storage, "no room for \(number)"))),
                    ItemReceipt(.notSent),
                ]
                for receipt in receipts { #expect(pool.sharing(receipt) == receipt) }
            }
        }
    }
}
