internal import NIOCore
internal import NIOPosix

/// Reuses large buffers once they have no other owner: fresh memory costs a page fault for each page, which for a
/// stream is more than copying the bytes.
///
/// The connections of one event loop share one pool, which lives as long as they do. It belongs to the loop's thread.
final class BufferPool {
    fileprivate struct Shelf {
        let bytes: Int
        let count: Int
        /// Buffers that were filled once and may still be in use.
        var buffers: [ByteBuffer] = []
    }

    private var shelves: [Shelf]

    /// - Parameter sizes: sizes of buffers in bytes, ascending, and the maximum number kept of each.
    init(sizes: [(bytes: Int, count: Int)] = TransportLimits.pooledBuffers) {
        shelves = sizes.map { Shelf(bytes: $0.bytes, count: $0.count) }
    }

    /// An empty buffer without another owner. It has room for `bytes`, or the largest size if that is less.
    func take(_ bytes: Int) -> ByteBuffer {
        guard let smallest = shelves.first, bytes > smallest.bytes / 2 else {
            return ByteBufferAllocator().buffer(capacity: bytes)
        }
        let index = shelves.firstIndex { $0.bytes >= bytes } ?? shelves.endIndex - 1
        return shelves[index].take()
    }

    /// Keeps a buffer that came from `take` and has been filled. The caller may pass it on before or after.
    func keep(_ buffer: ByteBuffer) {
        guard let index = shelves.firstIndex(where: { $0.bytes == buffer.capacity }) else { return }
        shelves[index].keep(buffer)
    }

    /// The pool of this thread, which the caller keeps alive.
    static func ofThisThread() -> BufferPool {
        if let pool = current.currentValue?.pool { return pool }
        let pool = BufferPool()
        current.currentValue = WeakReference(pool: pool)
        return pool
    }

    // Unsafe only for the compiler: each thread has its own value.
    private nonisolated(unsafe) static let current = ThreadSpecificVariable<WeakReference>()

    private final class WeakReference {
        weak var pool: BufferPool?

        init(pool: BufferPool) { self.pool = pool }
    }
}

extension BufferPool.Shelf {
    fileprivate mutating func take() -> ByteBuffer {
        // The buffer that was filled last is the likeliest to be in the cache.
        for index in buffers.indices.reversed() where buffers[index].modifyIfUniquelyOwned({ $0.clear() }) != nil {
            // Moved out, so that filling it does not copy it.
            return buffers.remove(at: index)
        }
        return ByteBufferAllocator().buffer(capacity: bytes)
    }

    fileprivate mutating func keep(_ buffer: ByteBuffer) {
        if buffers.count < count { buffers.append(buffer) }
    }
}
