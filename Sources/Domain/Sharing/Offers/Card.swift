/// A peer's description of itself, sent over TLS to peers that may see it.
package struct Card: Hashable, Sendable {
    /// The peer's name for itself: 1...`Limits.peerNameBytes` bytes without control characters.
    package var name: String
    /// `desktop`, `laptop`, `server`, `container` …; free text, for a picture or a word beside the name.
    package var device: String

    package init(name: String, device: String) {
        self.name = name
        self.device = device
    }
}

/// The name a peer goes by, made fit to be shown: one place for the rule.
package enum PeerName {
    /// - Returns: `text` without unprintable characters, cut at `Limits.peerNameBytes`; `fallback` if it is empty.
    package static func fit(_ text: String, fallback: String = "unnamed") -> String {
        var fit = ""
        // Far more than can be kept: a stranger's text may be very long.
        for character in text.prefix(Limits.peerNameBytes * 16)
        where character == "." || (try? SafeName(String(character))) != nil {
            if fit.utf8.count + character.utf8.count > Limits.peerNameBytes { break }
            fit.append(character)
        }
        var trimmed = fit.drop { $0 == " " }
        while trimmed.last == " " { trimmed.removeLast() }
        return trimmed.isEmpty ? fallback : String(trimmed)
    }
}
