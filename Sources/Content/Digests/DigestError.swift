/// Why input was refused as a digest.
package struct DigestError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: Hashable {
        case malformedText
        case unknownAlgorithm
        case wrongLength
    }

    private let code: Code

    /// The failure, in lower case, without the refused text: it may be long and hostile.
    package let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The text is not `algorithm:lower-case hexadecimal`.
    package static let malformedText = DigestError(
        .malformedText,
        "could not read a digest: expected an algorithm, a colon and lower-case hexadecimal digits"
    )

    /// The part before the colon names no algorithm known here.
    package static let unknownAlgorithm = DigestError(
        .unknownAlgorithm,
        "could not read a digest: its algorithm is not one of "
            + DigestAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
    )

    /// The number of bytes is not `algorithm.byteCount`.
    package static func wrongLength(for algorithm: DigestAlgorithm) -> DigestError {
        DigestError(
            .wrongLength,
            "could not read a digest: \(algorithm.rawValue) takes \(algorithm.byteCount) bytes, "
                + "\(algorithm.byteCount * 2) digits"
        )
    }
}
