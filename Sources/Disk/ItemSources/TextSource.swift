package import Sharing
package import UniformTypes

/// A text, sent as a `.txt` file.
package final class TextSource: ItemSource {
    package let offered: OfferedItem
    package let origin: String

    private let contents: [UInt8]

    /// - Parameters:
    ///   - text: the text to send, unchanged.
    ///   - name: nil for a name from the text's first line, or `text.txt`.
    ///   - type: nil for `public.utf8-plain-text`.
    package init(_ text: String, name: SafeName? = nil, type: UniformType? = nil, origin: String = "text") {
        self.contents = Array(text.utf8)
        self.origin = origin
        self.offered = OfferedItem(
            kind: .text,
            name: name ?? TextName.of(text),
            type: type ?? .utf8PlainText,
            size: UInt64(contents.count)
        )
    }

    package func open() -> any ItemReading { BytesReading(contents) }
}
