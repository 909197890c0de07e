/// Where a ``MulticastGroup`` is joined.
package struct MulticastState: Sendable, Hashable {
    /// Names of the interfaces on which datagrams come and go, in order; empty if there are none.
    package var interfaces: [String]
    /// Why an interface is missing, or all are, in one line; nil if none is.
    package var obstacle: String?

    package init(interfaces: [String] = [], obstacle: String? = nil) {
        (self.interfaces, self.obstacle) = (interfaces, obstacle)
    }
}
