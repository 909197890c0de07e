package import Foundation
package import Sharing
import UniformTypes

/// The preview of an item whose offer waits. The receiver has checked it.
package struct OfferedPreview: Codable, Sendable, Equatable {
    /// The name of the item. Not escaped.
    package var name: String
    /// At most `Limits.previewBytes`.
    package var data: Data

    /// - Parameter item: places count from 0.
    /// - Returns: nil if the offer has no such item, or if that has no preview.
    package init?(_ offer: Offer, item: Int) {
        guard offer.items.indices.contains(item), let preview = offer.items[item].preview else { return nil }
        (name, data) = (offer.items[item].name.text, Data(preview.bytes))
    }
}
