internal import Glibc
internal import NIOCore
internal import SystemCalls

/// Why a listener could not listen.
package struct ListenerError: Error {
    /// The kind of failure.
    package struct Code: Hashable, Sendable {
        private enum Value {
            case addressInUse
            case notPermitted
            case noSuchAddress
            case failed
        }

        private let value: Value

        /// Another program listens there.
        package static let addressInUse = Code(value: .addressInUse)
        /// This user may not listen there (ports below 1024).
        package static let notPermitted = Code(value: .notPermitted)
        /// The host is not an address of this machine.
        package static let noSuchAddress = Code(value: .noSuchAddress)
        /// Any other reason; see `cause`.
        package static let failed = Code(value: .failed)
    }

    /// The kind of failure.
    package let code: Code
    /// The error of the system or of the event loop.
    package let cause: any Error
    private let place: String

    init(host: String?, port: Int, cause: any Error) {
        place = host.map { "\($0) port \(port)" } ?? "port \(port)"
        self.cause = cause
        code =
            switch (cause as? IOError)?.errnoCode {
            case EADDRINUSE: .addressInUse
            case EACCES, EPERM: .notPermitted
            case EADDRNOTAVAIL: .noSuchAddress
            default: cause is SocketAddressError ? .noSuchAddress : .failed
            }
    }
}

extension ListenerError: CustomStringConvertible {
    package var description: String {
        let reason =
            switch code {
            case .addressInUse: "another program uses it"
            case .notPermitted: "this user is not allowed to use it"
            case .noSuchAddress: "this machine has no such address"
            default: (cause as? IOError).map { SystemError($0.errnoCode).description } ?? "\(cause)"
            }
        return "cannot listen on \(place): \(reason)"
    }
}
