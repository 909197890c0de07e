/// The origin and the kind of a signal.
package struct BusSignal: Hashable, Sendable {
    /// The object that sent it.
    package var path: String
    package var interface: String
    package var member: String

    /// - Returns: nil if the message lacks one of them.
    init?(_ message: BusMessage) {
        guard let path = message.path, let interface = message.interface, let member = message.member else {
            return nil
        }
        self.path = path
        self.interface = interface
        self.member = member
    }
}
