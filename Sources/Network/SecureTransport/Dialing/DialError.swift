internal import Glibc
internal import NIOCore

/// Why no connection was made to a peer: the failure at each of its addresses.
package struct DialError: Error {
    /// The kinds of failure, from the least informative to the most informative.
    package enum Kind: Int, Hashable, Sendable, Comparable {
        /// The name has no address.
        case unknownName
        /// There is no route to the address.
        case unreachable
        /// No answer came in time.
        case noAnswer
        /// No program listens on the port.
        case refused
        /// A program listens, but closed the connection before TLS was set up.
        case closed
        /// Another failure, on this side.
        case failed
        /// The program that listens does not speak TLS, but for example plain HTTP.
        case notTLS
        /// The program that listens speaks TLS, but is not Waft or has no version in common.
        case notWaft
        /// A peer with another key or certificate than expected answered.
        case wrongKey

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// The failure at one address.
    package struct Failure: Sendable {
        /// As the caller gave it.
        package let address: DialAddress
        /// The kind of failure.
        package let kind: Kind
        /// A `TLSError`, or an error of the system.
        package let cause: any Error
    }

    /// In the order of time.
    package let failures: [Failure]

    /// The most informative kind of all failures.
    package var kind: Kind { failures.map(\.kind).max() ?? .unknownName }

    /// Whether no program listens there, as while a receiver is starting.
    package var mayBeStarting: Bool { kind == .refused || kind == .closed }

    /// Maximum number of failures that `description` contains.
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
    package init(address: DialAddress, cause: any Error) {
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
        case is NameResolutionError: self = .unknownName
        case is NoAnswerError, ChannelError.connectTimeout: self = .noAnswer
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

/// An attempt was still running when the dial's deadline passed.
struct NoAnswerError: Error {}
