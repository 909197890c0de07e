import ContentCheck
import Foundation
import Glibc
package import HandlerCatalog
import Handlers
import HookSandbox
package import Lines
import Logging
import Previews
import PropertyLists
import Sending
import Settings
import Sharing
import UniformTypes

/// The bounds of a text that is shown.
package enum ShownLines {
    /// Unless the user asks for another number.
    package static let standard = PreviewBounds.lines
    package static let maximum = PreviewBounds.maximumLines
}

/// A picture of a document.
package struct Picture: Sendable {
    let document: Document
    let type: UniformType
    let image: StillImage
    package let bytes: [UInt8]

    /// Writes it to a new file.
    /// - Throws: `WaftError`, as `NewFile.write`.
    package func save(to path: String) throws(WaftError) -> PictureLine {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        try NewFile.write(bytes, to: path)
        let facts = PictureLine.Facts(
            type: type.identifier, mediaType: image.form.rawValue, pixelWidth: image.pixels.width,
            pixelHeight: image.pixels.height, picture: path)
        return PictureLine(document.name, facts, size: UInt64(bytes.count))
    }
}

extension Documents {
    /// The preview of a file, a folder or an item: reads the file, and asks other programs where they may see it.
    /// - Parameters:
    ///   - lines: maximum number of lines of a text.
    ///   - columns: of a terminal in which an image is drawn; nil to draw none.
    /// - Throws: `WaftError`: `ineligible` if there is nothing to show, with the warning about its content as the other reason;
    ///   `inputMissing` if it cannot be read.
    package func preview(
        of document: Document, lines: Int = ShownLines.standard, columns: Int? = nil
    ) async throws(WaftError) -> PreviewLine {
        var line = PreviewLine(document.name, type: document.declared.identifier)
        if document.isFolder {
            guard let tree = FolderTree(path: document.path) else {
                throw WaftError(.inputMissing, "\(document.head): the folder cannot be read")
            }
            line.show(.folder(tree))
            return line
        }
        let (file, size) = try document.open()
        defer { close(file) }
        let finding = finding(in: PreviewSource(descriptor: file, size: size), document, lines: lines)
        line.warning = warning(finding, document)
        line.facts.size = size
        line.facts.content = finding.verdict.outcome.rawValue
        line.facts.contentType = finding.verdict.contentType?.identifier
        line.facts.contentExplanation = finding.verdict.explanation
        let isBelieved = finding.verdict.outcome == .consistent
        // A property list says nothing about the kind of its contents: the declared type does.
        if let url = link(in: file, isBelieved ? document.form : finding.type) {
            (line.facts.shownAs, line.facts.urlParts) = (.link, LinkParts(url))
            return line
        }
        line.facts.type = finding.type.identifier
        // A mislabelled file may be made for the program that would show it.
        let programs = isBelieved ? PreviewPrograms(waft) : nil
        switch finding.preview {
        case .document:
            (line.facts.shownAs, line.facts.pageCount) = (.document, await programs?.pages(of: file))
            line.facts.lines = await programs?.firstPage(of: file, lines: lines)
            guard line.facts.pageCount != nil || line.facts.lines != nil else { break }
            line.facts.lines = line.facts.lines ?? []
            return line
        case let shown?:
            line.show(shown)
            if case .image(let size) = shown, let columns, size.isDrawable {
                line.drawing = await programs?.picture(of: file, columns: columns) ?? []
            }
            return line
        case nil: break
        }
        throw WaftError(
            .ineligible, "\(document.head): there is no preview of \(finding.type.identifier)",
            hint: finding.type == .pdf && line.warning == nil
                ? "pdfinfo and pdftotext show PDF documents; install poppler-utils" : nil,
            others: [line.warning].compactMap(\.self))
    }

    /// Bytes of a file with a URL that are read.
    private static let linkBytes = 16 << 10
    private static let linkBounds = PropertyListBounds(
        documentBytes: linkBytes, depth: 8, values: 100, textBytes: linkBytes)

    /// The URL in a file whose one purpose is to hold it: `.url` and `.webloc`. It is not opened.
    /// - Parameter file: open for reading; its position does not move.
    /// - Returns: nil for another type, and for a file without a URL.
    private func link(in file: Int32, _ type: UniformType) -> URLParts? {
        let isShortcut = registry.conforms(type, to: .internetShortcut)
        guard isShortcut || registry.conforms(type, to: .internetLocation) else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.linkBytes) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, Self.linkBytes, 0))
        }
        let text =
            isShortcut
            ? InternetShortcut.url(in: bytes)
            : (try? PropertyList.dictionary(from: bytes, within: Self.linkBounds))?["URL"]?.string
        return text.flatMap { try? URLParts($0) }
    }

    /// A picture of a file or an item, which a program of the system makes in the sandbox: poppler for a page of a PDF document,
    /// a thumbnailer for all else.
    /// - Parameters:
    ///   - pixels: its width and height, at most.
    ///   - page: of a PDF document, from 1.
    /// - Throws: `WaftError`: `ineligible` if no program makes one, `inputMissing` if the document cannot be read.
    package func picture(of document: Document, pixels: Int, page: Int) async throws(WaftError) -> Picture {
        guard !document.isFolder else {
            throw WaftError(.ineligible, "\(document.head): a folder has no picture", hint: "leave --out away")
        }
        let (file, size) = try document.open()
        defer { close(file) }
        let finding = finding(in: PreviewSource(descriptor: file, size: size), document)
        // A mislabelled file may be made for the program that would show it.
        guard finding.verdict.outcome == .consistent else {
            throw WaftError(
                .ineligible, "\(document.head): it is not what its name says, so no picture of it is made",
                hint: "leave --out away to see what it is")
        }
        let output =
            if finding.type == .pdf {
                await PreviewPrograms(waft).page(page, of: file, pixels: pixels)
            } else {
                await PreviewMaker(home: waft.home, settings: waft.settings, logger: waft.logger)
                    .picture(of: file, document.form, pixels: pixels)
            }
        guard let output, let image = StillImage(output) else {
            throw WaftError(
                .ineligible, "\(document.head): no picture of \(finding.type.identifier) could be made",
                hint: finding.type == .pdf
                    ? "pdftocairo makes them, if the page is there; it is in poppler-utils"
                    : "thumbnailers make them, such as those of libgdk-pixbuf2.0-bin and ffmpegthumbnailer")
        }
        return Picture(document: document, type: finding.type, image: image, bytes: output)
    }
}

extension PreviewLine {
    fileprivate mutating func show(_ preview: Preview) {
        switch preview {
        case .text(let text):
            (facts.encoding, facts.lines, facts.isCut) = (text.encoding.rawValue, text.lines, text.isCut)
        case .image(let size):
            facts.shownAs = .image
            (facts.pixelWidth, facts.pixelHeight) = (size.width, size.height)
        case .document: facts.shownAs = .document
        case .archive(let listing):
            (facts.shownAs, facts.isCut) = (.archive, listing.isCut)
            facts.members = listing.members.map {
                Member(member: $0.path, kind: $0.kind == .folder ? "tree" : $0.kind.rawValue, size: $0.size)
            }
        case .folder(let folder):
            (facts.shownAs, facts.isCut) = (.folder, folder.isCut)
            tree = folder.entries.map(Row.init)
            facts.members = Self.members(tree)
        }
    }

    /// With whole paths.
    private static func members(_ tree: [Row]) -> [Member] {
        var folders: [String] = []
        return tree.compactMap { row in
            guard case .entry(let level, let name, let kind, let size) = row else { return nil }
            folders.removeLast(max(0, folders.count - level))
            defer { if kind == "tree" { folders.append(name) } }
            return Member(member: (folders + [name]).joined(separator: "/"), kind: kind, size: size)
        }
    }
}

extension PreviewLine.Row {
    fileprivate init(_ entry: FolderTree.Entry) {
        let (kind, size): (String, UInt64?)
        switch entry.kind {
        case .file(let bytes): (kind, size) = ("file", bytes)
        case .folder: (kind, size) = ("tree", nil)
        case .link: (kind, size) = ("link", nil)
        case .other: (kind, size) = ("other", nil)
        case .omitted(let count):
            self = .omitted(level: entry.level, count: count)
            return
        }
        self = .entry(level: entry.level, name: entry.name, kind: kind, size: size)
    }
}

extension LinkParts {
    package init(_ url: URLParts) {
        self.init(url: url.text, scheme: url.scheme.text, path: url.path)
        (user, password, host, port) = (url.user, url.password, url.host, url.port)
        (pathSegments, query, fragment) = (url.pathSegments, url.query, url.fragment)
        queryItems = url.queryItems?.map { QueryItem(name: $0.name, value: $0.value) }
    }
}

/// The programs of the system that show more of a file than Waft reads itself. Each is used only where it is installed.
package struct PreviewPrograms {
    private let waft: Waft

    /// Lines of a picture.
    private static let pictureLines = 24
    private static let pictureColumns = 80

    package init(_ waft: Waft) { self.waft = waft }

    private func program(_ name: String) -> PreviewProgram? {
        var logger = waft.logger
        // A preview without the program is the whole message.
        logger.logLevel = .critical
        return PreviewProgram(
            named: name, searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            scratchFolder: waft.home.run + "/preview", sandbox: waft.settings.requiresSandbox ? .require : .strict,
            forbiddenPlaces: waft.home.handlerCatalog(waft.settings).closed.paths, logger: logger)
    }

    /// Whether a program that shows PDF documents is installed.
    var showDocuments: Bool { program("pdfinfo") != nil || program("pdftotext") != nil }

    private func output(
        of name: String, _ words: [String], _ file: Int32, limit: Int = PreviewProgram.outputBytes
    ) async -> [UInt8]? {
        // The run folder is the parent of their temporary files.
        guard let program = program(name), (try? waft.home.makeFolders()) != nil else { return nil }
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
    /// - Parameter columns: of the terminal.
    package func picture(of file: Int32, columns: Int) async -> [String] {
        let columns = max(1, min(Self.pictureColumns, columns - 2))
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
