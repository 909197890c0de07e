private import Glibc

/// Content that is read a bounded piece at a time.
protocol ByteSource {
    /// In bytes. Fewer may be readable, if the owner's size is wrong.
    var size: UInt64 { get }

    /// Up to `count` bytes from an offset on; fewer at the end.
    func read(at offset: UInt64, count: Int) throws(ReadError) -> [UInt8]
}

/// Why content could not be read.
struct ReadError: Error, CustomStringConvertible {
    /// Of the system call.
    let number: Int32

    var description: String { String(cString: strerror(number)) }
}

/// An open file, read without moving its position. The descriptor stays its owner's.
struct DescriptorBytes: ByteSource {
    let descriptor: Int32
    let size: UInt64

    func read(at offset: UInt64, count: Int) throws(ReadError) -> [UInt8] {
        guard offset < size, count > 0 else { return [] }
        let count = Int(min(UInt64(count), size - offset))
        // Beyond what a file can have.
        guard offset <= UInt64(Int64.max) - UInt64(count) else { return [] }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let done = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset) + filled)
                if done < 0, errno == EINTR { continue }
                if done < 0 { failure = errno }
                guard done > 0 else { return }
                filled += done
            }
        }
        if failure != 0 { throw ReadError(number: failure) }
        return bytes
    }
}

/// Content that is in memory.
struct MemoryBytes: ByteSource {
    let bytes: [UInt8]

    var size: UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, count: Int) throws(ReadError) -> [UInt8] {
        guard offset < size, count > 0 else { return [] }
        return Array(bytes[Int(offset)...].prefix(count))
    }
}

/// Content that its owner reads.
struct CallerBytes: ByteSource {
    let size: UInt64
    let reading: (UInt64, Int) -> [UInt8]?

    func read(at offset: UInt64, count: Int) throws(ReadError) -> [UInt8] {
        guard offset < size, count > 0 else { return [] }
        guard let bytes = reading(offset, count) else { throw ReadError(number: EIO) }
        return bytes
    }
}
