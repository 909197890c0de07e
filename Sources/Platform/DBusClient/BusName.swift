/// Names of the D-Bus Specification, section "Message Bus Specification".
package enum BusName {
    /// The bus itself, and its interface.
    package static let bus = "org.freedesktop.DBus"
    /// The object of the bus.
    package static let busPath = "/org/freedesktop/DBus"
}
