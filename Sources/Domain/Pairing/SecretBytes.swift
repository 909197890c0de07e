internal import COpenSSL

/// Bytes that are wiped when the last reference to them goes.
///
/// Arrays leave copies behind as they grow and are copied; this is one allocation, written once.
///
/// Sendable: nothing is changed after `init`.
final class SecretBytes: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// - Parameter fill: writes the bytes into `count` zeroed ones.
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

    /// How many bytes there are.
    var count: Int { storage.count }

    /// The bytes, for as long as `body` runs. There is no other way to them: a pointer that outlived the last
    /// reference would point at memory that is freed.
    func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) in try body(UnsafeRawBufferPointer(storage)) }
    }

    /// A copy that nobody wipes: for what is no secret.
    var revealed: [UInt8] { withBytes { Array($0) } }

    /// A part of the bytes.
    subscript(range: Range<Int>) -> SecretBytes { withBytes { SecretBytes($0[range]) } }
}
