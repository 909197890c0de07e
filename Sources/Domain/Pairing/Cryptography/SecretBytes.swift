internal import COpenSSL

/// Bytes that are wiped when the last reference to them is released.
///
/// Arrays leave copies when they grow and are copied; this is one allocation, written once.
///
/// Sendable: nothing changes after `init`.
final class SecretBytes: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// - Parameter fill: writes the bytes into `count` zeroed bytes.
    init<Failure>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = .allocate(byteCount: count, alignment: 1)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        try fill(storage)
    }

    convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// Number of bytes.
    var count: Int { storage.count }

    /// The bytes while `body` runs. There is no other access: a pointer that outlives the last reference would point to
    /// freed memory.
    func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) in try body(UnsafeRawBufferPointer(storage)) }
    }

    /// A copy that is not wiped: only for bytes that are not secret.
    var revealed: [UInt8] { withBytes { Array($0) } }

    /// A part of the bytes.
    subscript(range: Range<Int>) -> SecretBytes { withBytes { SecretBytes($0[range]) } }
}
