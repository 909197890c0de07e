import ArgumentParser
import Foundation
import Glibc
import Lines
import Operations
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

    func run() async throws {
        let (offer, item) = try Self.numbers(place)
        var preview = try await output.doing { waft throws(WaftError) in
            try await waft.offers.preview(offer, item: item)
        }
        preview.path = out.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        if let path = preview.path {
            try CommandError.of { () throws(WaftError) in try NewFile.write(Array(preview.data), to: path) }
        }
        output.show(preview)
        if !output.json, preview.path == nil, isatty(STDOUT_FILENO) == 1 {
            for line in try await Self.picture(preview) { Console.shared.result(line) }
        }
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

    /// The picture in coloured characters; empty without the program that draws it.
    private static func picture(_ preview: OfferPreviewLine) async throws -> [String] {
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
        guard (try? SmallFile.write(Array(preview.data), to: file.raw)) != nil else { return [] }
        return await PreviewPrograms(context.waft).picture(of: file.raw, columns: Console.shared.width)
    }
}

extension OfferPreviewLine: WordedLine {
    var words: [String] {
        let facts = "\(mediaType), \(pixelWidth) by \(pixelHeight) pixels, \(ByteCount.text(size))"
        return ["\(offer).\(item + 1)  \(TerminalText.escaped(name, limit: 256))  \(facts)"]
            + (path.map { ["  written to \(TerminalText.escaped($0, limit: 4_096))"] } ?? [])
    }
}
