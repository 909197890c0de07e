internal import Secrets

/// Why an age file, a recipient or an identity was refused, or not made.
package enum AgeError: Error, Hashable {
    /// The bytes do not have the form that the format demands. The reason does not contain any of them.
    case malformed(String)
    /// No given identity, or not this passphrase, opens the file.
    case noMatch
    /// The header's or a chunk's authentication fails: the bytes were changed, or cut within a chunk.
    case damaged
    /// The file ends before its last chunk, or in its header.
    case truncated
    /// There are bytes after the last chunk.
    case trailing
    /// A kind of recipient, identity or file that is not supported here, or beyond a bound; the reason names it.
    case unsupported(String)
    /// libcrypto did not make the named value: it has no memory, or the system's policy forbids an algorithm.
    case noCryptography(String)
}

extension AgeError: CustomStringConvertible {
    /// One line, lower case, without any byte of the input.
    package var description: String {
        switch self {
        case .malformed(let reason): "malformed: \(reason)"
        case .noMatch: "none of the keys opens it"
        case .damaged: "it is damaged: its authentication fails"
        case .truncated: "it is cut off: its end is missing"
        case .trailing: "there is data after its end"
        case .unsupported(let reason): "not supported: \(reason)"
        case .noCryptography(let product): "libcrypto did not make \(product)"
        }
    }

    /// Calls `body`, and throws its error as one of this module.
    static func mapping<Value>(_ body: () throws(SecretsError) -> Value) throws(AgeError) -> Value {
        do throws(SecretsError) { return try body() } catch { throw .noCryptography(error.product) }
    }
}
