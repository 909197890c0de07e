package typealias KeyringSecret = [UInt8]

extension [UInt8] {
    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value { withUnsafeBytes(body) }
}
