import Secrets

extension SecretBytes {
    /// Compares in a time that depends on the lengths only.
    func isEqual(to other: SecretBytes) -> Bool {
        withBytes { own in
            other.withBytes { other in
                own.count == other.count && zip(own, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
            }
        }
    }
}
