import Foundation
import HandlerCatalog
import Handlers
import HookSandbox
import Logging
import Settings
import Sharing

/// The programs of the system that show more of a file than Waft reads itself. Each is used only where it is installed.
struct PreviewPrograms {
    private let home: Home
    private let context: CommandContext

    /// Lines of a picture.
    private static let pictureLines = 24
    private static let pictureColumns = 80

    init(_ context: CommandContext) {
        (home, self.context) = (context.home, context)
    }

    private func program(_ name: String) -> PreviewProgram? {
        var logger = context.logger("waft")
        // A preview without the program is the whole message.
        logger.logLevel = .critical
        return PreviewProgram(
            named: name, searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            scratchFolder: home.run + "/preview", sandbox: context.settings.requiresSandbox ? .require : .strict,
            forbiddenPlaces: home.handlerCatalog(context.settings).closed.paths, logger: logger)
    }

    /// Whether a program that shows PDF documents is installed.
    var showDocuments: Bool { program("pdfinfo") != nil || program("pdftotext") != nil }

    private func output(
        of name: String, _ words: [String], _ file: Int32, limit: Int = PreviewProgram.outputBytes
    ) async -> [UInt8]? {
        // The run folder is the parent of their temporary files.
        guard let program = program(name), (try? home.makeFolders()) != nil else { return nil }
        return await program.output(words, input: file, limit: limit)
    }

    /// The number of pages of a PDF document.
    func pages(of file: Int32) async -> Int? {
        guard let output = await output(of: "pdfinfo", ["/dev/stdin"], file) else { return nil }
        let line = String(decoding: output, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Pages:") }
        return line.flatMap { Int($0.dropFirst("Pages:".count).trimmingCharacters(in: .whitespaces)) }
            .flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The text of the first page of a PDF document, without empty lines at its end.
    func firstPage(of file: Int32, lines: Int) async -> [String]? {
        let words = ["-f", "1", "-l", "1", "-enc", "UTF-8", "-layout", "/dev/stdin", "-"]
        guard let output = await output(of: "pdftotext", words, file) else { return nil }
        let text = String(decoding: output, as: UTF8.self).replacing("\u{C}", with: "")
        var all = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(lines).map(String.init)
        while all.last?.allSatisfy(\.isWhitespace) == true { all.removeLast() }
        return all
    }

    /// A page of a PDF document, as a JPEG.
    func page(_ page: Int, of file: Int32, pixels: Int) async -> [UInt8]? {
        let range = ["-f", "\(page)", "-l", "\(page)"]
        let words = ["-jpeg", "-singlefile"] + range + ["-scale-to", "\(pixels)", "/dev/stdin", "-"]
        return await output(of: "pdftocairo", words, file, limit: PreviewProgram.pictureBytes(pixels))
    }

    /// An image in coloured characters, line by line, fit for a terminal.
    func picture(of file: Int32) async -> [String] {
        let columns = max(1, min(Self.pictureColumns, Console.shared.width - 2))
        let words = [
            "--format=symbols", "--animate=off", "--size=\(columns)x\(Self.pictureLines)", "/dev/stdin",
        ]
        guard let output = await output(of: "chafa", words, file) else { return [] }
        return PictureText.lines(output, maximum: Self.pictureLines + 1)
    }
}

/// The output of a program that draws with characters: colours are kept, all else that a terminal obeys is removed.
enum PictureText {
    /// Ends colours.
    private static let plain = "\u{1B}[0m"
    private static let maximumScalars = 16_384

    static func lines(_ output: [UInt8], maximum: Int) -> [String] {
        String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: true).prefix(maximum)
            .map { line($0.unicodeScalars.prefix(maximumScalars)) }
            .filter { $0 != plain }
    }

    private static func line(_ scalars: Substring.UnicodeScalarView.SubSequence) -> String {
        var result = String.UnicodeScalarView()
        var rest = scalars
        while let scalar = rest.popFirst() {
            if ShownText.isPrintable(scalar) {
                result.append(scalar)
            } else if scalar == "\u{1B}", rest.first == "[" {
                let sequence = rest.dropFirst().prefix { $0.value >= 0x20 && $0.value < 0x40 }
                let end = rest.dropFirst(1 + sequence.count)
                // A sequence with other characters, or for another purpose, is dropped as a whole.
                if end.first == "m", sequence.allSatisfy({ "0123456789;:".unicodeScalars.contains($0) }) {
                    result.append(contentsOf: "\u{1B}[".unicodeScalars)
                    result.append(contentsOf: sequence)
                    result.append("m")
                }
                rest = end.dropFirst()
            }
        }
        return String(result) + plain
    }
}
