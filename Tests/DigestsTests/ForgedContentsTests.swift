import Digests
import Foundation
import Testing

@Suite("Contents that were made to have a checksum")
struct ForgedContentsTests {
    private func contents(_ name: String, file: String = #filePath) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().appending(path: "Vectors")
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }

    @Test("two scripts have one XXH3-128, also with the same end behind them, and the lasting digest tells them apart")
    func pair() throws {
        let (genuine, forged) = (try contents("genuine.sh"), try contents("forged.sh"))
        #expect(genuine.count == forged.count && genuine != forged)
        for end in [[], Array(repeating: 7 as UInt8, count: 100_000)] {
            #expect(Digest.of(.xxh3_128, genuine + end) == Digest.of(.xxh3_128, forged + end))
            #expect(Digest.of(.lasting, genuine + end) != Digest.of(.lasting, forged + end))
        }
    }
}
