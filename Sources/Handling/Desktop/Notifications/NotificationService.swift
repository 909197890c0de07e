import DBusClient
import Glibc
import Logging
import SystemCalls

/// This side of the conversation with the notification server: finds the bus, then the server, and sends the board's
/// calls. Used by one thread.
///
/// ```
/// no bus ──open──▶ greeting ──Hello──▶ looking ──owner──▶ meeting ──capabilities──▶ showing
///    ▲                                    ▲  no owner        │ no actions               │
///    └───────────── the bus is gone ──────┴──────────────────┴──── another owner ───────┘
/// ```
/// Calls go to the unique name of the server's owner, so no call starts a server. Signals are accepted from that name
/// only: other programs on the bus can forge them.
final class NotificationService: BusPart {
    private enum Server {
        static let name = "org.freedesktop.Notifications"
        static let path = "/org/freedesktop/Notifications"
    }

    private enum Call {
        case hello
        case match
        case owner
        case capabilities
        case notify(Int)
    }

    /// A call that waits for its reply.
    private struct Pending {
        var call: Call
        var since: ContinuousClock.Instant
    }

    /// Errors of the bus for a server that left before it answered. A separate signal reports this too.
    private static let lost: Set<String> = [
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NameHasNoOwner",
    ]
    /// Pause between attempts to connect; it doubles from the first to the longest. A new socket resets it.
    private static let firstPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(60)

    private var board: NotificationBoard
    /// The streams of the open notifications, by number.
    private var inlets: [Int: AsyncStream<NotificationEvent>.Continuation] = [:]
    private let address: BusAddress?
    private let watch: SocketWatch
    private let timeout: Duration
    private let logger: Logger
    private(set) var connection: BusConnection?
    private var pending: [UInt32: Pending] = [:]
    /// The unique name of the server; nil without one.
    private var owner: String?
    private var isSilent = false
    private var nextAttempt: ContinuousClock.Instant?
    private var pause = NotificationService.firstPause
    private var lastSaid = ""
    /// The state to log while the present server shows notifications.
    private var shownState = "notifications are shown"

    init(environment: [String: String], board: NotificationBoard, timeout: Duration, logger: Logger) {
        address = BusAddress.session(environment)
        watch = SocketWatch(address?.sockets ?? [])
        self.board = board
        self.timeout = timeout
        self.logger = logger
    }

    // MARK: Requests

    func show(_ number: Int, _ request: NotificationRequest, _ inlet: AsyncStream<NotificationEvent>.Continuation) {
        inlets[number] = inlet
        board.show(number, request)
    }

    func update(_ number: Int, _ request: NotificationRequest) {
        board.update(number, request)
    }

    func close(_ number: Int) {
        carry(board.close(number))
    }

    // MARK: The thread

    /// Readable when a socket may have been created.
    var watchDescriptor: Int32 { connection == nil ? watch.descriptor : -1 }

    var deadline: ContinuousClock.Instant? {
        guard connection != nil else { return nextAttempt }
        let silence = isSilent ? nil : pending.values.map(\.since).min().map { $0 + timeout }
        return [silence, board.deadline].compactMap(\.self).min()
    }

    func watchIsReadable() {
        guard watch.drain(), connection == nil else { return }
        pause = Self.firstPause
        nextAttempt = .now
    }

    func leave() {
        carry(board.closeAll())
    }

    var hasLeft: Bool {
        guard let connection else { return true }
        return board.isClear && !connection.isSending
    }

    func end() {
        for inlet in inlets.values { inlet.finish() }
        inlets = [:]
    }

    func advance() {
        let now = ContinuousClock.now
        if connection == nil, let address, (nextAttempt ?? now) <= now { connect(to: address, now) }
        if address == nil {
            say("no session bus is known: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is of use")
        }
        while let message = connection?.receive() { take(message) }
        if connection?.isConnected == false { leaveBus("the session bus is gone") }
        lookForSilence(now)
        if connection != nil { carry(board.advance(now: now)) }
    }

    // MARK: The bus

    private func connect(to address: BusAddress, _ now: ContinuousClock.Instant) {
        // Before the attempt, so that a socket created right after it is noticed.
        watch.cover()
        do {
            connection = try BusConnection.open(
                address, limits: BusLimits(messageBytes: NotificationLimits.messageBytes))
            _ = call(.hello, to: BusName.bus, BusName.busPath, "Hello")
        } catch {
            wait(now)
            say("the session bus cannot be reached: \(error)")
        }
    }

    private func wait(_ now: ContinuousClock.Instant) {
        nextAttempt = now + pause
        pause = min(pause * 2, Self.longestPause)
    }

    private func leaveBus(_ reason: String) {
        connection = nil
        pending = [:]
        leaveServer()
        wait(.now)
        say(reason)
    }

    private func lookForSilence(_ now: ContinuousClock.Instant) {
        guard !isSilent, let first = pending.values.min(by: { $0.since < $1.since }), first.since + timeout <= now
        else {
            return
        }
        switch first.call {
        case .hello, .match, .owner:
            leaveBus("the session bus does not answer")
        case .capabilities, .notify:
            // It may still answer. Until then it gets no call for a notification whose call is unanswered.
            isSilent = true
            say("the notification server does not answer")
        }
    }

    // MARK: The server

    private func greeted() {
        let matches = [
            "type='signal',sender='\(BusName.bus)',interface='\(BusName.bus)',member='NameOwnerChanged',arg0='\(Server.name)'",
            "type='signal',sender='\(Server.name)',path='\(Server.path)',interface='\(Server.name)'",
        ]
        for match in matches {
            _ = call(.match, to: BusName.bus, BusName.busPath, "AddMatch") { $0.string(match) }
        }
        // After the matches, so that no change is missed in between.
        _ = call(.owner, to: BusName.bus, BusName.busPath, "GetNameOwner") { $0.string(Server.name) }
    }

    private func ownerIs(_ name: String?) {
        guard name != owner else { return }
        leaveServer()
        guard let name, name.hasPrefix(":") else {
            say("no notification server runs")
            return
        }
        owner = name
        _ = call(.capabilities, to: name, Server.path, "GetCapabilities")
    }

    private func leaveServer() {
        owner = nil
        isSilent = false
        board.serverLeft()
        pending = pending.filter { _, pending in
            switch pending.call {
            case .hello, .match, .owner: true
            case .capabilities, .notify: false
            }
        }
    }

    private func met(_ abilities: ServerAbilities) {
        shownState = abilities.hasActions ? "notifications are shown" : "notifications are shown, without actions"
        board.serverCame(abilities)
        say(shownState)
    }

    private func carry(_ commands: [NotificationBoard.Command]) {
        var commands = commands[...]
        while let command = commands.popFirst() {
            switch command {
            case .notify(let notify):
                // If sending fails, the bus is gone; the next round notices that.
                if !send(notify) { commands += board.answered(notify.number, id: nil) }
            case .close(let id):
                guard let owner else { continue }
                // The reply changes nothing, so no state is kept for it.
                _ = call(nil, to: owner, Server.path, "CloseNotification") { $0.uint32(id) }
            case .tell(let number, let event):
                inlets[number]?.yield(event)
                if case .closed = event { inlets.removeValue(forKey: number)?.finish() }
            }
        }
    }

    private func send(_ notify: NotifyCall) -> Bool {
        guard let owner else { return false }
        return call(.notify(notify.number), to: owner, Server.path, "Notify") { arguments in
            arguments.string("Waft")
            arguments.uint32(notify.replaces)
            // Every icon theme has this icon.
            arguments.string("folder-download")
            arguments.string(notify.summary)
            arguments.string(notify.body)
            arguments.array(of: "s") { array in
                for text in notify.actions { array.string(text) }
            }
            arguments.array(of: "{sv}") { hints in
                hints.entry("urgency", "y") { $0.byte(notify.urgency.rawValue) }
                if let category = notify.category { hints.entry("category", "s") { $0.string(category) } }
                if let picture = notify.picture { hints.entry("image-path", "s") { $0.string(picture) } }
            }
            arguments.int32(notify.expiry)
        }
    }

    // MARK: Messages

    /// - Parameter call: handles the reply; nil if no reply is wanted.
    /// - Returns: whether it was sent.
    private func call(
        _ call: Call?, to destination: String, _ path: String, _ member: String,
        _ arguments: (inout BusWriter) -> Void = { _ in }
    ) -> Bool {
        let interface = destination == BusName.bus ? BusName.bus : Server.name
        guard let connection,
            let message = BusMessage.call(to: destination, path: path, interface: interface, member: member),
            message.write(arguments)
        else { return false }
        if call == nil { message.wantsNoReply() }
        guard let serial = connection.send(message) else { return false }
        if let call { pending[serial] = Pending(call: call, since: .now) }
        return true
    }

    private func take(_ message: BusMessage) {
        switch message.kind {
        case .reply, .error:
            guard let pending = pending.removeValue(forKey: message.replySerial) else { return }
            replied(pending.call, message)
        case .signal:
            signalled(message)
        case .call:
            if let refusal = message.refusal() { _ = connection?.send(refusal) }
        case .other:
            break
        }
    }

    private func replied(_ call: Call, _ message: BusMessage) {
        let isError = message.kind == .error
        if isError, message.sender == BusName.bus, Self.lost.contains(message.errorName ?? "") {
            switch call {
            case .capabilities, .notify: return
            case .hello, .match, .owner: break
            }
        }
        switch call {
        case .hello:
            if isError { return leaveBus("the session bus refuses the connection") }
            pause = Self.firstPause
            greeted()
        case .match:
            if isError { leaveBus("the session bus reports no changes") }
        case .owner:
            // The error is NameHasNoOwner.
            ownerIs(isError ? nil : message.read { $0.string() })
            if owner == nil { say("no notification server runs") }
        case .capabilities:
            let capabilities = isError ? nil : message.read { $0.strings(most: NotificationLimits.capabilities) }
            guard let capabilities else { return say("the notification server does not tell its capabilities") }
            met(ServerAbilities(capabilities))
        case .notify(let number):
            carry(board.answered(number, id: isError ? nil : message.read { $0.uint32() }))
        }
        if isSilent, message.sender == owner {
            isSilent = false
            say(shownState)
        }
    }

    private func signalled(_ message: BusMessage) {
        if message.sender == BusName.bus, message.interface == BusName.bus, message.member == "NameOwnerChanged" {
            let (name, new) = message.read { arguments in
                let name = arguments.string()
                _ = arguments.string()
                return (name, arguments.string())
            }
            if name == Server.name { ownerIs(new?.isEmpty == false ? new : nil) }
            return
        }
        guard let owner, message.sender == owner, message.interface == Server.name, message.path == Server.path else {
            return
        }
        switch (message.member, message.signature) {
        case ("ActionInvoked", "us"):
            let (id, key) = message.read { ($0.uint32(), $0.string()) }
            if let id, let key { carry(board.invoked(id, key)) }
        case ("NotificationClosed", "uu"):
            let (id, reason) = message.read { ($0.uint32(), $0.uint32()) }
            if let id, let reason { carry(board.closed(id, reason: reason)) }
        default:
            break
        }
    }

    /// Logs the state once.
    private func say(_ state: String) {
        guard state != lastSaid else { return }
        lastSaid = state
        logger.info("desktop notifications", metadata: ["state": "\(NotificationText.line(state, limit: 300))"])
    }
}

/// Reports new sockets, so that no thread has to poll for a bus.
///
/// Used by one thread.
final class SocketWatch {
    private static let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)

    /// Nil if the kernel gives none: then the service tries to connect at intervals.
    private let inotify: Inotify?
    private let sockets: [(folder: String, name: [UInt8])]
    private var names: [Int32: Set<[UInt8]>] = [:]

    /// - Parameter sockets: absolute paths.
    init(_ sockets: [String]) {
        inotify = sockets.isEmpty ? nil : try? Inotify()
        self.sockets = sockets.compactMap { path in
            guard let slash = path.lastIndex(of: "/") else { return nil }
            let folder = path[..<slash]
            return (folder.isEmpty ? "/" : String(folder), Array(path[path.index(after: slash)...].utf8))
        }
        cover()
    }

    /// For poll(2); negative if nothing can be watched.
    var descriptor: Int32 { inotify?.descriptor ?? -1 }

    /// Watches the folders again, including those created since the last call.
    func cover() {
        guard let inotify else { return }
        names = [:]
        for (folder, name) in sockets {
            if let watch = try? inotify.watch(folder, for: Self.events) { names[watch, default: []].insert(name) }
        }
    }

    /// Reads all pending events.
    /// - Returns: whether one of the sockets was created.
    func drain() -> Bool {
        var isMade = false
        inotify?.drain { event in
            if names[event.watch]?.contains(event.name) == true { isMade = true }
        }
        return isMade
    }
}
