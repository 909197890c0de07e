import Glibc
import Lines
import Operations
import Sharing

extension Face {
    /// The terminal of this command.
    static var here: Face {
        var face = Face()
        face.givesTerminal = LineReader.isTerminal
        if isatty(STDOUT_FILENO) == 1 { face.terminal = { Console.shared.result($0) } }
        face.ellipsis = Glyph.ellipsis
        face.remark = { Console.shared.note("waft: \(TerminalText.escaped($0, limit: 1_000))") }
        return face
    }
}

extension CommandContext {
    var documents: Documents { waft.documents(.here) }
}

extension Documents {
    /// The item of the Inbox that a word means, or that was selected.
    /// - Parameter reader: as for an entry of the journal.
    func item(
        _ chosen: ChosenItem, for reader: ClearDocument.Reader? = .applications
    ) async throws(CommandError) -> Document {
        try await CommandError.catching { () throws(WaftError) in try document(of: chosen, for: reader) }
    }

    /// Prints the preview of a document.
    func show(
        _ document: Document, lines: Int = ShownLines.standard, _ output: OutputOptions
    ) async throws(CommandError) {
        let columns = !output.json && isatty(STDOUT_FILENO) == 1 ? Console.shared.width : nil
        do throws(WaftError) {
            output.show(try await preview(of: document, lines: lines, columns: columns))
        } catch {
            let failure = CommandError(error)
            if output.json { throw failure }
            // The warning about its content is a result.
            for line in failure.others { Console.shared.result(line) }
            throw CommandError(failure.exit, failure.message, hint: failure.hint)
        }
    }
}

/// The preview of a document in lines for people.
extension PreviewLine: WordedLine {
    /// The warning, the facts in a line, and the contents below it, indented: no line of a document can be taken for a
    /// line of Waft.
    var words: [String] {
        let facts =
            [TerminalText.escaped(facts.type)] + [facts.size.map(ByteCount.text)].compactMap(\.self) + formFacts
        let head = "\(document.head): \(facts.joined(separator: ", "))"
        return [warning.map { TerminalText.escaped($0, limit: 1_000) }].compactMap(\.self) + [head]
            + contents.map { $0.isEmpty ? "" : "  \($0)" }
    }

    private var formFacts: [String] {
        let names = facts.members?.count ?? 0
        switch facts.shownAs {
        case .text: return [facts.lines?.isEmpty == true ? "empty" : facts.encoding ?? ""]
        case .image: return ["\(facts.pixelWidth ?? 0) x \(facts.pixelHeight ?? 0) pixels"]
        case .document: return facts.pageCount.map { [$0 == 1 ? "1 page" : "\($0) pages"] } ?? []
        case .archive where facts.isCut == true: return ["the first \(names) names"]
        case .archive: return [names == 1 ? "1 name" : "\(names) names"]
        case .folder: return tree.isEmpty ? ["empty"] : []
        case .link: return []
        }
    }

    private var contents: [String] {
        let more = facts.isCut == true ? [Glyph.ellipsis] : []
        return switch facts.shownAs {
        case .text: (facts.lines ?? []).map(Self.line) + more
        case .image: drawing
        case .document: (facts.lines ?? []).map(Self.line)
        case .archive: (facts.members ?? []).map(Self.line) + more
        case .folder: tree.map(Self.line)
        case .link: facts.urlParts.map(Self.lines) ?? []
        }
    }

    // MARK: Lines, escaped

    /// Characters of a line that are shown.
    private static let width = 500
    private static let tabStop = 8

    private static func line(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        var column = 0
        for scalar in text.unicodeScalars {
            guard column < width else { return ShownText.escaped(String(shown)) + Glyph.ellipsis }
            let spaces = scalar == "\t" ? tabStop - column % tabStop : 0
            if spaces > 0 {
                shown.append(contentsOf: repeatElement(" ", count: spaces))
            } else {
                shown.append(scalar)
            }
            column += max(1, spaces)
        }
        return ShownText.escaped(String(shown))
    }

    private static func line(_ member: Member) -> String {
        let kind = member.kind == "tree" ? "folder" : member.kind
        let size = member.size.map(ByteCount.text) ?? (kind == "file" ? "" : kind)
        return row(size, TerminalText.escaped(member.member, limit: width))
    }

    private static func line(_ row: Row) -> String {
        switch row {
        case .entry(let level, let name, let kind, let size):
            let name = String(repeating: "  ", count: level) + TerminalText.escaped(name, limit: width)
            return kind == "tree" ? self.row("", name + "/") : self.row(size.map(ByteCount.text) ?? kind, name)
        case .omitted(let level, let count):
            return self.row("", String(repeating: "  ", count: level) + "\(Glyph.ellipsis) \(count) more")
        }
    }

    private static func row(_ size: String, _ name: String) -> String {
        String(repeating: " ", count: max(0, 10 - size.count)) + size + "  " + name
    }

    private static func lines(_ url: LinkParts) -> [String] {
        let parts: [(String, String?)] = [
            ("url", url.url), ("scheme", url.scheme), ("user", url.user), ("password", url.password),
            ("host", url.host), ("port", url.port.map { String($0) }), ("path", url.path.isEmpty ? nil : url.path),
            ("query", url.query), ("fragment", url.fragment),
        ]
        return parts.compactMap { name, value in
            value.map { name + String(repeating: " ", count: 10 - name.count) + TerminalText.escaped($0, limit: 1_000) }
        }
    }
}

extension PictureLine: WordedLine {
    var words: [String] {
        [
            "\(document.head): \(facts.mediaType), \(facts.pixelWidth) by \(facts.pixelHeight) pixels, "
                + ByteCount.text(size),
            "  written to \(TerminalText.escaped(facts.picture, limit: 4_096))",
        ]
    }
}

extension DocumentOpenedLine: WordedLine {
    var words: [String] { ["\(document.head): \(said)"] }
}

extension OpenInLine {
    /// The kind of the program.
    var kind: String {
        if let opens { return "handler, opens \(TerminalText.escaped(opens))" }
        return "application" + (facts.isDefault == true ? ", the default" : "")
            + (runsInTerminal ? ", in this terminal" : "")
    }

    /// The list of the programs.
    static func list(_ lines: [OpenInLine]) -> [String] {
        guard let first = lines.first else { return [] }
        let names = lines.map { TerminalText.escaped($0.facts.program, limit: 40) }
        let width = max(14, (names.map(\.columns).max() ?? 0) + 2)
        let name = first.document.stored ?? first.document.path
        return ["\(TerminalText.escaped(name, limit: 1_000))  \(TerminalText.escaped(first.facts.type))"]
            + zip(lines, names).map { line, name in
                "  \(line.facts.place)  \(name.padded(to: width))\(line.kind)"
            }
    }
}
