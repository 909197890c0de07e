package import ContentCheck

/// A small still picture of an item, which its offer may carry. Foreign, and never a ground for a decision.
///
/// One pointer: offers have thousands of items, and few of these have a preview.
package struct ItemPreview: Hashable, Sendable {
    private final class Storage: Sendable {
        let image: StillImage
        let bytes: [UInt8]

        init(_ image: StillImage, _ bytes: [UInt8]) {
            (self.image, self.bytes) = (image, bytes)
        }
    }

    private let storage: Storage

    /// - Parameters:
    ///   - bytes: a whole PNG or JPEG file of at most `Limits.previewBytes`.
    ///   - type: the MIME type that its sender gives; nil if none.
    /// - Returns: nil if the header says another type, if the picture is wider or higher than `Limits.previewPixels`,
    ///   animated or cut off, and for any other file.
    package init?(_ bytes: [UInt8], saying type: String? = nil) {
        guard (1...Limits.previewBytes).contains(bytes.count), let image = StillImage(bytes),
            max(image.pixels.width, image.pixels.height) <= Limits.previewPixels,
            type == nil || type == image.form.rawValue
        else { return nil }
        storage = Storage(image, bytes)
    }

    /// The whole file.
    package var bytes: [UInt8] { storage.bytes }
    /// `image/png` or `image/jpeg`.
    package var type: String { storage.image.form.rawValue }
    package var isJPEG: Bool { storage.image.form == .jpeg }
    package var pixels: PixelSize { storage.image.pixels }

    package static func == (one: Self, other: Self) -> Bool {
        one.storage === other.storage || one.bytes == other.bytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// The peers to which previews are sent, and whose previews are shown.
package enum PreviewRule: String, Sendable, CaseIterable {
    case contacts
    case everyone
    case off

    package func includes(contact isContact: Bool) -> Bool {
        switch self {
        case .contacts: isContact
        case .everyone: true
        case .off: false
        }
    }
}

extension Offer {
    /// The offer with the previews that may stand in it: of the first `Limits.previews` items, and at most
    /// `Limits.previewsBytes` in all.
    package func bounded() -> Offer {
        guard hasPreviews else { return self }
        var (offer, left) = (self, Limits.previewsBytes)
        for number in items.indices {
            guard let preview = items[number].preview else { continue }
            if number >= Limits.previews || preview.bytes.count > left {
                offer.items[number].preview = nil
            } else {
                left -= preview.bytes.count
            }
        }
        return offer
    }

    /// The offer without the facts that are not recorded: previews, and needs of the disk.
    package func bare() -> Offer {
        guard hasPreviews || items.contains(where: { $0.needs != nil }) else { return self }
        var offer = self
        for number in items.indices { (offer.items[number].preview, offer.items[number].needs) = (nil, nil) }
        return offer
    }

    package var hasPreviews: Bool { items.contains { $0.preview != nil } }

    /// The offer with those of its previews for which there is room.
    /// - Parameter claim: takes the room.
    func previewed(within claim: MemoryClaim) -> Offer {
        guard hasPreviews else { return self }
        var offer = bounded()
        for number in offer.items.indices {
            guard let preview = offer.items[number].preview else { continue }
            if !claim.take(preview.bytes.count) { offer.items[number].preview = nil }
        }
        return offer
    }
}
