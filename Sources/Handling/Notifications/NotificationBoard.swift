/// What is to be on the desktop, what is, and what is to be said to the server about it: sans I/O.
///
/// A server that goes takes its notifications with it; what is still wanted is shown by the next one. Never more than
/// one call is under way for one notification, so changes that come faster than a server answers are left out, and a
/// server that never answers is sent a bounded number of calls.
struct NotificationBoard {
    /// What to say to whom.
    enum Command: Hashable {
        case notify(NotifyCall)
        /// `CloseNotification`.
        case close(UInt32)
        /// To whoever shows it.
        case tell(Int, NotificationEvent)
    }

    private struct Entry {
        enum State {
            /// Wanted, and not on the desktop.
            case waiting
            /// A call is under way; the id is that of the notification which it replaces.
            case calling(Int, replacing: UInt32?)
            case open(UInt32)
            /// Not wanted any more, and a call is under way: its answer tells what to close.
            case leaving(Int)
            /// This server does not show it. (Of the surplus alone: others are then given up.)
            case refused
        }

        var request: NotificationRequest
        /// As it was sent last.
        var sent: NotificationRequest?
        var state = State.waiting

        /// What a server has it under.
        var id: UInt32? {
            switch state {
            case .open(let id): id
            case .calling(_, let id): id
            default: nil
            }
        }

        /// Whether it takes a place on the desktop, or may do so soon.
        var takesPlace: Bool {
            switch state {
            case .calling, .open, .leaving: true
            case .waiting, .refused: false
            }
        }

        var isWaiting: Bool {
            if case .waiting = state { true } else { false }
        }

        func isWaiting(for call: Int) -> Bool {
            switch state {
            case .calling(call, _), .leaving(call): true
            default: false
            }
        }
    }

    /// The number of the one that speaks for those which there is no place for.
    private static let surplusNumber = 0

    private let limit: Int
    private let surplusText: @Sendable (Int) -> NotificationRequest
    /// By number, which is the order in which they came; the surplus is not among them.
    private var entries: [Int: Entry] = [:]
    private var surplus: Entry?
    /// How many the surplus stood for when the user sent it away; it stays away until there is nothing to say.
    private var isSurplusUnwanted = false
    private var surplusPace: Pace
    private var pace: Pace
    private var lastCall = 0
    /// Of the server that is there; nil without one.
    private var hasMarkup: Bool?

    /// - Parameters:
    ///   - limit: most notifications at once, besides the one for the rest.
    ///   - burst: as many new ones may come at once,
    ///   - pace: then one each so long.
    ///   - surplus: what is said of how many there is no place for.
    init(limit: Int, burst: Int, pace: Duration, surplus: @escaping @Sendable (Int) -> NotificationRequest) {
        self.limit = limit
        self.surplusText = surplus
        self.pace = Pace(burst: burst, interval: pace)
        self.surplusPace = Pace(burst: 1, interval: pace)
    }

    // MARK: What is wanted

    /// - Parameter number: 1 or more, greater than any before.
    mutating func show(_ number: Int, _ request: NotificationRequest) {
        entries[number] = Entry(request: request)
    }

    mutating func update(_ number: Int, _ request: NotificationRequest) {
        entries[number]?.request = request
    }

    mutating func close(_ number: Int) -> [Command] {
        guard let entry = entries[number] else { return [] }
        let commands = remove(number)
        if case .leaving = entry.state { return commands }
        return commands + [.tell(number, .closed(.closed))]
    }

    mutating func closeAll() -> [Command] {
        var commands: [Command] = []
        for number in entries.keys.sorted() { commands += close(number) }
        return commands + closeSurplus()
    }

    // MARK: What the server does

    mutating func serverCame(hasMarkup: Bool) {
        self.hasMarkup = hasMarkup
    }

    /// With all that it showed.
    mutating func serverLeft() {
        hasMarkup = nil
        surplus = nil
        isSurplusUnwanted = false
        for (number, entry) in entries {
            if case .leaving = entry.state {
                entries[number] = nil
            } else {
                entries[number]?.state = .waiting
                entries[number]?.sent = nil
            }
        }
    }

    /// A call of `Notify` was answered.
    /// - Parameter id: nil for an error, or an answer that is none.
    mutating func answered(_ call: Int, id: UInt32?) -> [Command] {
        if case .calling(call, _)? = surplus?.state {
            surplus?.state = id.map(Entry.State.open) ?? .refused
            return []
        }
        if case .leaving(call)? = surplus?.state {
            surplus = nil
            return id.map { [.close($0)] } ?? []
        }
        guard let (number, entry) = entries.first(where: { $0.value.isWaiting(for: call) }) else { return [] }
        if case .leaving = entry.state {
            entries[number] = nil
            return id.map { [.close($0)] } ?? []
        }
        // 0 is no id (the specification's section on `Notify`).
        guard let id, id != 0 else {
            // What it was to replace may be there still.
            return (entry.id.map { [.close($0)] } ?? []) + [refuse(number)]
        }
        // Which of two is meant by one id nobody can know: neither must be answered by it.
        if let (other, _) = entries.first(where: { $0.key != number && $0.value.id == id }) {
            // The other may be about to be replaced: what comes of that is then taken away too.
            return [.close(id), refuse(number), .tell(other, .closed(.refused))] + remove(other)
        }
        entries[number]?.state = .open(id)
        return []
    }

    /// The signal `ActionInvoked`. Ids and keys that are not ours are others' business, or nonsense.
    mutating func invoked(_ id: UInt32, _ key: String) -> [Command] {
        guard let (number, entry) = entries.first(where: { $0.value.id == id }), let sent = entry.sent else {
            return []
        }
        let pressed = sent.shownActions.first { NotifyCall.key($0.key, number) == key }
        return pressed.map { [.tell(number, .action($0.key))] } ?? []
    }

    /// The signal `NotificationClosed`.
    mutating func closed(_ id: UInt32, reason: UInt32) -> [Command] {
        if surplus?.id == id {
            isSurplusUnwanted = true
            if case .calling(let call, _)? = surplus?.state {
                surplus?.state = .leaving(call)
            } else {
                surplus = nil
            }
            return []
        }
        guard let (number, entry) = entries.first(where: { $0.value.id == id }) else { return [] }
        let end: NotificationEnd =
            switch reason {
            case 1: .expired
            case 2: .dismissed
            case 3: .closed
            default: .undefined
            }
        if case .calling(let call, _) = entry.state {
            // What replaces it may be shown anew.
            entries[number]?.state = .leaving(call)
        } else {
            entries[number] = nil
        }
        return [.tell(number, .closed(end))]
    }

    /// Whether nothing is on the desktop, nor under way.
    var isClear: Bool { !entries.values.contains { $0.takesPlace } && surplus?.takesPlace != true }

    // MARK: What follows

    /// Brings the desktop nearer to what is wanted.
    mutating func advance(now: ContinuousClock.Instant) -> [Command] {
        guard let hasMarkup else { return [] }
        var commands: [Command] = []
        var places = limit - entries.values.count(where: \.takesPlace)
        var left = 0
        for number in entries.keys.sorted() {
            guard var entry = entries[number] else { continue }
            switch entry.state {
            case .waiting:
                guard places > 0, pace.take(now) else {
                    left += 1
                    continue
                }
                places -= 1
                commands.append(notify(number, &entry, replacing: nil, hasMarkup))
                entries[number] = entry
            case .open(let id) where entry.sent != entry.request:
                commands.append(notify(number, &entry, replacing: id, hasMarkup))
                entries[number] = entry
            default:
                continue
            }
        }
        return commands + advanceSurplus(left, now, hasMarkup)
    }

    /// When to advance though nothing has happened; nil: not at all.
    var deadline: ContinuousClock.Instant? {
        guard hasMarkup != nil else { return nil }
        var dates: [ContinuousClock.Instant] = []
        let isPlaceLeft = entries.values.count(where: \.takesPlace) < limit
        if isPlaceLeft, entries.values.contains(where: \.isWaiting), let next = pace.next {
            dates.append(next)
        }
        if let surplus, case .open = surplus.state, surplus.sent != surplus.request, let next = surplusPace.next {
            dates.append(next)
        }
        if case .waiting? = surplus?.state, let next = surplusPace.next { dates.append(next) }
        return dates.min()
    }

    private mutating func advanceSurplus(
        _ count: Int, _ now: ContinuousClock.Instant, _ hasMarkup: Bool
    ) -> [Command] {
        guard count > 0 else {
            isSurplusUnwanted = false
            return closeSurplus()
        }
        if isSurplusUnwanted { return [] }
        var entry = surplus ?? Entry(request: surplusText(count))
        entry.request = surplusText(count)
        defer { surplus = entry }
        switch entry.state {
        case .waiting:
            guard surplusPace.take(now) else { return [] }
            return [notify(Self.surplusNumber, &entry, replacing: nil, hasMarkup)]
        case .open(let id) where entry.sent != entry.request:
            guard surplusPace.take(now) else { return [] }
            return [notify(Self.surplusNumber, &entry, replacing: id, hasMarkup)]
        default:
            return []
        }
    }

    private mutating func closeSurplus() -> [Command] {
        guard let entry = surplus else { return [] }
        switch entry.state {
        case .open(let id):
            surplus = nil
            return [.close(id)]
        case .calling(let call, _):
            surplus?.state = .leaving(call)
        case .leaving:
            break
        case .waiting, .refused:
            surplus = nil
        }
        return []
    }

    private mutating func remove(_ number: Int) -> [Command] {
        switch entries[number]?.state {
        case .waiting, .refused, nil:
            entries[number] = nil
            return []
        case .open(let id):
            entries[number] = nil
            return [.close(id)]
        case .calling(let call, _):
            entries[number]?.state = .leaving(call)
            return []
        case .leaving:
            return []
        }
    }

    /// This server does not show it, and it is over for whoever wanted it.
    private mutating func refuse(_ number: Int) -> Command {
        entries[number] = nil
        return .tell(number, .closed(.refused))
    }

    private mutating func notify(
        _ number: Int, _ entry: inout Entry, replacing id: UInt32?, _ hasMarkup: Bool
    ) -> Command {
        lastCall += 1
        entry.state = .calling(lastCall, replacing: id)
        entry.sent = entry.request
        return .notify(
            NotifyCall(entry.request, number: lastCall, replaces: id ?? 0, notification: number, hasMarkup: hasMarkup))
    }
}
