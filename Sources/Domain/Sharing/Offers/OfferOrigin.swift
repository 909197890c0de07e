/// The place that an offer came from, as this side saw it: for people to look at, never a ground for a decision.
package struct OfferOrigin: Hashable, Sendable {
    /// The address of the connection, without a port; nil if unknown.
    package var host: String?
    /// The SHA-256 of the certificate that proved the sender's key; nil if it proved none by a certificate.
    package var certificate: String?
    /// The program that the sender says it uses, such as `Firefox on Android`; nil if unknown. Foreign text of at most 200
    /// characters without control characters.
    package var program: String?

    /// Whether its connection came by a wireless interface of this machine.
    package var isWireless = false

    package init(host: String? = nil, certificate: String? = nil, program: String? = nil) {
        (self.host, self.certificate, self.program) = (host, certificate, program)
    }
}
