import NIOCore
import Testing

@testable import SecureTransport

@Suite struct FullReadersTests {
    private let start = NIODeadline.now()

    @Test("two connections read in full, and a third only when one of them has ended")
    func ended() {
        let readers = FullReaders()
        #expect(readers.admits(1, at: start))
        #expect(readers.admits(2, at: start))
        #expect(!readers.admits(3, at: start))
        #expect(readers.admits(1, at: start))
        readers.leave(1)
        #expect(readers.admits(3, at: start))
        #expect(!readers.admits(1, at: start))
    }

    @Test("who reads nothing in full for a second makes room, and gets in line again")
    func lapsed() {
        let readers = FullReaders()
        #expect(readers.admits(1, at: start))
        #expect(readers.admits(2, at: start))
        #expect(readers.admits(2, at: start + .milliseconds(900)))
        #expect(!readers.admits(3, at: start + .milliseconds(1000)))
        #expect(readers.admits(3, at: start + .milliseconds(1001)))
        #expect(!readers.admits(1, at: start + .milliseconds(1001)))
        #expect(readers.admits(2, at: start + .milliseconds(1001)))
    }

    @Test("buffers grow with what comes, beyond the small ones only for who has a seat")
    func sizes() {
        let readers = FullReaders()
        func sizes(_ reader: Admission.ID) -> [Int] {
            var allocator = SeatedBufferAllocator(readers, reader)
            return (0..<12).map { _ in
                let size = allocator.buffer(allocator: ByteBufferAllocator()).capacity
                _ = allocator.record(actualReadBytes: size)
                return size
            }
        }
        #expect(sizes(1).max() == 256 * 1024)
        #expect(sizes(2).max() == 256 * 1024)
        #expect(sizes(3).max() == 32 * 1024)
    }

    @Test("who has lost its seat reads into small buffers again, and not into the large ones that it had")
    func lost() {
        let readers = FullReaders()
        var allocator = SeatedBufferAllocator(readers, 1)
        while allocator.nextBufferSize() != 256 * 1024 { _ = allocator.record(actualReadBytes: 256 * 1024) }
        readers.leave(1)
        #expect(readers.admits(2) && readers.admits(3))
        #expect(allocator.nextBufferSize() == nil)
        #expect(allocator.buffer(allocator: ByteBufferAllocator()).capacity == 32 * 1024)
    }
}
