import ContentCheck
import Digests
import Foundation
package import HandlerCatalog
package import Sharing
import SystemPackage
import UniformTypes

/// The input of a program: the hook contract's arguments, environment and document.
package struct HookCall: Sendable {
    /// The question.
    package enum Verb: String, Sendable, CaseIterable {
        case firstLaunch = "first-launch"
        case willFinishLaunching = "will-finish-launching"
        case didFinishLaunching = "did-finish-launching"
        case openURL = "open-url"
        case canPerform = "can-perform"
        case performActivity = "perform-activity"
        case willBecomeUnavailable = "protected-data-will-become-unavailable"
        case didBecomeAvailable = "protected-data-did-become-available"
    }

    package private(set) var verb: Verb = .openURL
    /// The URL to open: the URL of the item in the Inbox (of the first, if there are several), or the URL itself.
    package let url: String
    /// The number of the arrival, if the call is for one.
    package let number: ArrivalNumber?
    private var items: [ItemFacts]
    /// Nil if no peer sent it.
    private let origin: TransferFacts?
    /// Whether the document lists its items.
    private let isBatch: Bool
    /// The type of the activity that the user chose, or may choose.
    private var activity: String?
    /// Facts of the user, who asked for this call; nil for none.
    private var userAnnotation: [String: String]?
    /// Whether sealed items can be opened; nil if data protection is not set up.
    var isProtectedDataAvailable: Bool?

    /// The call for one item.
    ///
    /// If the item is a URL, its file is read.
    /// - Parameter attempt: 1 or more.
    package static func open(_ arrival: Arrival, attempt: Int) -> HookCall {
        let facts = ItemFacts(arrival, attempt: attempt)
        return HookCall(
            url: facts.url, number: arrival.number, items: [facts], origin: TransferFacts(arrival), isBatch: false)
    }

    /// The call for all items of a transfer; the facts of the transfer are those of the first.
    ///
    /// - Parameter arrivals: in order, with the attempt of each.
    /// - Returns: nil if there are none.
    package static func open(_ arrivals: [(arrival: Arrival, attempt: Int)]) -> HookCall? {
        guard let first = arrivals.first?.arrival else { return nil }
        let items = arrivals.map { ItemFacts($0.arrival, attempt: $0.attempt) }
        return HookCall(
            url: items[0].url, number: arrivals.count == 1 ? first.number : nil, items: items,
            origin: TransferFacts(first), isBatch: true)
    }

    /// The call for a URL that is opened for its scheme.
    ///
    /// - Parameters:
    ///   - received: the arrival that brought it; nil if the user opens it.
    ///   - attempt: 1 or more.
    package static func open(_ url: URLParts, received: Arrival?, attempt: Int) -> HookCall {
        var facts = received.map { ItemFacts($0, attempt: attempt) } ?? ItemFacts(url, attempt: attempt)
        facts.url = url.text
        facts.link = url
        return HookCall(
            url: url.text, number: received?.number, items: [facts], origin: received.map(TransferFacts.init),
            isBatch: false)
    }

    /// The call for a file or folder of the user, outside the Inbox.
    ///
    /// - Parameter isBatch: whether the program gets a list of items, as one that is called for a transfer.
    package static func open(_ item: SharedFacts, isBatch: Bool) -> HookCall {
        let facts = ItemFacts(item)
        return HookCall(url: facts.url, number: nil, items: [facts], origin: nil, isBatch: isBatch)
    }

    /// The call for an activity of the share sheet.
    ///
    /// - Parameters:
    ///   - activity: its type.
    ///   - items: those that the user shares.
    ///   - isQuestion: whether the program only says if it can do it.
    package static func perform(_ activity: String, _ items: [SharedFacts], isQuestion: Bool) -> HookCall {
        var call = HookCall(url: "", number: nil, items: items.map(ItemFacts.init), origin: nil, isBatch: true)
        call.verb = isQuestion ? .canPerform : .performActivity
        call.activity = activity
        return call
    }

    /// A notice about the lock, which has no item.
    static func notice(_ notice: LaunchRules.Notice) -> HookCall {
        var call = HookCall(url: "", number: nil, items: [], origin: nil, isBatch: false)
        call.verb =
            switch notice {
            case .willBecomeUnavailable: .willBecomeUnavailable
            case .didBecomeAvailable: .didBecomeAvailable
            }
        return call
    }

    /// Whether the call is about something that is opened.
    private var hasURL: Bool { activity == nil && ![.willBecomeUnavailable, .didBecomeAvailable].contains(verb) }

    /// The same call with facts of the user. An empty annotation changes nothing.
    package func annotated(_ annotation: [String: String]) -> HookCall {
        guard !annotation.isEmpty else { return self }
        var other = self
        other.userAnnotation = annotation
        return other
    }

    /// The same facts with a question of the launch protocol.
    package func asking(_ call: LaunchRules.Call) -> HookCall {
        var other = self
        other.verb =
            switch call {
            case .firstLaunch: .firstLaunch
            case .willFinishLaunching: .willFinishLaunching
            case .didFinishLaunching: .didFinishLaunching
            }
        // The one stream is for the call that opens the item.
        for index in other.items.indices where other.items[index].stream == true { other.items[index].file = nil }
        return other
    }

    private init(url: String, number: ArrivalNumber?, items: [ItemFacts], origin: TransferFacts?, isBatch: Bool) {
        self.url = url
        self.number = number
        self.items = items
        self.origin = origin
        self.isBatch = isBatch
    }

    /// The sending application, as the sender names it; nil if the sender did not name it.
    private var application: String? { origin.map(\.application) ?? (url.isEmpty ? nil : SourceApplication.open) }

    /// The environment of a program that gets its facts by its input alone.
    static let withoutItems: [String: String?] = HookCall(
        url: "", number: nil, items: [], origin: nil, isBatch: false
    ).environment.mapValues { _ in nil }

    /// The arguments after the executable.
    var arguments: [String] { verb == .openURL ? [verb.rawValue, url] : [verb.rawValue] }

    /// Variables to set or, for nil, to remove. A variable of the contract that does not apply must not stay from the
    /// receiver's environment.
    var environment: [String: String?] {
        let first = items.first
        let variables: [String: String?] = [
            "WAFT_URL": hasURL ? url : nil,
            "WAFT_FILE": first?.file,
            "WAFT_TYPE": first?.type,
            "WAFT_NAME": first?.name,
            "WAFT_SIZE": first?.size.map { String($0) },
            "WAFT_DIGEST": first?.digest,
            "WAFT_SOURCE_APPLICATION": application,
            "WAFT_VIA": origin?.via,
            "WAFT_PEER_ID": origin?.peer.id,
            "WAFT_PEER_NAME": origin?.peer.name,
            "WAFT_TRANSFER": origin?.transfer,
            "WAFT_SUBJECT": origin?.annotation[Offer.subjectKey].flatMap(Offer.subject),
            "WAFT_ATTEMPT": first.map { String($0.attempt) },
            "WAFT_ITEMS": isBatch ? String(items.count) : nil,
            "WAFT_ACTIVITY": activity,
            "WAFT_ANNOTATION": userAnnotation.flatMap(InputDocument.text),
        ]
        // A NUL would end the variable early: names and URLs have none, a sender's own name may.
        return variables.mapValues { $0?.replacing("\0", with: "\u{FFFD}") }
    }

    /// One line of JSON, with its newline.
    ///
    /// - Parameter settings: the handler's; empty if it has none.
    func document(_ settings: [String: HandlerSettingValue]) throws -> [UInt8] {
        try InputDocument.line(Document(call: self, settings: settings))
    }

    /// The document in an anonymous file, at its beginning; the caller owns the descriptor.
    func documentFile(_ settings: [String: HandlerSettingValue]) throws -> FileDescriptor {
        try InputDocument.file(document(settings), name: "waft-hook")
    }
}

extension HookCall {
    /// The facts about one item.
    struct ItemFacts: Encodable, Sendable {
        var url: String
        var file: String?
        /// Whether `file` is a pipe; absent if not.
        var stream: Bool?
        var type: String
        var name: String?
        var kind: String
        var size: UInt64?
        var digest: String?
        /// The item's place in the offer.
        var item: Int?
        /// The arrival's number.
        var number: Int64?
        var attempt: Int
        /// `consistent`, `unverified` or `mislabelled`; absent if the content was not checked.
        var content: String?
        /// The parts of the item's URL, or of the URL in its file.
        var link: URLParts?

        init(_ arrival: Arrival, attempt: Int) {
            url = URL(fileURLWithPath: arrival.stored.path, isDirectory: arrival.item.kind == .tree).absoluteString
            file = arrival.stored.path
            let isStream = file == ClearStream.path
            stream = isStream ? true : nil
            type = arrival.type.identifier
            name = arrival.stored.name.text
            kind = arrival.item.kind.rawValue
            size = arrival.size
            digest = arrival.digest.description
            item = arrival.itemNumber
            number = arrival.number.value
            self.attempt = attempt
            content = arrival.content?.outcome.rawValue
            link = arrival.item.kind == .url && !isStream ? ReceivedLink.parts(at: arrival.stored.path) : nil
        }

        init(_ item: SharedFacts) {
            url = item.file.map { URL(fileURLWithPath: $0, isDirectory: item.kind == .tree).absoluteString } ?? ""
            file = item.file
            type = item.type.identifier
            name = item.name
            kind = item.kind.rawValue
            size = item.size
            attempt = 1
        }

        init(_ url: URLParts, attempt: Int) {
            self.url = url.text
            type = UniformType.url.identifier
            kind = ItemKind.url.rawValue
            self.attempt = attempt
            link = url
        }
    }

    /// The facts about the transfer that brought it.
    struct TransferFacts: Sendable {
        struct Peer: Encodable, Sendable {
            /// Absent for a peer that proved no key.
            var id: String?
            var name: String
        }

        var peer: Peer
        /// The dialect of the transfer.
        var via: String
        /// The sending application, as the sender names it.
        var application: String?
        var transfer: String
        var annotation: [String: String]

        init(_ arrival: Arrival) {
            peer = Peer(id: arrival.peer.provenText, name: arrival.senderName)
            via = arrival.dialect.name
            application = SourceApplication.named(in: arrival.annotation)
            transfer = arrival.transfer.text
            annotation = SourceApplication.removed(from: arrival.annotation)
        }
    }

    /// The document on standard input. If there is one item, its facts stand at the top level.
    private struct Document: Encodable {
        private enum Key: String, CodingKey {
            case v, call, activity, url, sourceApplication, via, peer, transfer, annotation, sender, items, settings
            case protectedDataAvailable
        }

        let call: HookCall
        let settings: [String: HandlerSettingValue]

        func encode(to encoder: any Encoder) throws {
            if call.items.count == 1 { try call.items[0].encode(to: encoder) }
            var document = encoder.container(keyedBy: Key.self)
            try document.encode(1, forKey: .v)
            try document.encode(call.verb.rawValue, forKey: .call)
            try document.encodeIfPresent(call.activity, forKey: .activity)
            if call.hasURL { try document.encode(call.url, forKey: .url) }
            try document.encodeIfPresent(call.application, forKey: .sourceApplication)
            try document.encodeIfPresent(call.origin?.via, forKey: .via)
            try document.encodeIfPresent(call.origin?.peer, forKey: .peer)
            try document.encodeIfPresent(call.origin?.transfer, forKey: .transfer)
            if let annotation = call.userAnnotation {
                try document.encode(annotation, forKey: .annotation)
                try document.encodeIfPresent(call.origin?.annotation, forKey: .sender)
            } else {
                try document.encodeIfPresent(call.origin?.annotation, forKey: .annotation)
            }
            try document.encodeIfPresent(call.isProtectedDataAvailable, forKey: .protectedDataAvailable)
            if !settings.isEmpty { try document.encode(settings, forKey: .settings) }
            if call.isBatch { try document.encode(call.items, forKey: .items) }
        }
    }
}
