/// Why an identity could not be loaded or made.
///
/// The message states the problem, its importance and the remedy, in one line.
package struct IdentityError: Error, Hashable {
    /// The kind of failure.
    package struct Code: Hashable, Sendable {
        private enum Value {
            case unreadable
            case exposed
            case damaged
            case wrongKind
            case mismatched
            case notMade
        }

        private let value: Value

        /// The file exists but cannot be opened or read.
        package static let unreadable = Code(value: .unreadable)
        /// Other users can read or change the file, or it belongs to another user.
        package static let exposed = Code(value: .exposed)
        /// The file is empty, cut off, too large or not PEM.
        package static let damaged = Code(value: .damaged)
        /// The key is of another kind than requested.
        package static let wrongKind = Code(value: .wrongKind)
        /// The certificate does not belong to the key in the file.
        package static let mismatched = Code(value: .mismatched)
        /// A new identity could not be made or stored.
        package static let notMade = Code(value: .notMade)
    }

    /// The kind of failure.
    package let code: Code
    private let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension IdentityError: CustomStringConvertible {
    package var description: String { message }
}

extension IdentityError {
    static func unreadable(_ path: String, _ reason: String) -> IdentityError {
        IdentityError(.unreadable, "cannot read the identity \(path): \(reason)")
    }

    static func exposed(_ path: String, _ reason: String, remedy: String) -> IdentityError {
        IdentityError(
            .exposed,
            "refusing the identity \(path): \(reason), so its key may be known to others; \(remedy)"
        )
    }

    static func damaged(_ path: String, _ reason: String) -> IdentityError {
        IdentityError(
            .damaged,
            "cannot use the identity \(path): \(reason); restore it from a backup, or remove it to become a new peer"
        )
    }

    /// Of a file that the user has named.
    static func unusable(_ path: String, _ reason: String) -> IdentityError {
        IdentityError(.unreadable, "cannot use \(path): \(reason)")
    }

    static func wrongKind(_ path: String, expected: [KeyKind]) -> IdentityError {
        IdentityError(
            .wrongKind,
            "cannot use the identity \(path): its key is not "
                + "\(expected.map(\.description).joined(separator: " or ")); remove it to become a new peer"
        )
    }

    static func mismatched(_ path: String) -> IdentityError {
        IdentityError(
            .mismatched,
            "cannot use the identity \(path): its certificate is not of its key; "
                + "restore it from a backup, or remove it to become a new peer"
        )
    }

    static func notMade(_ reason: String) -> IdentityError {
        IdentityError(.notMade, "cannot make an identity: \(reason)")
    }
}
