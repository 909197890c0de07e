/// The most bytes, by `Footprint`, that a transfer may bring.
package struct ContentsBound: Sendable {
    package private(set) var bytes: UInt64
    private var recount: (@Sendable () -> UInt64)?

    /// - Parameter recount: the bytes by a closer look, which may block on the disk; called once, if they are not enough.
    package init(bytes: UInt64, recount: (@Sendable () -> UInt64)? = nil) {
        (self.bytes, self.recount) = (bytes, recount)
    }

    /// Whether so many bytes may come.
    mutating func includes(_ coming: UInt64) -> Bool {
        if coming <= bytes { return true }
        if let recount {
            (bytes, self.recount) = (recount(), nil)
        }
        return coming <= bytes
    }
}
