/// Bytes that are wiped when the last reference to them is released.
///
/// Arrays leave copies when they grow and are copied; this is one allocation, written once. Up to 128 KiB it is kept out
/// of swap and core dumps as far as the system allows it (`SecretMemory`). The copies that libcrypto makes while it
/// calculates are wiped by libcrypto, but lie on the heap.
///
/// Sendable: nothing changes after `init`.
package final class SecretBytes: @unchecked Sendable {
    private let room: SecretMemory.Room
    private let storage: UnsafeMutableRawBufferPointer

    /// - Parameter fill: writes the bytes into `count` zeroed bytes.
    package init<Failure>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        room = SecretMemory.allocate(count)
        storage = UnsafeMutableRawBufferPointer(start: room.start, count: count)
        try fill(storage)
    }

    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// `count` bytes from the kernel's generator.
    package static func random(_ count: Int) -> SecretBytes {
        SecretBytes(count: count) { KeyDerivation.fillRandomly($0) }
    }

    deinit { SecretMemory.release(room, storage.count) }

    /// Number of bytes.
    package var count: Int { storage.count }

    /// Whether the bytes are outside the heap, in pages that the system was asked not to swap or dump.
    var isProtected: Bool { room.isProtected }

    /// The bytes while `body` runs. There is no other access: a pointer that outlives the last reference would point to
    /// freed memory.
    package func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) in try body(UnsafeRawBufferPointer(storage)) }
    }

    /// A copy that is not wiped: only for bytes that are not secret.
    package var revealed: [UInt8] { withBytes { Array($0) } }

    /// A part of the bytes.
    package subscript(range: Range<Int>) -> SecretBytes { withBytes { SecretBytes($0[range]) } }
}
