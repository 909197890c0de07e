import Contacts
import Endpoints
import Foundation
import Lines
import Logging
import Settings
import Sharing
import Synchronization
import SystemCalls

/// Opens and closes the window of the radio backend, and tells what the backend says. It never delays the receiver.
final class RadioKeeper: Sendable {
    /// The last facts about the backend.
    private struct Facts {
        var window = RadioWindow()
        var probe: RadioProbe?
        var status: RadioStatus?
        var heard = 0
        /// Why no backend can be used.
        var fault: RadioFault?
    }

    private let radio: Radio
    private let door: VisibilityController
    /// The path of the helper whose window may be open is in this file: after a crash, the next start closes it.
    private let mark: String
    private let logger: Logger
    private let facts = Mutex(Facts())

    /// Time for the window to close when the receiver ends; the helper goes on after it.
    private static let shutdownGrace: Duration = .seconds(2)

    init(_ radio: Radio, _ door: VisibilityController, home: Home, logger: Logger) {
        (self.radio, self.door, self.logger) = (radio, door, logger)
        mark = home.state + "/radio-window"
    }

    // MARK: Wishes

    /// The backend and the window that are wished for now.
    private struct Scene {
        var backend: RadioBackend?
        var fault: RadioFault?
        var wish: RadioWindow.Wish?
        /// The mark of the user's choice.
        var chosen: UInt32?

        func isSame(as other: Scene) -> Bool {
            guard backend == other.backend, fault == other.fault, chosen == other.chosen else { return false }
            guard let wish, let otherWish = other.wish else { return wish == other.wish }
            return wish.isSame(as: otherWish)
        }
    }

    private var scene: Scene {
        var scene = Scene(chosen: door.choiceMark)
        do throws(RadioFault) { scene.backend = try radio.backend } catch { scene.fault = error }
        guard scene.backend != nil, door.visibility == .everyone else { return scene }
        scene.wish = RadioWindow.Wish(end: door.nextVisibility.map { .now + $0.remaining })
        return scene
    }

    // MARK: Running

    /// Until the task is cancelled; then it closes the window.
    func run() async {
        // The backend of the window that may be open.
        var user = Self.marked(mark)
        facts.withLock { $0.window = RadioWindow(mayBeOpen: user != nil) }
        while !Task.isCancelled {
            let scene = scene
            learn(scene.fault)
            // Another backend begins after the window of the one before is closed.
            let isOther = user != nil && user != scene.backend
            let action = facts.withLock { $0.window.next(isOther ? nil : scene.wish, chosen: scene.chosen, at: .now) }
            switch action {
            case .start(let wish):
                guard let backend = scene.backend else { break }
                user = backend
                await start(backend, wish)
            case .stop:
                guard let backend = user else { break }
                await stop(backend)
            case .look:
                if let backend = user { await look(backend) }
            case .wait(let end): await wait(whileSame: scene, until: end)
            }
            if !facts.withLock({ $0.window.mayBeOpen }) {
                user = nil
                unlink(mark)
            }
        }
        let (mayBeOpen, isStarting) = facts.withLock { ($0.window.mayBeOpen, $0.window.isStarting) }
        guard let backend = user, mayBeOpen else { return }
        // The task is cancelled: calls of it would end at once.
        await Task { [radio, mark] in
            do throws(RadioFault) {
                try await radio.stop(backend, within: Self.shutdownGrace)
                // A helper that is still opening the window goes on: the next start closes it.
                if !isStarting { unlink(mark) }
            } catch {}
        }.value
    }

    private func wait(whileSame scene: Scene, until end: RadioWindow.Instant?) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.door.wait { _ in !self.scene.isSame(as: scene) } }
            if let end { group.addTask { try? await Task.sleep(until: end, clock: .continuous) } }
            await group.next()
            group.cancelAll()
        }
    }

    private func start(_ backend: RadioBackend, _ wish: RadioWindow.Wish) async {
        do {
            try SmallFile.replace(mark, with: Array(backend.helper.utf8), mode: 0o600)
        } catch {
            logger.warning("the radio's window cannot be noted", metadata: ["reason": "\(error)"])
        }
        var failure: RadioFault?
        facts.withLock { $0.probe = nil }
        do throws(RadioFault) {
            let probe = try await radio.probe(backend)
            facts.withLock { $0.probe = probe }
            try await radio.start(backend, seconds: wish.seconds(at: .now))
        } catch {
            failure = error
        }
        guard !Task.isCancelled else { return }
        facts.withLock { [failure] in $0.window.started(failure, at: .now) }
        if let failure { say(failure) } else { logger.notice("the radio is on: iPhones see this machine") }
        door.lookAgain()
    }

    private func stop(_ backend: RadioBackend) async {
        var failure: RadioFault?
        do throws(RadioFault) { try await radio.stop(backend) } catch { failure = error }
        guard !Task.isCancelled else { return }
        facts.withLock { [failure] facts in
            facts.window.stopped(failure, at: .now)
            (facts.status, facts.heard) = (nil, 0)
        }
        if let failure { say(failure) } else { logger.notice("the radio is off") }
        door.lookAgain()
    }

    private func look(_ backend: RadioBackend) async {
        var (status, heard): (RadioStatus?, Int) = (nil, 0)
        var failure: RadioFault?
        do throws(RadioFault) {
            status = try await radio.status(of: backend)
            if RadioLink.current == nil { failure = .noLink }
        } catch {
            failure = error
        }
        if failure == nil { heard = (try? await radio.peers(of: backend).count) ?? 0 }
        guard !Task.isCancelled else { return }
        let (before, fault) = facts.withLock { [status, heard, failure] facts in
            let before = facts.window.fault
            facts.window.looked(status, failure, at: .now)
            (facts.status, facts.heard) = (status, heard)
            return (before, facts.window.fault)
        }
        guard fault != before else { return }
        if let fault { say(fault) }
        door.lookAgain()
    }

    private func learn(_ fault: RadioFault?) {
        let isNew = facts.withLock { facts in
            defer { facts.fault = fault }
            return facts.fault != fault
        }
        if isNew, let fault { say(fault) }
    }

    private func say(_ fault: RadioFault) {
        let words: Logger.Message =
            if case .staysOpen = fault { "iPhones may still see this machine" } else {
                "iPhones do not see this machine"
            }
        logger.warning(words, metadata: ["reason": "\(fault)", "hint": "\(fault.hint)"])
    }

    private static func marked(_ path: String) -> RadioBackend? {
        guard let bytes = try? SmallFile.read(path, limit: 4_096) else { return nil }
        return try? RadioBackend(String(decoding: bytes, as: UTF8.self))
    }
}

extension RadioKeeper: StatusGiving {
    func fill(_ status: inout StatusLine) { status.radio = line(scene) }

    /// Nil without a backend.
    var standing: StatusLine.Radio? { line(scene) }

    /// Nil without a backend.
    private func line(_ scene: Scene) -> StatusLine.Radio? {
        guard scene.backend != nil || scene.fault != nil else { return nil }
        let placeFault = scene.wish == nil ? nil : radio.placeFault.map(RadioFault.portTaken)
        return facts.withLock { facts in
            var line = StatusLine.Radio()
            line.backend = facts.probe.map { $0.version.isEmpty ? $0.backend : "\($0.backend) \($0.version)" }
            line.interfaceUp = RadioLink.current != nil
            line.visible = scene.wish != nil && facts.window.isOpen
            let isSettled = facts.window.isSettled(for: scene.wish, chosen: scene.chosen)
            line.opening = scene.wish != nil && !isSettled
            line.closing = scene.wish == nil && !isSettled
            line.windowSeconds = line.visible ? facts.status?.remaining : nil
            line.proven = facts.status?.isProven ?? false
            line.heard = facts.heard
            let missing = facts.probe?.missing ?? []
            line.obstacles = missing.isEmpty ? nil : missing
            let linkFault = line.visible && !line.interfaceUp ? RadioFault.noLink : nil
            let windowFault = isSettled ? facts.window.fault : nil
            let fault = scene.fault ?? windowFault ?? linkFault ?? placeFault
            (line.fault, line.hint, line.radioFault) = (fault?.description, fault?.hint, fault?.code)
            return line
        }
    }
}
