import Testing

@testable import WaftDialect

@Suite("How large the pieces of a body are")
struct PieceShareTests {
    private func share(of bodies: Int) -> PieceShare {
        let share = PieceShare()
        for _ in 0..<bodies { share.begin() }
        return share
    }

    @Test("the first pieces of a body are small, and each fills whole records with the bytes that HTTP adds")
    func first() {
        let share = share(of: 1)
        for (number, records) in [4, 8, 30, 30].enumerated() {
            let bytes = share.pieceBytes(after: number)
            // The length in hexadecimal digits, and two ends of lines.
            #expect(String(bytes, radix: 16).utf8.count + bytes + 4 == records * 16_384)
        }
        #expect(share.pieceBytes(after: .max) == share.pieceBytes(after: 2))
    }

    @Test(
        "those of many bodies together stay within 5 MiB, until each is 64 KiB", arguments: [1, 2, 10, 11, 24, 64, 80])
    func many(bodies: Int) {
        #expect(bodies * share(of: bodies).pieceBytes(after: 100) <= 5 << 20)
        #expect(share(of: 10 * bodies).pieceBytes(after: 100) >= 4 * 16_384 - 8)
    }

    @Test("they are as large as before when the other bodies have ended")
    func ended() {
        let share = share(of: 50)
        let among = share.pieceBytes(after: 100)
        for _ in 0..<49 { share.end() }
        #expect(among < share.pieceBytes(after: 100))
        #expect(share.pieceBytes(after: 100) == self.share(of: 1).pieceBytes(after: 100))
    }
}
