import ArgumentParser
import Contacts
import Control
import Endpoints
import HandlerCatalog
import Journal
import Lines
import Operations
import Settings
import Sharing
import UniformTypes

/// Options of `waft inbox list` and `waft history` that show only some arrivals.
struct ArrivalFilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only items of a type, and of the types that conform to it.", valueName: "uti"),
        completion: .types)
    var type: String?

    @Option(
        help: ArgumentHelp("Only items from this sender: its name, or the beginning of its id.", valueName: "peer"),
        completion: .contacts)
    var from: String?

    @Option(help: ArgumentHelp("Only items that arrived within this time, such as 2d.", valueName: "duration"))
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Only items in this state: \(ArrivalState.words). opened is yes, deferred is waiting for a handler that asked for more time.",
            valueName: "state"), completion: .list(ArrivalState.allCases.map(\.rawValue)))
    var state: String?

    var isEmpty: Bool { type == nil && from == nil && since == nil && state == nil }
}

/// How the delivery of an arrival stands: the words of `delivery` in `--json`, and `deferred`.
enum ArrivalState: String, CaseIterable {
    case none, waiting, deferred, yes, no, failed, parked, gone

    static let words = allCases.map(\.rawValue).joined(separator: ", ")

    /// The state in the journal; `deferred` is a part of `waiting`.
    var delivery: DeliveryState { DeliveryState(rawValue: rawValue) ?? .waiting }
}

/// The arrivals that the user wants to see.
struct ArrivalChoice: Sendable {
    private let registry: TypeRegistry
    private let type: UniformType?
    private let peers: Set<PeerID>?
    private let since: WallTime?
    private let state: ArrivalState?

    /// Senders that the error message lists if `--from` names none.
    private static let namedSenders = 12

    /// - Throws: `CommandError` `usage` for a value that has no meaning, with the values that have one.
    init(_ options: ArrivalFilterOptions, _ context: CommandContext) throws(CommandError) {
        let registry = options.type == nil ? TypeRegistry.system : context.home.typeRegistry()
        self.registry = registry
        type = try options.type.map { text throws(CommandError) in
            do throws(CatalogError) {
                return try registry.type(named: text)
            } catch {
                throw CommandError(.usage, "--type: \(TerminalText.escaped("\(error)", limit: 400))")
            }
        }
        state = try options.state.map { text throws(CommandError) in
            // The word of waft inbox show.
            guard let state = text == "opened" ? .yes : ArrivalState(rawValue: text) else {
                throw CommandError(.usage, "--state is one of \(ArrivalState.words)")
            }
            return state
        }
        since = try options.since.map { text throws(CommandError) in
            do throws(ContactError) {
                let seconds = try DurationText.read(text).components.seconds
                return WallTime(milliseconds: WallTime.now.milliseconds - seconds * 1_000)
            } catch {
                throw CommandError(WaftError(error).at("--since"))
            }
        }
        peers = try options.from.map { text throws(CommandError) in try Self.peers(text, context.people) }
    }

    /// The senders that `text` means: a contact, or all with an id that begins so, or all with this name.
    private static func peers(_ text: String, _ people: Acquaintances) throws(CommandError) -> Set<PeerID> {
        do throws(ContactError) {
            return [try people.contact(text).id]
        } catch {
            guard error.code == .unknownContact else { throw CommandError(WaftError(error).at("--from")) }
        }
        let senders = try JournalReading.read { reader throws(JournalError) in try reader.senders() }
        let named = senders.filter { $0.peer.hasPrefix(text) }
        let found = named.isEmpty ? senders.filter { TypedName.means(text, $0.name) } : named
        guard found.isEmpty else { return Set(found.map(\.peer)) }
        var seen: Set<PeerID> = []
        let names = senders.filter { seen.insert($0.peer).inserted }
            .map { people.person($0.peer, callingItself: $0.name).line }.prefix(namedSenders)
        let others = seen.count > names.count ? " and \(seen.count - names.count) more" : ""
        let hint =
            names.isEmpty ? "nothing has arrived yet" : "the senders are: \(names.joined(separator: ", "))\(others)"
        throw CommandError(
            .usage,
            "--from: no contact or sender is named \"\(TerminalText.escaped(text, limit: 64))\"; \(hint)")
    }

    /// For the journal.
    var filter: ArrivalFilter {
        ArrivalFilter(since: since, state: state?.delivery) { [self] entry in
            isWanted(entry.arrival.type, from: entry.arrival.peer)
                && (state != .deferred || (entry.waiting?.deferrals ?? 0) > 0)
        }
    }

    /// Whether an event is about a wanted arrival. With a state, only a handler's answer of that state is.
    func isWanted(_ event: ControlEvent) -> Bool {
        switch event {
        case .arrival(let arrival):
            guard let answer = arrival.handlerAnswer else { return state == nil && isWanted(arrival) }
            let isOfState =
                switch state {
                case nil: true
                case .deferred, .waiting: answer == HandlerAnswer.State.later.rawValue
                case let state?: answer == state.rawValue
                }
            return isOfState && isWanted(arrival)
        case .ready, .offer, .answered, .progress, .visibility, .settings, .contacts, .protection, .ended:
            return false
        }
    }

    private func isWanted(_ arrival: ArrivalLine) -> Bool {
        guard let type = UniformType(arrival.type), let peer = arrival.sender(.known) else { return false }
        return isWanted(type, from: peer)
    }

    private func isWanted(_ type: UniformType, from peer: PeerID) -> Bool {
        // A type that only a handler here declares arrives as a dynamic one.
        peers?.contains(peer) != false
            && self.type.map { registry.conforms(registry.resolved(type), to: $0) } != false
    }
}
