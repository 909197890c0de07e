import Foundation
import Testing

/// Handlers of sealed items: each gets a clear copy in memory, while Waft is unlocked.
@Suite("A handler of sealed items", .serialized, .timeLimit(.minutes(3)))
struct SealedDeliveryTests {
    @Test("gets a copy in memory that its owner alone can read, with the name and the digest of the contents")
    func copy() async throws {
        try await withSealedKitchen { kitchen in
            try kitchen.install(
                "copies",
                #"""
                [ "$WAFT_DIGEST" = "sha-256:$(sha256sum < "$WAFT_FILE" | cut -c 1-64)" ] && digest=right
                echo "$WAFT_NAME $digest $(stat -c %a "$WAFT_FILE") $(stat -f -c %T "$WAFT_FILE")" >> "$OUT/record"
                echo "$WAFT_FILE" >> "$OUT/places"
                cat "$WAFT_FILE" > "$OUT/$WAFT_NAME"
                """#)
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                let sent = try await kitchen.send(["a.png", "b.png"], to: running)
                #expect(sent.exit == 0, "\(sent)")
                #expect(kitchen.lines() == ["a.png right 400 tmpfs", "b.png right 400 tmpfs"])
                #expect(kitchen.isSame("a.png") && kitchen.isSame("b.png"))
                #expect(kitchen.lines("places").count == 2)
                for place in kitchen.lines("places") {
                    #expect(place.hasSuffix(".png") && !FileManager.default.fileExists(atPath: place), "\(place)")
                }
                #expect(try running.names() == ["a.png.age", "b.png.age"], "the sealed items stay")
            }
        }
    }

    @Test("that keeps running gets its copies too, one after the other, and they are gone after its answers")
    func resident() async throws {
        try await withSealedKitchen { kitchen in
            let script = #"""
                while read -r line; do
                    file=$(printf '%s' "$line" | sed 's/.*"file":"\([^"]*\)".*/\1/; s#\\/#/#g')
                    echo "$file" >> "$OUT/places"
                    cat "$file" > "$OUT/${file##*/}" 2>> "$OUT/errors"
                    echo '{"answer":"yes"}'
                done
                """#
            try kitchen.install("stays", script, launch: "resident")
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                let sent = try await kitchen.send(["a.png", "b.png", "c.png"], to: running)
                #expect(sent.exit == 0, "\(sent) \(kitchen.lines("errors"))")
                for name in ["a.png", "b.png", "c.png"] { #expect(kitchen.isSame(name), "\(kitchen.lines("errors"))") }
                for place in kitchen.lines("places") { #expect(!FileManager.default.fileExists(atPath: place)) }
            }
        }
    }

    @Test("that moves its copy away makes the sealed item leave the Inbox, and the journal names it")
    func moving() async throws {
        try await withSealedKitchen { kitchen in
            try kitchen.install("moves", #"mv "$WAFT_FILE" "$OUT/" 2>> "$OUT/errors""#)
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                let sent = try await kitchen.send(["a.png"], to: running)
                #expect(sent.exit == 0, "\(sent) \(kitchen.lines("errors"))")
                try await eventually { try running.names() == [] }
                #expect(kitchen.isSame("a.png"))
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("org.example.moves") || shown.output.contains("moves"), "\(shown)")
                let list = try await kitchen.host.run(arguments: ["inbox", "list", "--json"])
                #expect(list.exit == 0 && list.output == "", "\(list)")
                let verified = try await kitchen.host.run(arguments: ["inbox", "verify"])
                #expect(verified.exit == 0, "\(verified)")
            }
        }
    }

    @Test("is not asked while locked: the sender hears later, and at the unlock it gets all in their order")
    func afterUnlock() async throws {
        try await withSealedKitchen { kitchen in
            try kitchen.install("later", #"echo "$WAFT_NAME $WAFT_ATTEMPT" >> "$OUT/record""#)
            try await kitchen.host.withReceiver { running in
                let waiting = try await kitchen.send(["c.png"], to: running)
                #expect(waiting.exit == 16, "\(waiting)")
                #expect(waiting.events.first { $0.stored != nil }?.handlerAnswer == "later", "\(waiting.output)")
                // Each of them has found the lock before the next one comes, and before the unlock.
                for name in ["a.png", "d.png", "b.png"] {
                    #expect(try await kitchen.send([name], to: running).exit == 16)
                }
                #expect(kitchen.lines() == [])
                let state = try await kitchen.host.run(arguments: ["protection", "--json"])
                #expect(state.output.contains(#""waitingItems":4"#), "\(state)")
                try await kitchen.host.unlock()
                try await running.log.wait(for: 4, of: "opened")
                #expect(kitchen.lines() == ["c.png 1", "a.png 1", "d.png 1", "b.png 1"])
            }
        }
    }

    @Test("gets no copy that is larger than clearQuota, and the reason says so")
    func quota() async throws {
        try await withSealedKitchen { kitchen in
            var kitchen = kitchen
            kitchen.host.environment["WAFT_CLEAR_QUOTA"] = "50 B"
            let those = kitchen
            try those.install("none", #"echo "$WAFT_NAME" >> "$OUT/record""#)
            try await those.host.withReceiver { running in
                try await those.host.unlock()
                let sent = try await those.send(["a.png"], to: running)
                #expect(sent.exit == 16, "\(sent)")
                #expect(those.lines() == [])
                let shown = try await those.host.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("clearQuota"), "\(shown)")
            }
        }
    }
}
