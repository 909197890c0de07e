internal import Glibc
internal import NIOCore

/// Why no connection was made to a peer: what happened at each of its addresses.
package struct DialError: Error {
    /// What happened, from what tells least to what tells most.
    package enum Kind: Int, Hashable, Sendable, Comparable {
        /// The name stands for no address.
        case unknownName
        /// There is no way to the address.
        case unreachable
        /// Nothing came back in time.
        case noAnswer
        /// Nothing listens at the port.
        case refused
        /// Something listens, and closed the connection before TLS was set up.
        case closed
        /// Something else failed, on this side.
        case failed
        /// What listens does not speak TLS, but plain HTTP, say.
        case notTLS
        /// What listens speaks TLS, but is not Waft or not of a version in common.
        case notWaft
        /// A peer answered whose key is another one than expected.
        case wrongKey

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// What happened at one address.
    package struct Failure: Sendable {
        /// As the caller named it.
        package let address: DialAddress
        /// What kind of failure it was.
        package let kind: Kind
        /// A `TLSError`, or an error of the system.
        package let cause: any Error
    }

    /// In the order in which they happened.
    package let failures: [Failure]

    /// What tells most of all that happened.
    package var kind: Kind { failures.map(\.kind).max() ?? .unknownName }

    /// Whether nothing listens there, as while a receiver is starting.
    package var mayBeStarting: Bool { kind == .refused || kind == .closed }

    /// Addresses that `description` tells of.
    private static let describedFailures = 6
}

extension DialError: CustomStringConvertible {
    package var description: String {
        guard !failures.isEmpty else { return "cannot connect: there is no address to connect to" }
        var places = failures.prefix(Self.describedFailures).map(\.description)
        if failures.count > places.count { places.append("and \(failures.count - places.count) more") }
        return "cannot connect: " + places.joined(separator: "; ")
    }
}

extension DialError.Failure: CustomStringConvertible {
    init(address: DialAddress, cause: any Error) {
        self.address = address
        self.cause = cause
        kind = DialError.Kind(cause)
    }

    package var description: String {
        let reason =
            switch kind {
            case .unknownName: "the name is not known (\(cause))"
            case .unreachable: "no route (\(Self.systemReason(cause)))"
            case .noAnswer: "no answer"
            case .refused: "no program listens on this port (connection refused)"
            case .closed: "the connection was closed before TLS was set up"
            case .failed, .notTLS, .notWaft, .wrongKey: "\(cause)"
            }
        return "\(address): \(reason)"
    }

    private static func systemReason(_ cause: any Error) -> String {
        (cause as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(cause)"
    }
}

extension DialError.Kind {
    init(_ cause: any Error) {
        switch cause {
        case let error as TLSError: self.init(error)
        case let error as IOError: self.init(errno: error.errnoCode)
        case is NameNotResolved: self = .unknownName
        case is NoAnswer, ChannelError.connectTimeout: self = .noAnswer
        case is ChannelError: self = .closed
        default: self = .failed
        }
    }

    private init(_ error: TLSError) {
        switch error.code {
        case .notTLS: self = .notTLS
        case .unexpectedPeer: self = .wrongKey
        case .handshakeTimedOut: self = .noAnswer
        case .closedInHandshake, .truncated: self = .closed
        case .setUpFailed: self = .failed
        default: self = .notWaft
        }
    }

    private init(errno: Int32) {
        switch errno {
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .noAnswer
        case ECONNRESET, EPIPE, ECONNABORTED: self = .closed
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EAFNOSUPPORT, EACCES, EPERM, EINVAL:
            self = .unreachable
        default: self = .failed
        }
    }
}

/// An attempt was still running when the time for the dial was over.
struct NoAnswer: Error {}
