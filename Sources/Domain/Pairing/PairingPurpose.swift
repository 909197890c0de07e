/// The purpose for which two sides verify each other. A proof for one purpose is none for another (Pairing, sections 1 and 9).
package enum PairingPurpose: Hashable, Sendable {
    /// Each stores the other's key as that of a contact.
    case contact
    /// One transfer, by a spoken code that its sender shows.
    case send(nameplate: Int)
    /// One transfer, by a spoken code that its receiver shows.
    case receive(nameplate: Int)

    /// The number that leads to the machine which shows the code; nil where a person names the machine.
    package var nameplate: Int? {
        switch self {
        case .contact: nil
        case .send(let nameplate), .receive(let nameplate): nameplate
        }
    }

    /// The beginning of every label.
    var context: String {
        switch self {
        case .contact: "Waft pairing 1"
        case .send: "Waft code 1 send"
        case .receive: "Waft code 1 receive"
        }
    }

    /// The TLS exporter label (RFC 8446, section 7.5) of the `PairingSession.exporterBytes` that bind a pairing to its
    /// connection. The context is empty. The label begins as RFC 5705, section 4, requires for private use.
    package var exporterLabel: String { "EXPERIMENTAL " + context }
}
