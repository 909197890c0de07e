/// A failure of libcrypto: it has no memory, or the system's policy forbids an algorithm.
package struct SecretsError: Error, Hashable, CustomStringConvertible {
    /// The value that libcrypto did not make, such as "a hash".
    package let product: String

    private init(product: String) {
        self.product = product
    }

    /// libcrypto did not make `product`.
    package static func noCryptography(_ product: String) -> SecretsError { SecretsError(product: product) }

    package var description: String { "libcrypto did not make \(product)" }
}
