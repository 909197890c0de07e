/// Bounds on the messages that a connection accepts.
package struct BusLimits: Hashable, Sendable {
    /// Maximum bytes of one message. Twice as many may wait to be handled.
    package var messageBytes: Int
    /// Maximum descriptors in one message.
    package var descriptors: Int

    package init(messageBytes: Int, descriptors: Int = 0) {
        self.messageBytes = messageBytes
        self.descriptors = descriptors
    }
}
