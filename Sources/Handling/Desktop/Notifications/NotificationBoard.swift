/// The wanted notifications, the shown ones, and the calls that bring the desktop up to date: sans I/O.
///
/// When a server leaves, its notifications disappear; the next server shows those that are still wanted. At most one
/// call is under way for one notification. So changes that come faster than a server answers are skipped, and a server
/// that never answers gets a bounded number of calls.
struct NotificationBoard {
    /// A message to the server or to a notification's owner.
    enum Command: Hashable {
        case notify(NotifyCall)
        /// `CloseNotification`.
        case close(UInt32)
        /// For the owner of the notification.
        case tell(Int, NotificationEvent)
    }

    private struct Entry {
        enum State {
            /// Wanted, but not on the desktop.
            case waiting
            /// A call is under way; the id is that of the notification that it replaces.
            case calling(Int, replacing: UInt32?)
            case open(UInt32)
            /// No longer wanted, while a call is under way: its answer gives the id to close.
            case leaving(Int)
            /// This server does not show it. Only the surplus has this state; other refused entries are removed.
            case refused
        }

        var request: NotificationRequest
        /// The request in the last call.
        var sent: NotificationRequest?
        var state = State.waiting

        /// The server's id.
        var id: UInt32? {
            switch state {
            case .open(let id): id
            case .calling(_, let id): id
            default: nil
            }
        }

        /// Whether it occupies a place on the desktop, or may soon.
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

    /// The number of the notification for the surplus.
    private static let surplusNumber = 0
    /// The reason in `NotificationClosed` for the end of its time.
    private static let expiry: UInt32 = 1

    private let limit: Int
    private let surplusText: @Sendable (Int) -> NotificationRequest
    /// By number, in the order in which they were requested; the surplus is not among them.
    private var entries: [Int: Entry] = [:]
    private var surplus: Entry?
    /// Whether the user dismissed the surplus; it stays away until there is no surplus.
    private var isSurplusUnwanted = false
    private var surplusPace: Pace
    private var pace: Pace
    private var lastCall = 0
    /// Of the present server; nil without one.
    private var abilities: ServerAbilities?

    /// - Parameters:
    ///   - limit: maximum number of notifications at once, not counting the one for the surplus.
    ///   - burst: number of new ones that may appear at once.
    ///   - pace: interval between new ones after that.
    ///   - surplus: makes the notification for the surplus from its number.
    init(limit: Int, burst: Int, pace: Duration, surplus: @escaping @Sendable (Int) -> NotificationRequest) {
        self.limit = limit
        self.surplusText = surplus
        self.pace = Pace(burst: burst, interval: pace)
        self.surplusPace = Pace(burst: 1, interval: pace)
    }

    // MARK: Requests

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

    // MARK: Events of the server

    mutating func serverCame(_ abilities: ServerAbilities) {
        self.abilities = abilities
    }

    /// The server and all its notifications are gone.
    mutating func serverLeft() {
        abilities = nil
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

    /// The server answered a call of `Notify`.
    /// - Parameter id: nil for an error or a malformed answer.
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
            // The notification that it should replace may still be there.
            return (entry.id.map { [.close($0)] } ?? []) + [refuse(number)]
        }
        // One id for two notifications is ambiguous: neither may be answered by it.
        if let (other, _) = entries.first(where: { $0.key != number && $0.value.id == id }) {
            // The other may be in a call that replaces it; the answer's notification is then closed too.
            return [.close(id), refuse(number), .tell(other, .closed(.refused))] + remove(other)
        }
        entries[number]?.state = .open(id)
        return []
    }

    /// The signal `ActionInvoked`. Ignores unknown ids and keys: they are other programs' or invalid.
    mutating func invoked(_ id: UInt32, _ key: String) -> [Command] {
        guard abilities?.hasActions == true,
            let (number, entry) = entries.first(where: { $0.value.id == id }), let sent = entry.sent
        else { return [] }
        let pressed = sent.shownActions.first { NotifyCall.key($0.key, number) == key }
        return pressed.map { [.tell(number, .action($0.key))] } ?? []
    }

    /// The signal `NotificationClosed`. One that expires while a call changes it is shown again by that call.
    mutating func closed(_ id: UInt32, reason: UInt32) -> [Command] {
        if surplus?.id == id {
            if reason == Self.expiry, case .calling(let call, _)? = surplus?.state {
                surplus?.state = .calling(call, replacing: nil)
                return []
            }
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
            case Self.expiry: .expired
            case 2: .dismissed
            case 3: .closed
            default: .undefined
            }
        if case .calling(let call, _) = entry.state {
            if end == .expired {
                entries[number]?.state = .calling(call, replacing: nil)
                return []
            }
            // The call under way may show it again.
            entries[number]?.state = .leaving(call)
        } else {
            entries[number] = nil
        }
        return [.tell(number, .closed(end))]
    }

    /// Whether no notification is on the desktop or under way.
    var isClear: Bool { !entries.values.contains { $0.takesPlace } && surplus?.takesPlace != true }

    // MARK: Advancing

    /// Returns the calls that bring the desktop closer to the wanted state.
    mutating func advance(now: ContinuousClock.Instant) -> [Command] {
        guard let abilities else { return [] }
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
                commands.append(notify(number, &entry, replacing: nil, abilities))
                entries[number] = entry
            case .open(let id) where entry.sent != entry.request:
                commands.append(notify(number, &entry, replacing: id, abilities))
                entries[number] = entry
            default:
                continue
            }
        }
        return commands + advanceSurplus(left, now, abilities)
    }

    /// When to call `advance` even without an event; nil for never.
    var deadline: ContinuousClock.Instant? {
        guard abilities != nil else { return nil }
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
        _ count: Int, _ now: ContinuousClock.Instant, _ abilities: ServerAbilities
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
            return [notify(Self.surplusNumber, &entry, replacing: nil, abilities)]
        case .open(let id) where entry.sent != entry.request:
            guard surplusPace.take(now) else { return [] }
            return [notify(Self.surplusNumber, &entry, replacing: id, abilities)]
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

    /// This server does not show the notification; it ends for its owner.
    private mutating func refuse(_ number: Int) -> Command {
        entries[number] = nil
        return .tell(number, .closed(.refused))
    }

    private mutating func notify(
        _ number: Int, _ entry: inout Entry, replacing id: UInt32?, _ abilities: ServerAbilities
    ) -> Command {
        lastCall += 1
        entry.state = .calling(lastCall, replacing: id)
        entry.sent = entry.request
        return .notify(
            NotifyCall(entry.request, number: lastCall, replaces: id ?? 0, notification: number, abilities))
    }
}

/// A token bucket: a number of tokens at once, then one for each interval.
struct Pace {
    private let interval: Duration
    private let slack: Duration
    /// When the bucket is full again.
    private var full: ContinuousClock.Instant?

    /// - Parameters:
    ///   - burst: 1 or more.
    ///   - interval: not negative.
    init(burst: Int, interval: Duration) {
        self.interval = interval
        slack = interval * max(0, burst - 1)
    }

    /// Takes a token if one is available.
    mutating func take(_ now: ContinuousClock.Instant) -> Bool {
        let full = max(full ?? now, now)
        guard full - now <= slack else { return false }
        self.full = full + interval
        return true
    }

    /// When a token is, or was, available again; nil if none was ever taken.
    var next: ContinuousClock.Instant? { full.map { $0 - slack } }
}
