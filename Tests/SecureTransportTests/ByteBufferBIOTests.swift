import COpenSSL
import NIOCore
import Testing

@testable import SecureTransport

@Suite struct ByteBufferBIOTests {
    @Test(
        "what OpenSSL writes lies behind what was there, in its order, also where it is more than it was thought to be")
    func collecting() throws {
        let bio = try #require(ByteBufferBIO())
        bio.outbound.writeString("before")
        let pieces = [noise(30), noise(5_000), noise(7)]
        bio.collecting(32) {
            for piece in pieces {
                var written = 0
                #expect(BIO_write_ex(bio.handle, piece, piece.count, &written) == 1)
                #expect(written == piece.count)
            }
        }
        #expect(Array(buffer: bio.outbound) == Array("before".utf8) + pieces.joined())
        #expect(BIO_write(bio.handle, "after", 5) == 5)
        #expect(bio.outbound.readableBytes == 6 + 30 + 5_000 + 7 + 5)
    }
}
