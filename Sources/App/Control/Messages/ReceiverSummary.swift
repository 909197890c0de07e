import UniformTypes

/// A receiver that can be reached.
package struct ReceiverSummary: Codable, Sendable, Equatable {
    /// The whole id.
    package var id: String
    package var name: String
    package var port: Int
    package var inbox: String

    package init(id: String, name: String, port: Int, inbox: String) {
        self.id = id
        self.name = name
        self.port = port
        self.inbox = inbox
    }
}
