package import Contacts
import HandlerCatalog
import Lines
import Settings
import Sharing
import UniformTypes

/// What a contact may send without a question, and where it goes: changes for one contact or many.
package struct ContactTerms: Sendable {
    package typealias Answer = PolicyAction

    /// A term that people type.
    package enum Term: Sendable {
        /// How long acceptance lasts, such as `30d`; `ever`: without end.
        case until
        /// How long it stays a contact, such as `30d`; `ever`: without end.
        case ends
        /// Types with all that conform to them; `any`.
        case types
        /// Such as `5GB`; `any`. In one offer, and in 24 hours.
        case sizeAtMost, sizePerDay
        /// A number of items; `any`.
        case itemsAtMost
        /// Such as `08:00-18:00`; `any`.
        case hours
        /// A name or an identifier; empty for none.
        case handler
        /// Below the Inbox; empty for the Inbox itself.
        case folder
        /// `ProtectionClass`; `usual`.
        case protection
    }

    private var changes: [@Sendable (inout Contact) -> Void] = []
    /// Whether items are to be sealed.
    private(set) var isSealed = false

    /// - Parameter policy: what to do with offers; nil changes nothing.
    package init(policy: Answer? = nil) {
        if let policy { changes.append { $0.policy = policy } }
    }

    func apply(to contact: inout Contact) {
        for change in changes { change(&contact) }
    }

    /// Adds a term. Blocks on the disk for types and handlers.
    /// - Parameter texts: one; several for types.
    /// - Throws: `WaftError`: `usage` for a text that cannot be used, `inputMissing` for a handler that is not there.
    package mutating func read(_ term: Term, _ texts: [String], on waft: Waft) throws(WaftError) {
        let text = texts.first ?? ""
        switch term {
        case .until:
            let until = text == "ever" ? nil : try Self.end(text, waft.now())
            changes.append { $0.limits.until = until }
        case .ends:
            let ends = text == "ever" ? nil : try Self.end(text, waft.now())
            changes.append { $0.ends = ends }
        case .types:
            let types = texts == ["any"] ? [] : try Self.types(texts, waft)
            changes.append { $0.limits.types = types }
        case .sizeAtMost:
            let size = try Self.size(text)
            changes.append { $0.limits.largestOffer = size }
        case .sizePerDay:
            let size = try Self.size(text)
            changes.append { $0.limits.sizePerDay = size }
        case .itemsAtMost:
            let count = text == "any" ? nil : try Self.count(text)
            changes.append { $0.limits.maximumItems = count }
        case .hours:
            let hours =
                text == "any" ? nil : try AddressBook.doing { () throws(ContactError) in try TimeWindow(text) }
            changes.append { $0.limits.times = hours }
        case .handler:
            let handler = text.isEmpty ? nil : try Self.handler(text, waft)
            redirect { try Destination(handler: handler, folder: $0.folder, protection: $0.protection) }
        case .folder:
            let folder = text.isEmpty ? nil : try Self.folder(text)
            redirect { try Destination(handler: $0.handler, folder: folder, protection: $0.protection) }
        case .protection:
            let protection = text == "usual" ? nil : try Self.protection(text)
            isSealed = protection?.isSealed ?? false
            redirect { try Destination(handler: $0.handler, folder: $0.folder, protection: protection) }
        }
    }

    private mutating func redirect(_ change: @escaping @Sendable (Destination) throws -> Destination) {
        changes.append { contact in
            // The parts were read before, so that this cannot fail.
            if let destination = try? change(contact.destination) { contact.destination = destination }
        }
    }

    private static func end(_ text: String, _ now: WallTime) throws(WaftError) -> WallTime {
        // At most some years from now.
        let (sum, overflow) = now.milliseconds.addingReportingOverflow(try duration(text).components.seconds * 1_000)
        guard !overflow else { throw WaftError(.usage, "this machine's clock is wrong") }
        return WallTime(milliseconds: sum)
    }

    /// Reads `90s`, `10m`, `2h`, `30d`.
    /// - Throws: `WaftError` `usage`.
    package static func duration(_ text: String) throws(WaftError) -> Duration {
        try AddressBook.doing { () throws(ContactError) in try DurationText.read(text) }
    }

    private static func types(_ texts: [String], _ waft: Waft) throws(WaftError) -> [UniformType] {
        guard texts.count <= ContactBounds.types else {
            throw WaftError(.usage, "at most \(ContactBounds.types) types, not \(texts.count)")
        }
        let registry = waft.home.typeRegistry()
        var read: [UniformType] = []
        for text in texts {
            do throws(CatalogError) {
                let type = try registry.type(named: text)
                if !read.contains(type) { read.append(type) }
            } catch {
                throw WaftError(.usage, ShownText.line(error.description, limit: 400))
            }
        }
        return read
    }

    private static func size(_ text: String) throws(WaftError) -> UInt64? {
        text == "any" ? nil : try AddressBook.doing { () throws(ContactError) in try ByteCountText.read(text) }
    }

    private static func count(_ text: String) throws(WaftError) -> Int {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text),
            (1...Limits.items).contains(count)
        else {
            throw WaftError(
                .usage, "\"\(ShownText.line(text, limit: 64))\" is not a number from 1 to \(Limits.items)")
        }
        return count
    }

    private static func handler(_ text: String, _ waft: Waft) throws(WaftError) -> String {
        let destination = try AddressBook.doing { () throws(ContactError) in try Destination(handler: text) }
        do throws(CatalogError) {
            _ = try waft.home.handlerCatalog(waft.settings, includingHook: true).load().bundle(named: text)
        } catch {
            let isUnknown = error.code == .unknownHandler
            throw WaftError(
                isUnknown ? .inputMissing : .usage, error.description, hint: isUnknown ? "see: waft handlers" : nil)
        }
        return destination.handler ?? text
    }

    private static func folder(_ text: String) throws(WaftError) -> SafeRelativePath {
        do {
            return try SafeRelativePath(text)
        } catch {
            throw WaftError(
                .usage, "\"\(ShownText.line(text, limit: 64))\" is not a folder below the Inbox: \(error)")
        }
    }

    private static func protection(_ text: String) throws(WaftError) -> ProtectionClass {
        guard let protection = ProtectionClass(rawValue: text) else {
            let classes = ProtectionClass.allCases.map(\.rawValue).joined(separator: ", ")
            throw WaftError(.usage, "\"\(ShownText.line(text, limit: 64))\" is not one of \(classes), usual")
        }
        return protection
    }
}
