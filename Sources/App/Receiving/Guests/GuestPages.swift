import Control
import Endpoints
import ItemSources
import Lines
import Settings
import Sharing
import Streams
import Synchronization

/// The page for guests, as the user wants it: a command opens one, follows it and closes it; the settings can keep one open
/// all the time. At most one is open at a time: that of a command before that of the settings.
final class GuestPages: PageHosting {
    /// How long a command may be silent.
    private static let timeout: Duration = .seconds(30)
    /// How long `follow` waits for news at most.
    private static let longestWait: Duration = .seconds(4)

    /// Seconds for which a page can be open: ten years.
    private static let longest = 315_360_000.0

    private let settings: LiveSettings
    private let state = Mutex(State())
    /// A page has changed, or the settings have.
    private let news = Broadcast<Void>(buffer: .bufferingNewest(1))

    private struct State {
        /// The page of a command, also when it is over.
        var opened: OpenPage?
        /// The page of the settings. It keeps its secret for as long as the receiver runs.
        var standing: OpenPage?
        /// Those from which the page of the settings was made: others make another page.
        var standingSettings: WebSettings?

        /// Changes the page of a number.
        mutating func change(_ number: Int, _ body: (inout OpenPage) -> Void) {
            if opened?.page.number == number { opened?.change(body) }
            if standing?.page.number == number { standing?.change(body) }
        }
    }

    /// A page with its standing.
    private struct OpenPage {
        let page: GuestPage
        var progress: PageProgress
        /// Each with its revision.
        var steps: [(revision: Int, step: GuestLine)] = []
        /// The time of the command's last request.
        var heard = ContinuousClock.now

        /// Until when it is open, if nothing else happens; nil for the page of the settings.
        var deadline: ContinuousClock.Instant? {
            if progress.isStanding { return nil }
            let abandoned = heard + GuestPages.timeout
            return page.end.map { min($0, abandoned) } ?? abandoned
        }

        var isOver: Bool {
            progress.phase == .closing || progress.phase == .closed || deadline.map { $0 <= .now } ?? false
        }

        init(_ page: GuestPage, isStanding: Bool = false) {
            self.page = page
            progress = PageProgress(
                ticket: page.number, isPlain: page.isPlain, takes: page.takes,
                items: page.items.map(\.offered.name.text), isStanding: isStanding)
        }

        mutating func change(_ body: (inout OpenPage) -> Void) {
            body(&self)
            progress.revision += 1
        }

        /// The standing for a command that has seen a revision.
        func progress(after seen: Int) -> PageProgress {
            var progress = self.progress
            progress.steps = steps.filter { $0.revision > seen }.map(\.step)
            progress.secondsLeft = page.end.map { end in
                max(0, Int((ContinuousClock.now.duration(to: end) / .seconds(1)).rounded(.up)))
            }
            return progress
        }
    }

    init(_ settings: LiveSettings) {
        self.settings = settings
    }

    // MARK: The command

    /// Opens a page, and waits until guests can open it. May block on the disk.
    /// - Throws: `SourceError` for an item that cannot be shared; `Refusal` with a line for the user.
    func open(_ wanted: PageOpening) async throws -> PageProgress {
        dropFailedPage()
        if wanted == PageOpening(), let standing = page, state.withLock({ $0.standing?.page.number == standing.number })
        {
            return try await opened(standing.number)
        }
        let items = try wanted.items.map { path throws(SourceError) in try ItemSources.make(path: path) }
        let end = wanted.seconds.map { ContinuousClock.now + .seconds($0.isFinite ? min(max($0, 1), Self.longest) : 1) }
        let desk = OpenPage(
            GuestPage(
                number: Self.number(), items: items, takes: wanted.takes, isPlain: wanted.isPlain,
                isOnce: wanted.isOnce, end: end))
        let isTaken = state.withLock { state in
            if let opened = state.opened, !opened.isOver { return true }
            state.opened = desk
            return false
        }
        guard !isTaken else { throw Refusal("a page for guests is open already: close it first, where waft web runs") }
        news.send(())
        return try await opened(desk.page.number)
    }

    struct Refusal: Error {
        let line: String

        init(_ line: String) { self.line = line }
    }

    private static func number() -> Int { Int.random(in: 1...(1 << 52)) }

    /// Waits until a page is open, or could not be opened.
    private func opened(_ number: Int) async throws -> PageProgress {
        let limit = Task {
            do { try await Task.sleep(for: .seconds(8)) } catch { return }
            closed(number, fault: "the receiver could not open the page in time")
        }
        defer { limit.cancel() }
        await wait(until: nil) { self.progress(number, after: 0)?.phase != .opening }
        guard let progress = progress(number, after: 0) else { throw Refusal("another command has opened a page") }
        guard progress.phase == .open else { throw Refusal(progress.fault ?? "the page was closed at once") }
        return progress
    }

    /// - Returns: nil for a ticket that no page has.
    func follow(_ ticket: Int, seen: Int) async -> PageProgress? {
        state.withLock { state in
            if state.opened?.page.number == ticket { state.opened?.heard = .now }
        }
        let end = ContinuousClock.now + Self.longestWait
        await wait(until: { end }) { end <= .now || self.progress(ticket, after: seen)?.revision != seen }
        return progress(ticket, after: seen)
    }

    private func progress(_ number: Int, after seen: Int) -> PageProgress? {
        state.withLock { state in
            [state.opened, state.standing].compactMap(\.self).first { $0.page.number == number }?
                .progress(after: seen)
        }
    }

    /// Closes the page of a command.
    func close(_ ticket: Int) { close(ticket, .command) }

    private func close(_ number: Int, _ end: PageProgress.End) {
        state.withLock { state in
            guard state.opened?.page.number == number else { return }
            state.change(number) { desk in
                guard !desk.isOver || desk.progress.end == nil else { return }
                (desk.progress.phase, desk.progress.end) = (.closing, end)
            }
        }
        news.send(())
    }

    /// The settings have changed, or were read again.
    func lookAgain() {
        dropFailedPage()
        news.send(())
    }

    /// The page of the settings that could not be opened is tried again, as another page: its certificate may be there now.
    private func dropFailedPage() {
        state.withLock { state in
            if state.standing?.progress.phase == .closed { state.standing = nil }
        }
    }

    // MARK: The endpoint

    var page: GuestPage? {
        let settings = settings.current.web
        return state.withLock { state in
            if let opened = state.opened, !opened.isOver { return opened.page }
            guard settings.isEnabled else {
                state.standing = nil
                return nil
            }
            if state.standing == nil || state.standingSettings != settings {
                state.standingSettings = settings
                let page = GuestPage(number: Self.number(), isPlain: settings.isPlain)
                state.standing = OpenPage(page, isStanding: true)
            }
            return state.standing?.page
        }
    }

    func wait(until wanted: @Sendable (GuestPage?) -> Bool) async {
        let deadline = { @Sendable in self.state.withLock { $0.opened.flatMap { $0.isOver ? nil : $0.deadline } } }
        await wait(until: deadline) { wanted(self.page) }
    }

    /// Waits until a condition holds, or the task is cancelled.
    /// - Parameter time: when the condition is asked for without a change, too; nil for never.
    private func wait(
        until time: (@Sendable () -> ContinuousClock.Instant?)?, _ condition: () -> Bool
    ) async {
        while !Task.isCancelled {
            // Before the condition is asked for: no change is missed.
            let changes = news.watch()
            if condition() { return }
            let time = time?()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in changes { break } }
                if let time { group.addTask { try? await Task.sleep(until: time, clock: .continuous) } }
                await group.next()
                group.cancelAll()
            }
        }
    }

    func opened(_ page: GuestPage, at place: PageAddress) {
        change(page.number) { desk in
            if desk.progress.phase != .closing { desk.progress.phase = .open }
            (desk.progress.path, desk.progress.pin) = (place.path, place.pin)
            (desk.progress.authorities, desk.progress.fingerprint) = (place.authorities, place.fingerprint)
        }
    }

    func saw(_ step: GuestStep, on page: GuestPage) {
        change(page.number) { desk in
            if case .newPIN(let pin) = step { desk.progress.pin = pin }
            desk.steps.append((desk.progress.revision + 1, GuestLine(step)))
            if desk.steps.count > PageProgress.maximumSteps { desk.steps.removeFirst() }
        }
    }

    func finished(_ page: GuestPage) { close(page.number, .guest) }

    func closed(_ page: GuestPage, fault: String?) { closed(page.number, fault: fault) }

    private func closed(_ number: Int, fault: String?) {
        change(number) { desk in
            // The page of the settings is opened again.
            guard !desk.progress.isStanding || fault != nil else {
                desk.progress.phase = .opening
                return
            }
            guard desk.progress.phase != .closed else { return }
            let isTimeOver = desk.page.end.map { $0 <= .now } ?? false
            desk.progress.end =
                fault != nil
                ? .receiver : desk.progress.end ?? (isTimeOver ? .time : desk.isOver ? .command : .receiver)
            (desk.progress.phase, desk.progress.fault) = (.closed, fault)
        }
    }

    private func change(_ number: Int, _ body: (inout OpenPage) -> Void) {
        state.withLock { $0.change(number, body) }
        news.send(())
    }
}

extension GuestLine {
    fileprivate init(_ step: GuestStep) {
        switch step {
        case .entered(let address, let browser):
            self.init(.guest, address: address)
            self.browser = browser
        case .wrongPIN(let address): self.init(.wrongPin, address: address)
        case .newPIN(let pin):
            self.init(.newPin)
            self.pin = pin
        case .fetched(let address, let name, let isWhole):
            self.init(.fetched, address: address)
            (self.name, self.whole) = (name, isWhole)
        }
    }
}
