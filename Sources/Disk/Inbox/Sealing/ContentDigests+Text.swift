import Digests
import Sharing

extension ContentDigests {
    /// The digest that the sender knows; then, if the lasting one is another one or missing, a space and that one or `-`.
    var sealedText: String {
        lasting == sent ? "\(sent)" : "\(sent) \(lasting.map { $0.description } ?? "-")"
    }

    /// - Returns: nil for a text of another form.
    init?(sealedText: String) {
        let words = sealedText.split(separator: " ", omittingEmptySubsequences: false)
        guard let first = words.first, let sent = Digest(String(first)), words.count <= 2 else { return nil }
        guard words.count == 2 else {
            self.init(lasting: sent, sent: sent)
            return
        }
        let lasting = Digest(String(words[1]))
        guard lasting != nil || words[1] == "-" else { return nil }
        self.init(lasting: lasting, sent: sent)
    }
}
