import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Desk

@Suite("Windows of the desk", .timeLimit(.minutes(1)))
struct DeskDoorTests {
    @Test("a secret lets one window in, once, and its token is its own")
    func door() throws {
        let door = DeskDoor()
        let secrets = [door.makeSecret(), door.makeSecret()]
        let passes = try secrets.map { try #require(door.enter($0)) }
        #expect(secrets.allSatisfy { door.enter($0) == nil }, "a spent secret")
        #expect(door.enter("") == nil && door.enter(passes[0].token) == nil)
        #expect(Set(passes.map(\.token) + passes.map(\.previews) + secrets).count == 6)
        #expect(passes.allSatisfy { door.pass(of: $0.token)?.previews == $0.previews })
        #expect(door.pass(of: nil) == nil && door.pass(of: "") == nil && door.pass(of: passes[0].previews) == nil)
    }

    @Test("of 65 secrets and 65 windows the oldest one of each is forgotten")
    func bounds() throws {
        let door = DeskDoor()
        let secrets = (0...64).map { _ in door.makeSecret() }
        #expect(door.enter(secrets[0]) == nil)
        var tokens = try secrets.dropFirst().map { try #require(door.enter($0)).token }
        tokens.append(try #require(door.enter(door.makeSecret())).token)
        #expect(door.pass(of: tokens[0]) == nil)
        #expect(tokens.dropFirst().allSatisfy { door.pass(of: $0) != nil })
    }

    @Test("the lines of a call leave whole and in order, however its output is cut")
    func lines() async throws {
        let sent = Recorder<String>()
        let lines = DeskLines { sent.record(String(buffer: $0)) }
        for piece in ["{\"a\":", "1}\n{\"b\":2}\n{", "\"c\"", ":3", "}\n\n", "rest"] {
            try await lines.add(Array(piece.utf8))
        }
        #expect(sent.all.joined() == "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n\n")
        #expect(sent.all.allSatisfy { $0.hasSuffix("\n") })
    }

    @Test("each line of a call carries the call's name, and a name is in use until its call ends")
    func calls() async throws {
        let sent = Recorder<String>()
        let window = DeskWindow(previews: "p") { sent.record(String(buffer: $0)) }
        let (began, end) = (Gate(), Gate())
        #expect(
            window.begin("one") { lines in
                try? await lines.add(Array("{\"x\":1}\n".utf8))
                began.open()
                await end.wait()
            })
        await began.wait()
        #expect(sent.all == ["{\"call\":\"one\",\"line\":{\"x\":1}}\n"])
        #expect(!window.begin("one") { _ in Issue.record("a second call of one name") })
        #expect(!window.cancel("two"))
        end.open()
    }

    @Test("a call is cancelled by its name, and all are when the window closes; nothing begins after that")
    func ends() async throws {
        let window = DeskWindow(previews: "p") { _ in }
        let cancelled = Recorder<String>()
        for name in ["a", "b", "c"] {
            #expect(
                window.begin(name) { _ in
                    // The gate of a cancelled task does not wait.
                    await Gate().wait()
                    cancelled.record(name)
                })
        }
        #expect(window.cancel("b"))
        #expect(try await cancelled.element(1) == "b")
        window.close()
        _ = try await cancelled.element(3)
        #expect(Set(cancelled.all) == ["a", "b", "c"])
        #expect(!window.begin("d") { _ in Issue.record("a call of a closed window") } && !window.cancel("a"))
    }

    @Test("a window has at most 128 calls at the same time")
    func manyCalls() {
        let window = DeskWindow(previews: "p") { _ in }
        let begun = (0...DeskWindow.maximum).map { number in window.begin("c\(number)") { _ in await Gate().wait() } }
        #expect(begun.dropLast().allSatisfy { $0 } && begun.last == false)
        window.close()
    }

    @Test("a window is found by its name, and its previews by their secret, as long as its stream is open")
    func windows() async throws {
        let (windows, window) = (DeskWindows(), DeskWindow(previews: "secret") { _ in })
        #expect(windows[window.name] == nil && !windows.show("secret"))
        await windows.keeping(window) {
            #expect(windows[window.name] === window && windows.show("secret") && !windows.show("other"))
        }
        #expect(windows[window.name] == nil && !windows.show("secret"))
        #expect(!window.begin("late") { _ in Issue.record("a call of a window that is gone") })
    }

    @Test("the desk waits as long as a window is open, and ends when none is after the grace")
    func waiting() async throws {
        let (windows, closing, isOpen, steps) = (DeskWindows(), Gate(), Gate(), Recorder<String>())
        let open = Task {
            await windows.counting {
                isOpen.open()
                await closing.wait()
                steps.record("closed")
            }
        }
        await isOpen.wait()
        let waiting = Task {
            await windows.waitUntilClosed(for: .milliseconds(1))
            steps.record("ended")
        }
        for _ in 1...100 { await Task.yield() }
        closing.open()
        await open.value
        await waiting.value
        #expect(steps.all == ["closed", "ended"])
    }
}
