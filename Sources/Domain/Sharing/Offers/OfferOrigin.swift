/// The place that an offer came from, as this side saw it: for people to look at, never a ground for a decision.
package struct OfferOrigin: Hashable, Sendable {
    /// The address of the connection, without a port; nil if unknown.
    package var host: String?
    /// The SHA-256 of the certificate that proved the sender's key; nil if it proved none by a certificate.
    package var certificate: String?

    package init(host: String? = nil, certificate: String? = nil) {
        (self.host, self.certificate) = (host, certificate)
    }
}
