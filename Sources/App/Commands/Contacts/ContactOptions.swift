import ArgumentParser
import Contacts
import Foundation
import HandlerCatalog
import Lines
import Sharing
import UniformTypes

extension PolicyAction: ExpressibleByArgument {}

/// Flags of `allow` and `set`: which offers of a contact are accepted, and where their items go.
struct ContactOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("What to do with its offers: ask, accept or decline.", valueName: "answer"))
    var policy: PolicyAction?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long acceptance lasts, such as 2h or 30d; ever: without end.", valueName: "duration"))
    var duration: String?

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp(
            "Accept these types, and all that conform to them; any: all types.", valueName: "uti"), completion: .types)
    var types: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("Accept offers up to this size, such as 5GB; any: any size.", valueName: "size")
    )
    var sizeAtMost: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Accept up to this size in 24 hours, such as 5GB; items that you accepted yourself count; any: any size.",
            valueName: "size"))
    var sizePerDay: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Accept offers of at most this many items; any: any number.", valueName: "count"))
    var itemsAtMost: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Accept at these times of the day, such as 08:00-18:00; any: always.", valueName: "times"))
    var time: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Handler for its items, asked before the others; \"inbox\": no handler; \"\": only the others.",
            valueName: "handler"), completion: .handlers)
    var handler: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Folder below the Inbox for its items; \"\": the Inbox itself.",
            valueName: "folder"))
    var folder: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How its items are sealed: none, untilFirstUnlock, unlessOpen or complete; usual: as the settings say.",
            valueName: "class"))
    var protect: String?

    var isEmpty: Bool {
        policy == nil && duration == nil && types.isEmpty && sizeAtMost == nil && sizePerDay == nil
            && itemsAtMost == nil
            && time == nil && handler == nil && folder == nil && protect == nil
    }

    /// The values of the flags, read once and applied to one contact or many.
    struct Change {
        var policy: PolicyAction?
        /// The outer nil keeps the value, the inner nil removes it; the same holds for all fields below.
        var until: WallTime??
        var types: [UniformType]?
        var largestOffer: UInt64??
        var sizePerDay: UInt64??
        var maximumItems: Int??
        var times: TimeWindow??
        var protect: ProtectionClass??
        var handler: Destination?
        var folder: Destination?

        func apply(to contact: inout Contact) {
            if let policy { contact.policy = policy }
            if let until { contact.limits.until = until }
            if let types { contact.limits.types = types }
            if let largestOffer { contact.limits.largestOffer = largestOffer }
            if let sizePerDay { contact.limits.sizePerDay = sizePerDay }
            if let maximumItems { contact.limits.maximumItems = maximumItems }
            if let times { contact.limits.times = times }
            let (handler, folder) = (handler ?? contact.destination, folder ?? contact.destination)
            // Both were read before, so that this cannot fail.
            if let both = try? Destination(
                handler: handler.handler, folder: folder.folder,
                protection: protect ?? contact.destination.protection)
            {
                contact.destination = both
            }
        }
    }

    /// - Throws: `CommandError` `usage` that names the flag.
    func change(on place: ContactsPlace) throws(CommandError) -> Change {
        var change = Change(policy: policy)
        if let duration {
            change.until = .some(try until(duration, place))
        }
        if !types.isEmpty { change.types = try types(place.registry) }
        if let sizeAtMost {
            change.largestOffer = .some(
                sizeAtMost == "any" ? nil : try Self.read("--size-at-most", sizeAtMost, ByteCountText.read))
        }
        if let sizePerDay {
            change.sizePerDay = .some(
                sizePerDay == "any" ? nil : try Self.read("--size-per-day", sizePerDay, ByteCountText.read))
        }
        if let itemsAtMost { change.maximumItems = .some(itemsAtMost == "any" ? nil : try count(itemsAtMost)) }
        if let time {
            change.times = .some(
                time == "any"
                    ? nil : try Self.read("--time", time) { text throws(ContactError) in try TimeWindow(text) })
        }
        if let handler {
            change.handler = try Self.read("--handler", handler) { text throws(ContactError) in
                try Destination(handler: text.isEmpty ? nil : text)
            }
            if let name = change.handler?.handler {
                do throws(CatalogError) {
                    try place.findHandler(name)
                } catch {
                    throw CommandError(error, at: "--handler")
                }
            }
        }
        if let folder { change.folder = try destination(folder) }
        if let protect { change.protect = .some(try protection(protect)) }
        return change
    }

    private func until(_ text: String, _ place: ContactsPlace) throws(CommandError) -> WallTime? {
        if text == "ever" { return nil }
        let seconds = try Self.read("--for", text, DurationText.read).components.seconds
        // At most some years from now.
        let (sum, overflow) = place.now().milliseconds.addingReportingOverflow(seconds * 1_000)
        guard !overflow else { throw CommandError(.usage, "--for: this machine's clock is wrong") }
        return WallTime(milliseconds: sum)
    }

    private func types(_ registry: () -> TypeRegistry) throws(CommandError) -> [UniformType] {
        if types == ["any"] { return [] }
        guard types.count <= ContactBounds.types else {
            throw CommandError(.usage, "--types: at most \(ContactBounds.types) types, not \(types.count)")
        }
        let registry = registry()
        var read: [UniformType] = []
        for text in types {
            do throws(CatalogError) {
                let type = try registry.type(named: text)
                if !read.contains(type) { read.append(type) }
            } catch {
                throw CommandError(.usage, "--types: \(TerminalText.escaped(error.description, limit: 400))")
            }
        }
        return read
    }

    private func count(_ text: String) throws(CommandError) -> Int {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text),
            (1...Limits.items).contains(count)
        else {
            throw CommandError(
                .usage,
                "--items-at-most: \"\(TerminalText.escaped(text, limit: 64))\" is not a number from 1 to \(Limits.items)"
            )
        }
        return count
    }

    private func destination(_ text: String) throws(CommandError) -> Destination {
        if text.isEmpty { return .usual }
        do {
            return try Destination(folder: try SafeRelativePath(text))
        } catch {
            throw CommandError(
                .usage,
                "--folder: \"\(TerminalText.escaped(text, limit: 64))\" is not a folder below the Inbox: \(error)")
        }
    }

    private func protection(_ text: String) throws(CommandError) -> ProtectionClass? {
        if text == "usual" { return nil }
        guard let protection = ProtectionClass(rawValue: text) else {
            let classes = ProtectionClass.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError(
                .usage, "--protect: \"\(TerminalText.escaped(text, limit: 64))\" is not one of \(classes), usual")
        }
        // Nothing of this contact could be sealed.
        if protection.isSealed { _ = try ProtectionPlace().existingRecipients() }
        return protection
    }

    private static func read<Value>(
        _ flag: String, _ text: String, _ read: (String) throws(ContactError) -> Value
    ) throws(CommandError) -> Value {
        do throws(ContactError) {
            return try read(text)
        } catch {
            throw CommandError(error, at: flag)
        }
    }
}
