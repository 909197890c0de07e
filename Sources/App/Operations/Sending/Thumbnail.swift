import Foundation
import Lines
package import Sending
import Settings
package import Sharing
import SystemCalls

extension Waft {
    /// The previews of items that are sent.
    /// - Parameter thumbnail: the path of a picture, which is that of the first item.
    /// - Throws: `WaftError` `usage` for a picture that cannot be a preview, `inputMissing` if it cannot be read.
    package func previews(
        of sources: [any ItemSource], thumbnail: String? = nil
    ) throws(WaftError) -> OfferPreviews {
        OfferPreviews(
            sources, given: try thumbnail.map { path throws(WaftError) in try Thumbnail.read(path) },
            rule: settings.previews, maker: PreviewMaker(home: home, settings: settings, logger: logger))
    }
}

/// The picture of `--thumbnail`.
enum Thumbnail {
    /// - Throws: as `previews`.
    static func read(_ path: String) throws(WaftError) -> ItemPreview {
        // The user's own link is followed.
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let bytes: [UInt8]
        do throws(SmallFile.AccessError) {
            bytes = try SmallFile.read(place, limit: Limits.previewBytes)
        } catch {
            switch error {
            case .tooLarge: throw unfit("\(path) is larger than \(Limits.previewBytes >> 10) KiB")
            case .missing: throw WaftError(.inputMissing, "--thumbnail: there is no file \(path)")
            case .link, .notRegular: throw WaftError(.inputMissing, "--thumbnail: \(path) is no file")
            case .system(let error):
                throw WaftError(.inputMissing, "--thumbnail: \(path) cannot be read (\(error))")
            }
        }
        guard let preview = ItemPreview(bytes) else {
            throw unfit("\(path) is none of these")
        }
        return preview
    }

    private static func unfit(_ reason: String) -> WaftError {
        WaftError(
            .usage,
            "--thumbnail needs a PNG or JPEG image without animation, of at most \(Limits.previewBytes >> 10) KiB and "
                + "\(Limits.previewPixels) by \(Limits.previewPixels) pixels: \(reason)")
    }
}
