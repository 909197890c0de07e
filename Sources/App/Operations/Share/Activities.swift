import Desktop
import Foundation
import HandlerCatalog
import Handlers
package import Lines
import Settings
import Sharing
import UniformTypes

/// Something that can be done with shared items.
package struct Activity: Sendable {
    /// What it is.
    package enum Kind: Sendable {
        /// The face sends the items, now or when the peer is reachable.
        case send, queue
        /// The face shows the documents, or asks for the program to open them in.
        case preview, openIn
        case mail, copy, print, saveImage
        /// A handler brings it.
        case handler
    }

    package let kind: Kind
    /// Its type, such as `org.waft.activity.copy`.
    package let type: String
    /// For people; one line, not escaped.
    package let title: String
    package let category: ActivityCategory
    /// Of a handler.
    fileprivate let bundle: HandlerBundle?
    fileprivate let activity: HandlerActivity?

    private init(_ kind: Kind, _ name: String, _ title: String, _ category: ActivityCategory) {
        (self.kind, type, self.title, self.category) = (kind, "org.waft.activity." + name, title, category)
        (bundle, activity) = (nil, nil)
    }

    fileprivate init(_ bundle: HandlerBundle, _ activity: HandlerActivity) {
        (kind, type, self.bundle, self.activity) = (.handler, activity.type, bundle, activity)
        title = "\(bundle.localized(activity.title) ?? activity.title) (\(bundle.shownName))"
        category = activity.category == .share ? .share : .action
    }

    package static let airdrop = Activity(.send, "airdrop", "Send", .share)
    package static let queue = Activity(.queue, "queue", "Send Later", .share)
    package static let openIn = Activity(.openIn, "open-in", "Open in", .action)

    /// Those that Waft brings.
    fileprivate static func own(_ face: Face) -> [Activity] {
        [
            airdrop, queue, Activity(.mail, "mail", "Mail", .share), Activity(.copy, "copy", "Copy", .action),
            Activity(.print, "print", "Print", .action),
            Activity(.saveImage, "save-image", "Save to Pictures", .action),
            Activity(.openIn, "open-in", openIn.title + face.ellipsis, .action),
            Activity(.preview, "preview", "Preview", .action),
        ]
    }
}

extension Waft {
    /// The activities for shared items.
    /// - Parameter excluded: the types that the user leaves out now.
    /// - Throws: `WaftError` `usage` for a type that there is not.
    package func activities(_ face: Face = Face(), excluding excluded: [String] = []) throws(WaftError) -> Activities {
        try Activities(self, face, excluded)
    }
}

/// All activities that this machine has, in the order of the sheet.
package struct Activities: Sendable {
    /// An activity that was done.
    package struct End: Sendable {
        /// Lines about it, which are not escaped.
        package var said: [String]
        /// Absolute paths of items that it has made.
        package var returnedItems: [String] = []
    }

    package let all: [Activity]
    /// The excluded types of the settings that no activity has at the moment: a setting outlives the handler that it names.
    package let unknownExclusions: [String]
    private let excluded: Set<String>
    private let waft: Waft
    private let documents: Documents
    private let registry: TypeRegistry

    fileprivate init(_ waft: Waft, _ face: Face, _ excluded: [String]) throws(WaftError) {
        (self.waft, documents) = (waft, waft.documents(face))
        var catalog = waft.home.handlerCatalog(waft.settings)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        let handlers = catalog.load()
        registry = handlers.registry
        let all = Activity.own(face) + handlers.activities.map { Activity($0, $1) }
        let settings = waft.settings.excludedActivities
        unknownExclusions = settings.filter { type in !all.contains { $0.type == type } }
        self.all = all
        self.excluded = Set(excluded + settings)
        for type in excluded { _ = try find(type) }
    }

    private func find(_ type: String) throws(WaftError) -> Activity {
        guard let activity = all.first(where: { $0.type == type }) else {
            throw WaftError(
                .usage, "there is no activity \(ShownText.line(type, limit: 200))",
                hint: "there are: \(all.map(\.type).joined(separator: ", "))")
        }
        return activity
    }

    /// Whether peers are offered.
    package var hasPeers: Bool { !excluded.contains(Activity.airdrop.type) }

    /// - Parameter type: as the user wrote it.
    /// - Throws: `WaftError` `usage` if there is none, or it is excluded.
    package func activity(_ type: String) throws(WaftError) -> Activity {
        let activity = try find(type)
        guard !excluded.contains(type) else {
            throw WaftError(.usage, "\(ShownText.line(type, limit: 200)) is excluded")
        }
        return activity
    }

    /// The activities for some items, except for sending, which the peers stand for.
    /// - Parameter all: also those that are not possible now, with the reason.
    package func lines(for items: ShareItems, all: Bool = false) async -> [ActivityLine] {
        var lines: [ActivityLine] = []
        for activity in self.all where activity.kind != .send {
            let obstacle =
                excluded.contains(activity.type) ? "it is excluded" : await obstacle(to: activity, items)
            guard all || obstacle == nil else { continue }
            lines.append(
                ActivityLine(
                    type: activity.type, title: activity.title, category: activity.category, reason: obstacle))
        }
        return lines
    }

    // MARK: Doing one

    /// Checks that an activity is possible.
    /// - Throws: `WaftError` `ineligible`.
    package func check(_ activity: Activity, _ items: ShareItems) async throws(WaftError) {
        if let obstacle = await obstacle(to: activity, items) {
            throw WaftError(.ineligible, "\(items.title): \(activity.title): \(obstacle)")
        }
    }

    /// Does an activity that no face has to do.
    /// - Throws: `WaftError`; `interrupted` when the task is cancelled, and the handler has been ended.
    package func perform(_ activity: Activity, _ items: ShareItems) async throws(WaftError) -> End {
        let spool = ShareSpool(in: waft.home.run + "/share")
        switch activity.kind {
        case .mail: return try await mail(items, spool)
        case .copy:
            guard let mimeType = mimeType(items) else { return End(said: []) }
            try await Clipboard(documents.face).copy(
                Clipboard.Content(mimeType: mimeType, bytes: try bytes(of: items, mimeType)))
            return End(said: ["\(items.title): copied"])
        case .print:
            guard let program = SystemProgram("lp") else { throw WaftError(.ineligible, "lp is missing") }
            let files = try ShareItems.files(items.items, in: spool)
            let said = try await program.run(["-t", items.title, "--"] + files)
            return End(said: ["\(items.title): " + (said.isEmpty ? "sent to the printer" : said)])
        case .saveImage:
            guard let path = PicturesFolder.path else {
                throw WaftError(.ineligible, "the folder for pictures is not known")
            }
            let folder = try PicturesFolder(path)
            var end = End(said: [])
            for item in items.items {
                let saved = try folder.save(item)
                end.said.append("\(item.offered.name.text): saved as \(saved)")
                end.returnedItems.append(saved)
            }
            return end
        case .handler: return try await performByHandler(activity, items, spool)
        case .send, .queue, .preview, .openIn: return End(said: [])
        }
    }

    /// - Returns: why it cannot be done with these items here: a clause. Nil if it can be done.
    private func obstacle(to activity: Activity, _ items: ShareItems) async -> String? {
        let all = items.items
        switch activity.kind {
        case .send, .queue: return nil
        case .mail:
            guard all.allSatisfy({ $0.offered.kind != .tree }) else { return "a folder cannot be attached" }
            guard SystemProgram("xdg-email") != nil else { return "xdg-email is missing; install xdg-utils" }
            return DesktopSession.hasDisplay() ? nil : "there is no desktop here"
        case .copy:
            guard let mimeType = mimeType(items) else { return "the clipboard takes texts, one image, or files" }
            let size = all.reduce(0) { $0 + Int(clamping: $1.offered.size ?? 0) }
            return Clipboard(documents.face).takes(mimeType, bytes: size)
                ? nil : "there is no clipboard here for \(mimeType)"
        case .print:
            let fits = all.allSatisfy { item in
                item.offered.kind != .tree && item.offered.kind != .url
                    && conforms(item, to: [.pdf, .image, .text])
            }
            guard fits else { return "PDF documents, images and texts are printed" }
            return SystemProgram("lp") == nil ? "lp is missing; install cups-client" : nil
        case .saveImage:
            let fits = all.allSatisfy { $0.offered.kind == .file && conforms($0, to: [.image, .movie]) }
            guard fits else { return "images and films are saved there" }
            for path in all.compactMap(\.path) {
                guard let document = try? documents.file(path), let look = try? documents.look(at: document),
                    !look.isLying
                else { return "it is not what it claims to be: see waft preview" }
            }
            return PicturesFolder.path == nil ? "the folder for pictures is not known" : nil
        case .openIn:
            guard all.count == 1, let path = all[0].path else { return "it takes one file or folder" }
            guard let document = try? documents.file(path) else { return "it cannot be read" }
            guard let list = try? documents.programs(for: document) else {
                return "it is not what it claims to be, or would be run"
            }
            return list.isEmpty ? list.nothing.hint ?? "nothing here opens it" : nil
        case .preview:
            // The contents of others would be made for a look.
            return all.allSatisfy { $0.path != nil } ? nil : "files and folders are shown"
        case .handler: return await obstacleToHandler(activity, items)
        }
    }

    private func conforms(_ item: ShareItems.Item, to types: [UniformType]) -> Bool {
        types.contains { TypeRegistry.system.conforms(item.offered.type, to: $0) }
    }

    // MARK: Mail and the clipboard

    /// Puts the items into a new message of the user's mail program, by `xdg-email`.
    private func mail(_ items: ShareItems, _ spool: ShareSpool) async throws(WaftError) -> End {
        guard let program = SystemProgram("xdg-email") else { throw WaftError(.ineligible, "xdg-email is missing") }
        // A value in its own word: `xdg-email` takes no word that begins with a hyphen for one.
        func value(_ text: String) -> String { text.hasPrefix("-") ? " " + text : text }
        var words = ["--utf8", "--subject", value(items.subject ?? items.givenSubject ?? items.title)]
        let texts = try items.items.filter(\.isWords).map { item throws(WaftError) in try item.words() }
        if !texts.isEmpty { words += ["--body", value(texts.joined(separator: "\n"))] }
        let files = try ShareItems.files(items.items.filter { !$0.isWords }, in: spool)
        // The mail program reads the attachments later.
        if !files.isEmpty { spool.keep() }
        for file in files { words += ["--attach", file] }
        try await program.handOver(words)
        return End(said: ["\(items.title): handed to the mail program"])
    }

    /// A text, URLs or one image are copied as data, and files as a list.
    /// - Returns: nil if the items have no common form.
    private func mimeType(_ items: ShareItems) -> String? {
        if items.items.allSatisfy(\.isWords) { return Clipboard.Content.text }
        if items.items.count == 1, let image = Clipboard.Content.images[items.items[0].offered.type] { return image }
        return items.items.allSatisfy { $0.path != nil } ? Clipboard.Content.places : nil
    }

    private func bytes(of items: ShareItems, _ mimeType: String) throws(WaftError) -> [UInt8] {
        switch mimeType {
        case Clipboard.Content.text:
            Array(try items.items.map { item throws(WaftError) in try item.words() }.joined(separator: "\n").utf8)
        case Clipboard.Content.places:
            Array(
                items.items.compactMap(\.path).map { URL(fileURLWithPath: $0).absoluteString + "\r\n" }.joined().utf8)
        default: try items.items[0].data(limit: Clipboard.Content.dataBytes)
        }
    }

    // MARK: Handlers

    private func obstacleToHandler(_ activity: Activity, _ items: ShareItems) async -> String? {
        guard let called = activity.activity else { return nil }
        let types = items.items.map(\.offered.type)
        if let other = types.first(where: { !called.takes([$0], registry) }) {
            return "it takes \(called.itemTypes.map(\.identifier).joined(separator: ", ")), and not \(other)"
        }
        guard called.takes(types, registry) else {
            return called.maximumItems == 1
                ? "it takes 1 item" : "it takes at most \(called.maximumItems ?? 0) items"
        }
        guard called.isAsked else { return nil }
        guard let program = try? program(of: activity, items) else { return "its handler cannot be started" }
        let facts = items.items.map { Self.facts($0, file: $0.path) }
        return await program.can(activity.type, facts) ? nil : "its handler says that it cannot do it now"
    }

    /// Lines of a handler's output that are shown.
    private static let shownLines = 10

    private func performByHandler(
        _ activity: Activity, _ items: ShareItems, _ spool: ShareSpool
    ) async throws(WaftError) -> End {
        let files = try ShareItems.files(items.items, in: spool)
        let program = try program(of: activity, items, copies: spool.folder)
        let facts = zip(items.items, files).map { Self.facts($0, file: $1) }
        let end: ActivityProgram.End
        do throws(CancellationError) {
            end = try await program.perform(activity.type, facts)
        } catch {
            throw WaftError(.interrupted, "cancelled; the handler was ended")
        }
        if let remark = end.remark { documents.face.remark(remark) }
        guard end.outcome.answer == .yes else {
            let words =
                switch end.outcome.answer {
                case .no: "said no"
                case .later: "does not do it now"
                default: "failed"
                }
            let reason = end.outcome.reason.isEmpty ? "" : ": \(end.outcome.reason)"
            throw WaftError(
                .handlerSaidNo, "\(items.title): \(activity.bundle?.shownName ?? "") \(words)\(reason)",
                others: end.outcome.standardError.split(whereSeparator: \.isNewline).suffix(Self.shownLines)
                    .map { ShownText.line(String($0), limit: 200) })
        }
        return End(
            said: ["\(items.title): \(activity.title): done"] + end.returnedItems.map { "  \($0)" },
            returnedItems: end.returnedItems)
    }

    private static func facts(_ item: ShareItems.Item, file: String?) -> SharedFacts {
        SharedFacts(
            file: file, name: item.offered.name.text, type: item.offered.type, kind: item.offered.kind,
            size: item.offered.size)
    }

    private func program(
        of activity: Activity, _ items: ShareItems, copies: String? = nil
    ) throws(WaftError) -> ActivityProgram {
        let settings = waft.settings
        let program = activity.bundle.flatMap {
            HandlerProgram(
                bundle: $0, defaultTimeLimit: settings.hookTimeout, requiresSandbox: settings.requiresSandbox)
        }
        guard let program else {
            throw WaftError(
                .unexpected, "\(ShownText.line(activity.bundle?.shownName ?? "", limit: 200)) has no program")
        }
        return ActivityProgram(
            program, runner: try waft.handlerRunner(), files: items.items.compactMap(\.path), copies: copies)
    }
}
