import Foundation
import ItemSources
import Lines
import Sending
import Settings
import Sharing
import SystemCalls

/// The previews of the items that a command sends.
enum SendPreviews {
    /// - Parameters:
    ///   - thumbnail: the path of `--thumbnail`; its picture is that of the first item.
    /// - Throws: `CommandError` `usage` for a picture that cannot be a preview, `inputMissing` if it cannot be read.
    static func make(
        of sources: [any ItemSource], thumbnail: String?, _ context: CommandContext
    ) throws(CommandError) -> OfferPreviews {
        OfferPreviews(
            sources, given: try thumbnail.map { path throws(CommandError) in try read(path) },
            rule: context.settings.previews,
            maker: PreviewMaker(home: context.home, settings: context.settings, logger: context.logger("waft")))
    }

    /// - Throws: as `make`.
    static func read(_ path: String) throws(CommandError) -> ItemPreview {
        let shown = TerminalText.escaped(path, limit: 1_000)
        // The user's own link is followed.
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let bytes: [UInt8]
        do throws(SmallFile.AccessError) {
            bytes = try SmallFile.read(place, limit: Limits.previewBytes)
        } catch {
            switch error {
            case .tooLarge: throw unfit("\(shown) is larger than \(Limits.previewBytes >> 10) KiB")
            case .missing: throw CommandError(.inputMissing, "--thumbnail: there is no file \(shown)")
            case .link, .notRegular: throw CommandError(.inputMissing, "--thumbnail: \(shown) is no file")
            case .system(let error):
                throw CommandError(.inputMissing, "--thumbnail: \(shown) cannot be read (\(error))")
            }
        }
        guard let preview = ItemPreview(bytes) else {
            throw unfit("\(shown) is none of these")
        }
        return preview
    }

    private static func unfit(_ reason: String) -> CommandError {
        CommandError(
            .usage,
            "--thumbnail needs a PNG or JPEG image without animation, of at most \(Limits.previewBytes >> 10) KiB and "
                + "\(Limits.previewPixels) by \(Limits.previewPixels) pixels: \(reason)")
    }
}
