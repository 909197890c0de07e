import Foundation
import Testing

/// Sealed files that are too large for a clear copy, and handlers that read them from a pipe.
@Suite("A handler of large sealed items", .serialized, .timeLimit(.minutes(3)))
struct SealedStreamTests {
    private static let streams = "<key>WaftStreams</key><true/>"

    private func withSmallQuota(_ body: @escaping @Sendable (SealedKitchen) async throws -> Void) async throws {
        try await withSealedKitchen { kitchen in
            var kitchen = kitchen
            kitchen.host.environment["WAFT_CLEAR_QUOTA"] = "1 MB"
            try await body(kitchen)
        }
    }

    @Test("gets the contents of a large file from a pipe, and a small one as a clear copy")
    func streamed() async throws {
        try await withSmallQuota { kitchen in
            let script = #"""
                cat "$WAFT_FILE" > "$OUT/$WAFT_NAME"
                [ "$WAFT_DIGEST" = "sha-256:$(sha256sum < "$OUT/$WAFT_NAME" | cut -c 1-64)" ] && digest=right
                echo "$digest ${WAFT_FILE%/*}" >> "$OUT/record"
                """#
            try kitchen.install("streams", script, keys: Self.streams)
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                for (name, bytes) in [("large.png", 5_000_000), ("small.png", 10)] {
                    let sent = try await kitchen.send([name], bytes: bytes, to: running)
                    #expect(sent.exit == 0, "\(sent)")
                    #expect(kitchen.isSame(name))
                    let line = try #require(kitchen.lines().last)
                    #expect(line.hasPrefix("right "))
                    #expect(line.hasSuffix("/proc/self/fd") == (name == "large.png"))
                }
                #expect(try running.names() == ["large.png.age", "small.png.age"], "the sealed items stay")
            }
        }
    }

    @Test("that stops early or never reads holds up nobody")
    func early() async throws {
        try await withSmallQuota { kitchen in
            let script = #"""
                case $WAFT_NAME in
                a*) head -c 100 <&3 > "$OUT/$WAFT_NAME" ;;
                b*) exec 3<&-; exit 1 ;;
                c*) cat <&3 > "$OUT/$WAFT_NAME" ;;
                esac
                """#
            try kitchen.install("early", script, keys: Self.streams)
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                let sent = try await kitchen.send(["a.png", "b.png", "c.png"], bytes: 5_000_000, to: running)
                #expect(sent.exit == 16, "\(sent)")
                #expect(sent.events.compactMap(\.handlerAnswer) == ["yes", "no", "yes"], "\(sent)")
                #expect(kitchen.isSame("c.png") && !kitchen.isSame("a.png"))
            }
        }
    }

    @Test("is killed when the sealed file is a part only, and gets it all when it is whole again")
    func damaged() async throws {
        try await withSmallQuota { kitchen in
            let script = #"cat "$WAFT_FILE" > "$OUT/$WAFT_NAME"; echo end >> "$OUT/record""#
            try kitchen.install("whole", script, keys: Self.streams)
            try await kitchen.host.withReceiver { running in
                let sent = try await kitchen.send(["a.png"], bytes: 5_000_000, waiting: false, to: running)
                #expect(sent.exit == 0, "\(sent)")
                let path = running.inbox + "/a.png.age"
                var sealed = try Data(contentsOf: URL(fileURLWithPath: path))
                sealed[4_000_000] ^= 1
                try sealed.write(to: URL(fileURLWithPath: path))
                try await kitchen.host.unlock()
                _ = try await running.log.first("failed")
                #expect(kitchen.lines() == [])
                let part = try Data(contentsOf: URL(fileURLWithPath: kitchen.out + "/a.png"))
                #expect(try Data(contentsOf: URL(fileURLWithPath: kitchen.folder + "/a.png")).starts(with: part))
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("it was changed since it was sealed"), "\(shown)")
                sealed[4_000_000] ^= 1
                try sealed.write(to: URL(fileURLWithPath: path))
                #expect(try await kitchen.host.run(arguments: ["inbox", "retry", "1"]).exit == 0)
                _ = try await running.log.first("opened") { $0.handlerAnswer == "yes" }
                #expect(kitchen.lines() == ["end"] && kitchen.isSame("a.png"))
            }
        }
    }

    @Test("that still reads when the grace of a lock is over is killed, and gets the item anew at the unlock")
    func locked() async throws {
        try await withSmallQuota { kitchen in
            let script = #"""
                head -c 100 <&3 > "$OUT/part"
                [ -e "$OUT/record" ] || { echo begun >> "$OUT/record"; sleep 86400; }
                cat <&3 > "$OUT/rest"
                cat "$OUT/part" "$OUT/rest" > "$OUT/$WAFT_NAME"
                echo end >> "$OUT/record"
                """#
            try kitchen.install("slow", script, keys: Self.streams)
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                let sent = try await kitchen.send(["a.png"], bytes: 5_000_000, waiting: false, to: running)
                #expect(sent.exit == 0, "\(sent)")
                try await eventually { kitchen.lines() == ["begun"] }
                try await kitchen.host.lock()
                _ = try await running.log.first("locked")
                #expect(kitchen.lines() == ["begun"] && kitchen.lines("rest") == [])
                try await kitchen.host.unlock()
                _ = try await running.log.first("opened") { $0.handlerAnswer == "yes" }
                #expect(kitchen.lines() == ["begun", "end"] && kitchen.isSame("a.png"))
            }
        }
    }

    @Test("by the transfer is called one by one while its items are together too large")
    func oneByOne() async throws {
        try await withSmallQuota { kitchen in
            let script = #"""
                cat "$WAFT_FILE" > "$OUT/$WAFT_NAME"
                echo "$WAFT_NAME $WAFT_ITEMS ${WAFT_FILE%%/self/*}" >> "$OUT/record"
                """#
            try kitchen.install("albums", script, launch: "perTransfer", keys: Self.streams)
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                let sent = try await kitchen.send(["a.png", "b.png"], bytes: 2_000_000, to: running)
                #expect(sent.exit == 0, "\(sent)")
                #expect(kitchen.lines() == ["a.png 1 /proc", "b.png 1 /proc"])
                #expect(kitchen.isSame("a.png") && kitchen.isSame("b.png"))
            }
        }
    }
}
