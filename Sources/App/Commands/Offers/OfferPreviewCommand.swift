import ArgumentParser
import ContentCheck
import Control
import Foundation
import Glibc
import Lines
import Settings
import Sharing
import SystemCalls

/// `waft offers preview`: the preview of an item whose offer waits.
struct OfferPreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show the preview of an offered item, or write it to a file.",
        discussion: """
            Examples:
              waft offers preview 1.2
              waft offers preview 1.2 --out preview.png

            1.2 is item 2 of offer 1; 1 alone is its first item. On a terminal chafa draws the picture, if it is installed. \
            A preview is there as long as its offer waits. Its sender has made it: it may show something else than the item.
            """
    )

    @Argument(help: ArgumentHelp("Numbers of the offer and the item, such as 1.2.", valueName: "offer.item"))
    var place: String

    @Option(
        name: .long, help: ArgumentHelp("New file for the picture; none is replaced.", valueName: "path"),
        completion: .file())
    var out: String?

    @OptionGroup var output: OutputOptions

    /// The line of `--json`.
    struct Fields: Encodable {
        var offer: Int
        /// Place of the item in its offer.
        var item: Int
        var name: String
        /// `image/png` or `image/jpeg`.
        var mediaType: String
        var pixelWidth: UInt32
        var pixelHeight: UInt32
        var size: UInt64
        /// The file that was written.
        var path: String?
    }

    func run() async throws {
        let (offer, item) = try Self.numbers(place)
        let (name, preview) = try await Self.fetch(offer, item)
        let path = out.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        if let path { try NewFile.write(preview.bytes, to: path) }
        if output.json {
            return EventLine.offerPreview(
                Fields(
                    offer: offer, item: item, name: name, mediaType: preview.type,
                    pixelWidth: preview.pixels.width, pixelHeight: preview.pixels.height,
                    size: UInt64(preview.bytes.count), path: path)
            ).print()
        }
        Console.shared.result(Self.line(offer, item, name, preview))
        if let path {
            Console.shared.result("  written to \(TerminalText.escaped(path, limit: 4_096))")
        } else if isatty(STDOUT_FILENO) == 1 {
            for line in try await Self.picture(preview) { Console.shared.result(line) }
        }
    }

    static func line(_ offer: Int, _ item: Int, _ name: String, _ preview: ItemPreview) -> String {
        let pixels = "\(preview.pixels.width) by \(preview.pixels.height) pixels"
        return "\(offer).\(item + 1)  \(TerminalText.escaped(name, limit: 256))  \(preview.type), \(pixels), "
            + ByteCount.text(UInt64(preview.bytes.count))
    }

    /// - Returns: the number of the offer, and the place of the item in it, from 0.
    static func numbers(_ text: String) throws(CommandError) -> (offer: Int, item: Int) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.allSatisfy { $0.isASCII && $0.isNumber } ? Int(part).flatMap { $0 > 0 ? $0 : nil } : nil
        }
        guard (1...2).contains(parts.count), numbers.count == parts.count else {
            throw CommandError(
                .usage, "\"\(TerminalText.escaped(text, limit: 64))\" is no item of an offer",
                hint: "1.2 is item 2 of offer 1; see: waft offers")
        }
        return (numbers[0], numbers.count == 2 ? numbers[1] - 1 : 0)
    }

    private static func fetch(_ offer: Int, _ item: Int) async throws -> (name: String, preview: ItemPreview) {
        switch try await Daemon.ask(.preview(offer: offer, item: item)) {
        case .preview(let offered):
            guard let preview = ItemPreview(Array(offered.data)) else {
                throw CommandError(.unexpected, "the receiver gave no preview")
            }
            return (offered.name, preview)
        case .unknown(let reason):
            throw CommandError(.inputMissing, TerminalText.escaped(reason), hint: "see: waft offers")
        default: throw CommandError(.unexpected, "the receiver gave no preview")
        }
    }

    /// The picture in coloured characters; empty without the program that draws it.
    private static func picture(_ preview: ItemPreview) async throws -> [String] {
        let context = try CommandContext.forgiving
        // Without a name: nothing is left of it.
        let file: FileDescriptor
        do throws(SystemError) {
            // O_TMPFILE of the kernel's headers, which is a macro of several numbers.
            let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
            file = try FileDescriptor.opening(context.home.run, unnamed | O_RDWR, mode: 0o600)
        } catch {
            return []
        }
        guard (try? SmallFile.write(preview.bytes, to: file.raw)) != nil else { return [] }
        return await PreviewPrograms(context).picture(of: file.raw)
    }
}
