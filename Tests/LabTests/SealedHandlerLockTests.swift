import Foundation
import Subprocess
import Testing

/// A lock that comes while a handler holds a clear copy of the class complete.
@Suite("A lock while a handler reads", .serialized, .timeLimit(.minutes(2)))
struct SealedHandlerLockTests {
    /// Holds its copy at the first call for each item until it is asked to leave, and says yes then.
    private static let script = #"""
        if [ "$WAFT_ATTEMPT" = 1 ]; then
            exec 5< "$WAFT_FILE"
            trap 'echo "$WAFT_NAME TERM" >> "$OUT/record"; exit 0' TERM
            echo "$WAFT_FILE" >> "$OUT/places"
            while :; do sleep 0.1; done
        fi
        echo "$WAFT_NAME $WAFT_ATTEMPT" >> "$OUT/record"
        """#

    @Test("opens nothing new from its beginning, ends the handler, and asks it again after the unlock")
    func complete() async throws {
        try await withSealedKitchen { kitchen in
            try kitchen.host.seal(as: "complete")
            try kitchen.install("holds", Self.script)
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                #expect(try await kitchen.send(["a.png"], waiting: false, to: running).exit == 0)
                try await eventually { kitchen.lines("places").count == 1 }

                try "hello\n".write(toFile: kitchen.folder + "/b.txt", atomically: false, encoding: .utf8)
                let text = try await kitchen.study.run(
                    arguments: ["send", kitchen.folder + "/b.txt", "--to", running.address])
                #expect(text.exit == 0, "\(text)")

                async let locked = kitchen.host.run(arguments: ["lock", "--json"])
                _ = try await running.log.first("locking")
                let state = try await kitchen.host.run(arguments: ["protection"])
                #expect(state.output.contains("state     locking since "), "\(state)")
                for verb in [
                    ["cat", "b.txt"], ["preview", "b.txt"], ["take", "b.txt", kitchen.out], ["unprotect", "a.png"],
                    ["open-in", "a.png", "org.example.holds"],
                ] {
                    let outcome = try await kitchen.host.run(arguments: ["inbox"] + verb)
                    #expect(outcome.exit == 18 && outcome.output == "", "\(verb): \(outcome)")
                }
                // Within the lock: it waits for the end of the lock.
                try await kitchen.host.unlock()
                #expect(try await locked.exit == 0)
                _ = try await running.log.first("opened") { $0.handlerAnswer == "yes" }
                #expect(kitchen.lines() == ["a.png TERM", "a.png 2"])
                let places = kitchen.lines("places")
                #expect(!places.contains { FileManager.default.fileExists(atPath: $0) })

                // A receiver that is killed within the lock leaves a copy, until the next program of the home.
                #expect(try await kitchen.send(["c.png"], waiting: false, to: running).exit == 0)
                try await eventually { kitchen.lines("places").count == 2 }
                async let cut = kitchen.host.run(arguments: ["lock"])
                try await running.log.wait(for: 2, of: "locking")
                running.signal(.kill)
                await running.log.ended()
                #expect(try await cut.exit != 0)
            }
            let place = try #require(kitchen.lines("places").last)
            #expect(try await kitchen.host.run(arguments: ["inbox", "cat", "c.png"]).exit == 18)
            #expect(!FileManager.default.fileExists(atPath: place))
        }
    }
}
