import ContentCheck
import Glibc
import HandlerCatalog
import Lines
import Previews
import PropertyLists
import Settings
import Sharing
import UniformTypes

/// Shows previews: reads the file, asks other programs where they may see it, and prints.
struct Previewing {
    let registry: TypeRegistry
    let context: CommandContext
    private let reader: PreviewReader
    private let lines: Int
    let json: Bool

    /// - Parameter lines: maximum number of lines of a text.
    init(_ context: CommandContext, lines: Int, json: Bool) {
        (self.context, self.lines, self.json) = (context, lines, json)
        registry = context.home.typeRegistry()
        reader = PreviewReader(types: registry, checker: ContentChecker(types: registry))
    }

    /// Prints the preview of a file, a folder or an item.
    ///
    /// - Throws: `CommandError` `ineligible` if there is nothing to show, `inputMissing` if it cannot be read.
    func show(_ subject: DocumentSubject) async throws(CommandError) {
        let preview = try await preview(of: subject)
        if json { return EventLine.preview(PreviewFields(preview)).print() }
        for line in preview.text { Console.shared.result(line) }
    }

    private func preview(of subject: DocumentSubject) async throws(CommandError) -> DocumentPreview {
        if subject.isFolder {
            guard let tree = FolderTree(path: subject.path) else {
                throw CommandError(.inputMissing, "\(subject.head): the folder cannot be read")
            }
            return DocumentPreview(subject: subject, type: subject.declared, shown: .folder(tree))
        }
        let (file, size) = try subject.open()
        defer { close(file) }
        let source = PreviewSource(descriptor: file, size: size)
        let finding = finding(in: source, subject)
        var preview = DocumentPreview(subject: subject, type: finding.type, size: size)
        preview.verdict = finding.verdict
        preview.warning = warning(finding, subject)
        preview.shown = await shown(finding, source, file, subject)
        switch preview.shown {
        case nil: throw nothing(preview)
        // The contents look like any property list: only the declared type says that this is a link.
        case .link: preview.type = subject.declared
        default: break
        }
        return preview
    }

    /// Looks into a document without asking any other program, and without printing.
    ///
    /// - Throws: `CommandError` `inputMissing` if it cannot be read.
    func look(at subject: DocumentSubject) throws(CommandError) -> DocumentLook {
        if subject.isFolder {
            return DocumentLook(
                type: subject.declared, warning: nil, isLying: false, isShowable: true, isText: false,
                isLauncher: false)
        }
        let (file, size) = try subject.open()
        defer { close(file) }
        let finding = finding(in: PreviewSource(descriptor: file, size: size), subject)
        let isBelieved = finding.verdict.outcome == .consistent
        let (isShowable, isText) =
            switch finding.preview {
            case .document: (isBelieved && PreviewPrograms(context).showDocuments, false)
            case .text(let text): (true, text.encoding == .utf8)
            case nil: (false, false)
            default: (true, false)
            }
        return DocumentLook(
            type: finding.type, warning: warning(finding, subject), isLying: finding.verdict.outcome == .lying,
            isShowable: isShowable, isText: isText, isLauncher: Self.isLauncher(finding))
    }

    private static func isLauncher(_ finding: PreviewReader.Finding) -> Bool {
        guard case .text(let text)? = finding.preview else { return false }
        let first = text.lines.first { !$0.allSatisfy(\.isWhitespace) && !$0.hasPrefix("#") }
        return first?.hasPrefix("[Desktop Entry]") == true
    }

    func finding(in source: PreviewSource, _ subject: DocumentSubject) -> PreviewReader.Finding {
        reader.finding(
            in: source, declared: subject.form, isText: subject.arrival?.item.kind == .text, lines: lines)
    }

    private func warning(_ finding: PreviewReader.Finding, _ subject: DocumentSubject) -> String? {
        guard finding.verdict.outcome != .consistent else { return nil }
        let words = ContentWords.line(declared: subject.form, finding.words, finding.verdict, registry)
        return "\(subject.head): \(words)"
    }

    private func nothing(_ preview: DocumentPreview) -> CommandError {
        if !json, let warning = preview.warning { Console.shared.result(warning) }
        let isDocument = preview.type == .pdf && preview.warning == nil
        return CommandError(
            .ineligible,
            "\(preview.subject.head): there is no preview of \(TerminalText.escaped(preview.type.identifier))",
            hint: isDocument ? "pdfinfo and pdftotext show PDF documents; install poppler-utils" : nil,
            others: json ? [preview.warning].compactMap(\.self) : [])
    }

    private func shown(
        _ finding: PreviewReader.Finding, _ source: PreviewSource, _ file: Int32, _ subject: DocumentSubject
    ) async -> DocumentPreview.Shown? {
        let isBelieved = finding.verdict.outcome == .consistent
        // A property list says nothing about the kind of its contents: the declared type does.
        let type = isBelieved ? subject.form : finding.type
        if let url = DocumentLink(file, type, registry)?.url { return .link(url) }
        // A mislabelled file may be made for the program that would show it.
        let programs = isBelieved ? PreviewPrograms(context) : nil
        switch finding.preview {
        case .text(let text): return .text(text)
        case .archive(let listing): return .archive(listing)
        case .folder(let tree): return .folder(tree)
        case .image(let size):
            let draws = !json && isatty(STDOUT_FILENO) == 1 && size.isDrawable
            return .image(size, picture: draws ? await programs?.picture(of: file) ?? [] : [])
        case .document:
            guard let programs else { return nil }
            let pages = await programs.pages(of: file)
            let text = await programs.firstPage(of: file, lines: lines)
            return pages == nil && text == nil ? nil : .document(pages: pages, text: text ?? [])
        case nil: return nil
        }
    }
}
