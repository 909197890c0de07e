import Endpoints
import Testing

@testable import Receiving

@Suite("The window of a radio backend")
struct RadioWindowTests {
    private let start = ContinuousClock.now
    private var tenMinutes: RadioWindow.Wish { RadioWindow.Wish(end: start + .seconds(600)) }

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func open(_ wish: RadioWindow.Wish) -> RadioWindow {
        var window = RadioWindow()
        _ = window.next(wish, at: start)
        window.started(nil, at: start)
        return window
    }

    @Test("is opened for the time of the wish, and closed when the wish ends")
    func follows() {
        var window = RadioWindow()
        #expect(window.next(nil, at: start) == .wait(until: nil) && !window.mayBeOpen)
        #expect(window.next(tenMinutes, at: start) == .start(tenMinutes) && window.mayBeOpen)
        #expect(tenMinutes.seconds(at: at(1) - .milliseconds(1)) == 600 && tenMinutes.seconds(at: at(1)) == 599)
        #expect(tenMinutes.seconds(at: at(700)) == 1 && RadioWindow.Wish().seconds(at: start) == nil)
        window.started(nil, at: start)
        #expect(window.isOpen && window.isSettled(for: tenMinutes))
        #expect(window.next(tenMinutes, at: start) == .wait(until: at(1)))
        #expect(window.next(nil, at: at(2)) == .stop)
        window.stopped(nil, at: at(2))
        #expect(window.next(nil, at: at(2)) == .wait(until: nil) && !window.mayBeOpen && !window.isOpen)
    }

    @Test("is opened again only for another end, not for one that was computed anew")
    func ends() {
        var window = open(tenMinutes)
        let later = RadioWindow.Wish(end: at(1_200))
        #expect(window.next(RadioWindow.Wish(end: at(601)), at: start) == .wait(until: at(1)))
        #expect(window.next(later, at: start) == .start(later))
        window = open(tenMinutes)
        #expect(window.next(RadioWindow.Wish(), at: start) == .start(RadioWindow.Wish()))
        #expect(!window.isSettled(for: later))
    }

    @Test("that may be open after a crash is closed at the start, or taken over")
    func crashed() {
        var window = RadioWindow(mayBeOpen: true)
        #expect(window.next(nil, at: start) == .stop)
        window = RadioWindow(mayBeOpen: true)
        #expect(window.next(tenMinutes, at: start) == .start(tenMinutes))
    }

    @Test("that cannot be opened now is tried again after longer and longer pauses, until the wish ends")
    func retries() {
        var (window, now) = (RadioWindow(), start)
        var pauses: [Duration] = []
        for _ in 0..<6 {
            #expect(window.next(tenMinutes, at: now) == .start(tenMinutes))
            window.started(.notNow("no Wi-Fi"), at: now)
            #expect(window.isSettled(for: tenMinutes) && window.fault == .notNow("no Wi-Fi") && !window.mayBeOpen)
            guard case .wait(let again?) = window.next(tenMinutes, at: now) else { break }
            pauses.append(again - now)
            now = again
        }
        #expect(pauses == [10, 20, 40, 80, 160, 160].map { .seconds($0) })
        #expect(window.next(nil, at: now) == .wait(until: nil) && window.fault == nil)
    }

    @Test("that polkit refused is not asked for again before another wish")
    func refused() {
        var window = RadioWindow()
        _ = window.next(tenMinutes, at: start)
        window.started(.refused, at: start)
        #expect(window.next(tenMinutes, at: at(500)) == .wait(until: nil))
        let later = RadioWindow.Wish(end: at(1_200))
        #expect(window.next(later, at: at(500)) == .start(later))
    }

    @Test("that was refused is asked for again after the same choice, and no old fault is told meanwhile")
    func chosenAgain() {
        for isWished in [true, false] {
            let wish = isWished ? RadioWindow.Wish() : nil
            var window = isWished ? RadioWindow() : open(RadioWindow.Wish())
            _ = window.next(wish, chosen: 1, at: start)
            if isWished { window.started(.refused, at: start) } else { window.stopped(.refused, at: start) }
            #expect(window.next(wish, chosen: 1, at: at(9_000)) == .wait(until: nil))
            #expect(window.isSettled(for: wish, chosen: 1) && !window.isSettled(for: wish, chosen: 2))
            #expect(window.next(wish, chosen: 2, at: at(9_000)) == (isWished ? .start(RadioWindow.Wish()) : .stop))
            #expect(window.fault == nil && !window.isSettled(for: wish, chosen: 2))
        }
    }

    @Test("that was open before another start failed, or may have been opened by it, is closed when the wish ends")
    func openBefore() {
        let later = RadioWindow.Wish(end: at(1_200))
        for failure in [RadioFault.notNow(""), .malformed("start"), .refused] {
            var window = open(tenMinutes)
            #expect(window.next(later, at: at(1)) == .start(later))
            window.started(failure, at: at(1))
            #expect(window.mayBeOpen && window.next(nil, at: at(2)) == .stop)
        }
        var window = RadioWindow()
        _ = window.next(tenMinutes, at: start)
        #expect(window.isStarting)
        window.started(.malformed("start"), at: start)
        #expect(!window.isStarting && window.next(nil, at: start) == .stop)
    }

    @Test("whose interface is gone is opened again")
    func withoutLink() throws {
        let seen = try RadioStatus(Array(#"{"visible":true}"#.utf8))
        var window = open(tenMinutes)
        window.looked(seen, .noLink, at: at(1))
        #expect(window.fault == .noLink && window.mayBeOpen && !window.isOpen)
        #expect(window.next(tenMinutes, at: at(11)) == .start(tenMinutes))
    }

    @Test("that did not answer while it opened may be open: it is closed when the wish ends")
    func silent() {
        var window = RadioWindow()
        _ = window.next(tenMinutes, at: start)
        window.started(.outOfTime("start"), at: start)
        #expect(window.mayBeOpen && window.next(nil, at: start) == .stop)
    }

    @Test("that cannot be closed stays noted, and is tried again; after a refusal not")
    func unclosed() {
        var window = open(tenMinutes)
        window.stopped(.failed("stop", ""), at: start)
        #expect(window.mayBeOpen && window.next(nil, at: at(1)) == .wait(until: at(600)))
        #expect(window.fault == .staysOpen(.failed("stop", "")))
        #expect(window.next(nil, at: at(600)) == .stop && window.fault == nil)
        window.stopped(.refused, at: at(600))
        #expect(window.next(nil, at: at(9_000)) == .wait(until: nil) && window.mayBeOpen)
        #expect(window.next(RadioWindow.Wish(), at: at(9_000)) == .start(RadioWindow.Wish()))
    }

    @Test("that ended by itself is a fault, and is opened again, but not in its last seconds")
    func endedEarly() throws {
        let closed = try RadioStatus(Array(#"{"visible":false,"reason":"owl-exited"}"#.utf8))
        var window = open(tenMinutes)
        #expect(window.next(tenMinutes, at: at(1)) == .look)
        window.looked(nil, .malformed("status"), at: at(1))
        #expect(window.isOpen && window.fault == .malformed("status"))
        #expect(window.next(tenMinutes, at: at(2)) == .wait(until: at(16)))
        window.looked(closed, nil, at: at(16))
        #expect(window.fault == .endedEarly("owl-exited") && window.mayBeOpen)
        #expect(window.next(tenMinutes, at: at(16)) == .wait(until: at(26)))
        #expect(window.next(tenMinutes, at: at(26)) == .start(tenMinutes))
        window = open(tenMinutes)
        window.looked(closed, nil, at: at(590))
        #expect(window.isOpen && window.fault == nil)
    }
}
