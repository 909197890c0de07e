import NIOCore
import Testing

@testable import SecureTransport

@Suite struct FullReadersTests {
    private let start = NIODeadline.now()

    @Test("of many connections the first two read with large buffers, and their places stay empty until few are left")
    func crowd() {
        let readers = FullReaders()
        #expect(readers.admits(1, at: start))
        #expect(readers.admits(2, at: start))
        #expect(!readers.admits(3, at: start))
        #expect(!readers.admits(4, at: start))
        #expect(readers.admits(1, at: start))
        readers.leave(1)
        #expect(!readers.admits(3, at: start))
        #expect(readers.admits(2, at: start))
        readers.leave(2)
        #expect(readers.admits(3, at: start))
        #expect(readers.admits(4, at: start))
    }

    @Test("a connection without large reads for ten seconds does not count, and queues again")
    func lapsed() {
        let readers = FullReaders()
        #expect(readers.admits(1, at: start))
        #expect(readers.admits(2, at: start))
        #expect(readers.admits(2, at: start + .seconds(9)))
        #expect(!readers.admits(3, at: start + .seconds(10)))
        #expect(readers.admits(3, at: start + .seconds(10) + .nanoseconds(1)))
        #expect(!readers.admits(1, at: start + .seconds(11)))
        #expect(readers.admits(2, at: start + .seconds(11)))
    }

    @Test("buffers grow with the data, beyond the small ones only for connections with a place")
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
        #expect(sizes(1).max() == 512 * 1024)
        #expect(sizes(2).max() == 512 * 1024)
        #expect(sizes(3).max() == 16 * 1024)
    }

    @Test("a connection that has lost its place reads into small buffers again, not into its old large ones")
    func lost() {
        let readers = FullReaders()
        var allocator = SeatedBufferAllocator(readers, 1)
        while allocator.nextBufferSize() != 512 * 1024 { _ = allocator.record(actualReadBytes: 512 * 1024) }
        readers.leave(1)
        #expect(readers.admits(2) && readers.admits(3))
        #expect(allocator.nextBufferSize() == nil)
        #expect(allocator.buffer(allocator: ByteBufferAllocator()).capacity == 16 * 1024)
    }
}
