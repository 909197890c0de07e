import ContentCheck
import DBusClient
import Desktop
import Foundation
import Glibc
import Handlers
import Inbox
import ItemSources
import Journal
package import Lines
import Previews
import Settings
package import Sharing
import SystemCalls
import UniformTypes

/// The means of the face that calls an operation.
package struct Face: Sendable {
    /// Whether a program that is started here gets a terminal.
    package var givesTerminal = false
    /// Writes what only a terminal understands; nil if the face has none.
    package var terminal: (@Sendable (String) -> Void)?
    /// Its sign for more.
    package var ellipsis = "…"
    /// Tells something beside the result: one line, not escaped.
    package var remark: @Sendable (String) -> Void = { _ in }

    package init() {}

    /// Whether there is a desktop to show windows on.
    package static var hasDisplay: Bool { DesktopSession.hasDisplay() }
}

extension Waft {
    /// The files of this user, and the items of the Inbox, as documents.
    package func documents(_ face: Face = Face()) -> Documents { Documents(self, face) }
}

/// A file, a folder or an item of the Inbox that is shown or handed on.
package struct Document: Sendable {
    /// Its name in the lines about it.
    package let name: DocumentName
    /// The path at which it is read. An item that was moved has another one than its name says.
    package var path: String
    /// The type that it claims: by its name or, of an item, in its offer.
    let declared: UniformType
    let isFolder: Bool
    /// The item of the Inbox; nil for another file.
    let arrival: Arrival?

    /// The number of an item of the Inbox; nil for another file.
    package var number: ArrivalNumber? { arrival?.number }

    var head: String { name.head }

    /// The type of its bytes, as it claims. A received URL is stored as a shortcut.
    var form: UniformType { arrival?.item.kind == .url ? .internetShortcut : declared }

    /// Absolute.
    var url: URL { URL(fileURLWithPath: path, isDirectory: isFolder).standardizedFileURL }

    /// Bytes of a file that is no item; nil for a folder.
    var fileSize: UInt64? {
        var status = stat()
        guard !isFolder, stat(path, &status) == 0 else { return nil }
        return UInt64(max(0, status.st_size))
    }

    /// Opens it for reading.
    /// - Returns: the open file, which the caller closes, and its size in bytes.
    /// - Throws: `WaftError` `inputMissing` if it cannot be read, or is no regular file.
    func open() throws(WaftError) -> (file: Int32, size: UInt64) {
        // Links of the user's own files are followed; an item is never one. Opening a pipe would wait for its other end.
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (arrival == nil ? 0 : O_NOFOLLOW)
        let file = Glibc.open(path, flags)
        guard file >= 0 else { throw WaftError(.inputMissing, "\(head): it cannot be read: \(SystemError.last)") }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw WaftError(.inputMissing, "\(head): it is no file")
        }
        return (file, UInt64(max(0, status.st_size)))
    }
}

/// Documents: their previews, and the actions for them that work here.
package struct Documents: Sendable {
    let waft: Waft
    let face: Face
    let registry: TypeRegistry

    init(_ waft: Waft, _ face: Face) {
        (self.waft, self.face) = (waft, face)
        registry = waft.home.typeRegistry()
    }

    // MARK: Which

    /// - Throws: `WaftError` `inputMissing` if it cannot be read, or is neither a file nor a folder.
    package func file(_ path: String) throws(WaftError) -> Document {
        var status = stat()
        if stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
            throw WaftError(
                .inputMissing, "\(DocumentName(path: path).head): it is neither a file nor a folder")
        }
        do throws(SourceError) {
            let (type, kind) = try ItemSources.look(at: path, registry: registry)
            return Document(
                name: DocumentName(path: path), path: path, declared: type, isFolder: kind == .directory, arrival: nil)
        } catch {
            throw WaftError(error)
        }
    }

    /// The item that was chosen, if it is in the Inbox.
    /// - Parameter reader: as `item`.
    /// - Throws: `WaftError`, as `item`; `inputMissing` for no item.
    package func document(
        of chosen: ChosenItem, for reader: ClearDocument.Reader? = .applications
    ) throws(WaftError) -> Document {
        switch chosen {
        case .item(let entry):
            if let left = entry.leaving { throw WaftError(.inputMissing, "\(entry.head): \(left)") }
            return try item(entry, for: reader, keys: waft.receiver.fileKeys)
        case .unknown(let word): throw WaftError(.inputMissing, Arrivals.unknown(word), hint: "see: waft history")
        }
    }

    /// An item of the Inbox.
    /// - Parameters:
    ///   - reader: the reader of a sealed one, which gets a clear copy; nil to leave it as it is, unreadable.
    ///   - keys: open a sealed one.
    /// - Throws: `WaftError`: `inputMissing` if it is not there; `locked`, `noRoom` for a sealed one.
    func item(
        _ entry: JournalEntry, for reader: ClearDocument.Reader? = .applications, keys: FileKeys
    ) throws(WaftError) -> Document {
        let arrival = entry.arrival
        let name = DocumentName(arrival)
        var status = stat()
        guard entry.departure == nil, lstat(arrival.stored.path, &status) == 0 else {
            throw WaftError(.inputMissing, "\(name.head): it is no longer in the Inbox")
        }
        var document = Document(
            name: name, path: arrival.stored.path, declared: arrival.item.type,
            isFolder: status.st_mode & S_IFMT == S_IFDIR, arrival: arrival)
        if let reader, arrival.protection.isSealed {
            document.path = try ClearDocument.path(of: arrival, for: reader, in: waft, keys: keys)
        }
        return document
    }

    /// Removes the clear copy of a sealed item that this process has.
    package func end(_ document: Document) {
        if let arrival = document.arrival, arrival.protection.isSealed { ClearDocument.end(in: waft.home) }
    }

    // MARK: A look into it

    /// The result of a look into a document. No other program was asked.
    struct Look {
        /// The type of its content.
        var type: UniformType
        /// How the content contradicts the declared type: one line.
        var warning: String?
        /// Whether no program may get it.
        var isLying = false
        /// Whether there is a preview.
        var isShowable = true
        var isText = false
        /// Whether it begins as a `.desktop` file does. Its name does not count.
        var isLauncher = false
    }

    /// - Throws: `WaftError` `inputMissing` if it cannot be read.
    func look(at document: Document) throws(WaftError) -> Look {
        if document.isFolder { return Look(type: document.declared) }
        let (file, size) = try document.open()
        defer { close(file) }
        let finding = finding(in: PreviewSource(descriptor: file, size: size), document)
        var look = Look(
            type: finding.type, warning: warning(finding, document), isLying: finding.verdict.outcome == .lying)
        switch finding.preview {
        case .document: look.isShowable = finding.verdict.outcome == .consistent && PreviewPrograms(waft).showDocuments
        case .text(let text):
            look.isText = text.encoding == .utf8
            let first = text.lines.first { !$0.allSatisfy(\.isWhitespace) && !$0.hasPrefix("#") }
            look.isLauncher = first?.hasPrefix("[Desktop Entry]") == true
        case nil: look.isShowable = false
        default: break
        }
        return look
    }

    func finding(
        in source: PreviewSource, _ document: Document, lines: Int = PreviewBounds.lines
    ) -> PreviewReader.Finding {
        PreviewReader(types: registry, checker: ContentChecker(types: registry)).finding(
            in: source, declared: document.form, isText: document.arrival?.item.kind == .text, lines: lines)
    }

    func warning(_ finding: PreviewReader.Finding, _ document: Document) -> String? {
        guard finding.verdict.outcome != .consistent else { return nil }
        return "\(document.head): "
            + finding.verdict.line(declared: document.form, finding.words, registry)
    }

    // MARK: Actions

    /// The actions that work here.
    /// - Parameter check: only this one; nil for all.
    /// - Throws: `WaftError` `ineligible` if it does not work, or none does.
    package func options(for document: Document, check: DocumentAction? = nil) throws(WaftError) -> [OptionLine] {
        let look = try look(at: document)
        let possible = DocumentAction.allCases.filter { isPossible($0, document, look) }
        let wanted = check.map { check in possible.filter { $0 == check } } ?? possible
        guard !wanted.isEmpty else {
            throw WaftError(
                .ineligible,
                "\(document.head): "
                    + (check.map { "\($0.rawValue) is not possible here" } ?? "nothing can be done with it here"))
        }
        return wanted.map {
            OptionLine(document.name, type: look.type.identifier, action: $0, warning: look.warning)
        }
    }

    private func isPossible(_ action: DocumentAction, _ document: Document, _ look: Look) -> Bool {
        switch action {
        case .preview: look.isShowable
        case .open: objection(to: document, look) == nil && DesktopSession.hasDisplay() && SystemOpener() != nil
        case .openIn: objection(to: document, look) == nil && !programs(for: document, look).isEmpty
        case .copy: Clipboard(face).takes(copied(document, look))
        case .showInFolder: ApplicationChooser.bus != nil
        case .take, .remove: document.arrival != nil
        }
    }

    /// The rule for documents that are handed to the desktop: none that lies about its content, and none that the desktop
    /// would run.
    /// - Returns: one line; nil if it may be handed on.
    func objection(to document: Document, _ look: Look) -> String? {
        if look.isLying, let warning = look.warning { return warning }
        if let content = document.arrival?.content, content.outcome == .lying {
            return "\(document.head): \(ShownText.line(content.explanation, limit: 200))"
        }
        let types = [document.declared, look.type]
        guard look.isLauncher || RunByOpening.includes(types, name: document.path, registry) else { return nil }
        let what = look.isLauncher ? "a launcher" : look.type.identifier
        return "\(document.head): the desktop would run it instead of showing it: \(what)"
    }

    /// - Throws: `WaftError` `ineligible` if the desktop may not get it.
    func check(_ document: Document, _ look: Look) throws(WaftError) {
        if let objection = objection(to: document, look) {
            throw WaftError(.ineligible, objection, hint: "to open it all the same: --anyway")
        }
    }

    /// Copies a text or an image to the clipboard as data, all else as the place of the file.
    /// - Throws: `WaftError` `ineligible` if no clipboard takes it, `unexpected` if its program fails.
    package func copy(_ document: Document) async throws(WaftError) {
        try await Clipboard(face).copy(copied(document, try look(at: document)))
    }

    private func copied(_ document: Document, _ look: Look) -> Clipboard.Content {
        let mimeType =
            look.isText ? Clipboard.Content.text : look.warning == nil ? Clipboard.Content.images[look.type] : nil
        if let mimeType, let bytes = bytes(of: document) {
            return Clipboard.Content(mimeType: mimeType, bytes: bytes)
        }
        let url = URL(fileURLWithPath: document.path, isDirectory: document.isFolder).absoluteString
        return Clipboard.Content(mimeType: Clipboard.Content.places, bytes: Array((url + "\r\n").utf8))
    }

    /// - Returns: nil for a folder, a large file, and one that cannot be read.
    private func bytes(of document: Document) -> [UInt8]? {
        guard !document.isFolder, let (file, size) = try? document.open() else { return nil }
        defer { close(file) }
        guard size <= Clipboard.Content.dataBytes else { return nil }
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            while count < buffer.count {
                let more = pread(file, buffer.baseAddress! + count, buffer.count - count, off_t(count))
                if more < 0, errno == EINTR { continue }
                failed = failed || more < 0
                guard more > 0 else { return }
                count += more
            }
        }
        return failed ? nil : bytes
    }

    /// Shows it in the file manager.
    /// - Throws: `WaftError` `ineligible` if no file manager does.
    package func showInFolder(_ document: Document) async throws(WaftError) -> DocumentOpenedLine {
        do throws(BusError) {
            try await FileManagerWindow.show([document.url.path])
        } catch {
            throw WaftError(
                .ineligible, "\(document.head): no file manager shows it: \(ShownText.line("\(error)", limit: 400))",
                hint: "it is at \(document.path)")
        }
        return DocumentOpenedLine(document.name, said: "shown in its folder")
    }

    /// Opens it by `xdg-open`.
    /// - Parameter anyway: also a document that lies about its content, or that the desktop would run.
    /// - Throws: `WaftError`: `ineligible` if it may not be opened, or without a display; `handlerSaidNo`.
    package func openOnDesktop(_ document: Document, anyway: Bool = false) async throws(WaftError) -> DocumentOpenedLine
    {
        if !anyway { try check(document, try look(at: document)) }
        guard DesktopSession.hasDisplay() else {
            throw WaftError(
                .ineligible, "\(document.head): there is no desktop here: DISPLAY and WAYLAND_DISPLAY are not set")
        }
        guard let opener = SystemOpener(inheritsAll: true) else {
            throw WaftError(.unexpected, "xdg-open is missing; install xdg-utils")
        }
        let url = URL(fileURLWithPath: document.path, isDirectory: document.isFolder).absoluteString
        let outcome = await opener.open(try LinkOpening.parts(url))
        let said = ShownText.line(outcome.reason, limit: 400)
        guard outcome.answer == .yes else { throw WaftError(.handlerSaidNo, "\(document.head): \(said)") }
        return DocumentOpenedLine(document.name, said: said)
    }
}

extension WaftError {
    /// An item cannot leave the Inbox, or cannot be copied out of it.
    init(_ fault: LeavingError) {
        let code: WaftExit =
            switch fault.code {
            case .gone, .noDestination: .inputMissing
            case .locked: .locked
            case .different, .mismatch: .contentChanged
            case .destination, .nameTaken: .usage
            case .noRoom: .noRoom
            case .disk: .unexpected
            }
        self.init(code, fault.message, hint: code == .locked ? Self.unlockHint : nil)
    }
}
