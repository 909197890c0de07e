/// The bytes of an item, which another part of this process hands over while they are read.
package protocol HandedBytes: Sendable {
    /// Does not wait for the reader.
    /// - Returns: the bytes that the reader has room for; 0 for none now, nil if it reads no more.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int?
    /// No more bytes come.
    /// - Parameter isWhole: whether these were all.
    func finish(isWhole: Bool)
}
