import Digests
import Sharing

extension ContentDigests {
    /// The digest that the sender knows; then, if the lasting one is another one or missing, a space and that one or `-`;
    /// then, if the sender has a lasting one of its own, a space and that one.
    var sealedText: String {
        if lasting == sent, own == nil { return "\(sent)" }
        return "\(sent) \(lasting.map { $0.description } ?? "-")" + (own.map { " \($0)" } ?? "")
    }

    /// - Returns: nil for a text of another form.
    init?(sealedText: String) {
        let words = sealedText.split(separator: " ", omittingEmptySubsequences: false)
        guard let first = words.first, let sent = Digest(String(first)), words.count <= 3 else { return nil }
        guard words.count > 1 else {
            self.init(lasting: sent, sent: sent)
            return
        }
        let lasting = Digest(String(words[1]))
        guard lasting != nil || words[1] == "-" else { return nil }
        let own = words.count == 3 ? Digest(String(words[2])) : nil
        guard words.count < 3 || own != nil else { return nil }
        self.init(lasting: lasting, sent: sent, own: own)
    }
}
