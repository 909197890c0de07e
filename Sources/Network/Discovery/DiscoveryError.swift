/// Why a service could not be announced or looked for.
package struct DiscoveryError: Error, Sendable, Hashable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        fileprivate enum Base: String, Sendable, Hashable {
            case invalidDescription = "the service cannot be described in DNS-SD"
            case responderUnavailable = "no multicast DNS responder is available"
            case namesExhausted = "every name tried is taken on the link"
            case publishingFailed = "the service could not be announced"
            case browsingFailed = "services could not be looked for"
            case multicastUnavailable = "datagrams for a group cannot be sent or heard"
            case noResources = "the discovery loop could not be started"
        }

        fileprivate var base: Base

        /// A name, type, port or TXT record that DNS-SD cannot hold.
        package static let invalidDescription = Code(base: .invalidDescription)
        /// avahi-daemon does not answer on D-Bus, or the embedded responder could not open its sockets.
        package static let responderUnavailable = Code(base: .responderUnavailable)
        /// ``DiscoveryLimits/alternativeNames`` names were taken: some machine claims every name.
        package static let namesExhausted = Code(base: .namesExhausted)
        /// The responder refused to announce the service.
        package static let publishingFailed = Code(base: .publishingFailed)
        /// The responder refused to browse.
        package static let browsingFailed = Code(base: .browsingFailed)
        /// The UDP port cannot be shared, or the kernel has no multicast.
        package static let multicastUnavailable = Code(base: .multicastUnavailable)
        /// No file descriptors or threads left.
        package static let noResources = Code(base: .noResources)
    }

    package var code: Code
    /// The message of the library or the system.
    package var cause: String

    package init(_ code: Code, cause: String) {
        self.code = code
        self.cause = cause
    }

    package var description: String { "\(code.base.rawValue): \(cause)" }
}
