import AirDropDialect
import LocalSendDialect
package import ServiceManager
package import Sharing
import WaftDialect
import WebDialect

/// A dialect that this program speaks, and the way to make its endpoint.
package struct EndpointKind: Sendable {
    package let dialect: Dialect
    package let make: @Sendable (EndpointParts) -> any Endpoint

    package init(_ dialect: Dialect, _ make: @escaping @Sendable (EndpointParts) -> any Endpoint) {
        (self.dialect, self.make) = (dialect, make)
    }
}

/// The list of all dialects: a new one is a line here.
package enum Endpoints {
    /// In order of preference. Addresses that the user types are for the first one, and its port is the receiver's.
    package static let all = [
        EndpointKind(.waft) { WaftEndpoint($0) },
        EndpointKind(.localsend) { LocalSendEndpoint($0) },
        EndpointKind(.airdrop) { AirDropEndpoint($0) },
        EndpointKind(.web) { WebEndpoint($0) },
    ]

    /// The sockets that a service manager can open for the endpoints: each has the name of its dialect.
    package static let sockets = Dictionary(uniqueKeysWithValues: all.map { ($0.dialect.name, PassedSockets.Kind.tcp) })

    /// The port of an address that the user types without one.
    package static let defaultPort = WaftDialect.defaultPort
}

extension DialectTable {
    /// The dialects that this program speaks.
    package static let known = DialectTable(Endpoints.all.map(\.dialect))
}
