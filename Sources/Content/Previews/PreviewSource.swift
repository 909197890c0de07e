import Glibc

/// An open file of which bounded pieces are read. The position of the descriptor does not move.
package struct PreviewSource: Sendable {
    /// Open for reading; the caller's.
    let descriptor: Int32
    /// In bytes, as the disk reports it. Fewer may be readable.
    package let size: UInt64

    /// - Parameter descriptor: of a regular file, open for reading; stays the caller's.
    package init(descriptor: Int32, size: UInt64) {
        (self.descriptor, self.size) = (descriptor, size)
    }

    /// Up to `count` bytes from an offset on; fewer at the end, and none after a fault.
    func bytes(at offset: UInt64, count: Int) -> [UInt8] {
        guard offset < size, count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(min(UInt64(count), size - offset))) { buffer, filled in
            filled = read(at: offset, into: UnsafeMutableRawBufferPointer(buffer)) ?? 0
        }
    }

    /// - Returns: the number of bytes, 0 at the end; nil after a fault.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let base = buffer.baseAddress, let start = off_t(exactly: offset) else { return 0 }
        var filled = 0
        while filled < buffer.count {
            let (place, overflow) = start.addingReportingOverflow(off_t(filled))
            if overflow { return filled }
            let count = pread(descriptor, base + filled, buffer.count - filled, place)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return filled > 0 ? filled : nil }
            if count == 0 { return filled }
            filled += count
        }
        return filled
    }
}
