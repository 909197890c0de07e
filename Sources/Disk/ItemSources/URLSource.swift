package import Sharing
package import UniformTypes

/// A URL, sent as a `.url` file (an Internet Shortcut: a form that every desktop opens).
package final class URLSource: ItemSource {
    /// Maximum number of bytes in a URL.
    package static let maximumBytes = InternetShortcut.maximumBytes

    package let offered: OfferedItem
    package let origin: String

    private let contents: [UInt8]

    /// - Parameters:
    ///   - url: a URL that `InternetShortcut` accepts.
    ///   - name: nil for a name from the URL's host, or its scheme if it has no host.
    ///   - type: nil for `public.url`.
    /// - Throws: `SourceError.unreadable` if `url` is no URL.
    package init(
        _ url: String,
        name: SafeName? = nil,
        type: UniformType? = nil,
        origin: String = "url"
    ) throws(SourceError) {
        let shortcut: InternetShortcut
        do {
            shortcut = try InternetShortcut(url)
        } catch {
            throw SourceError(.unreadable, "the URL cannot be sent: \(error)")
        }
        self.contents = shortcut.contents
        self.origin = origin
        self.offered = OfferedItem(
            kind: .url,
            name: name ?? shortcut.name,
            type: type ?? .url,
            size: UInt64(contents.count)
        )
    }

    package func open() -> any ItemReading { BytesReading(contents) }
}
