import Foundation
import Subprocess
import Testing

/// Handlers with a `Settings.bundle`, at a real receiver.
@Suite("Settings of handlers", .serialized, .timeLimit(.minutes(2)))
struct HandlerSettingsTests {
    private func install(_ script: String, _ keys: [String: Any] = [:], on host: Host) throws {
        let bundle = host.home + "/handlers/Photos.handler"
        try Self.install(script, keys, at: bundle)
    }

    /// Writes the bundle of a handler for images that has two settings, and more.
    static func install(
        _ script: String, _ keys: [String: Any] = [:], more: [[String: Any]] = [], at bundle: String
    ) throws {
        try FileManager.default.createDirectory(
            atPath: bundle + "/Settings.bundle", withIntermediateDirectories: true)
        try writeScript(script, to: bundle + "/run")
        let info: [String: Any] = [
            "CFBundleIdentifier": "org.example.photos", "CFBundleExecutable": "run",
            "CFBundleDocumentTypes": [["LSItemContentTypes": ["public.image"]]],
        ]
        let specifiers: [[String: Any]] = [
            ["Type": "PSGroupSpecifier", "Title": "Import"],
            ["Type": "PSTextFieldSpecifier", "Key": "album", "Title": "Album", "DefaultValue": "Camera"],
            [
                "Type": "PSSliderSpecifier", "Key": "quality", "Title": "Quality", "MinimumValue": 0,
                "MaximumValue": 1, "DefaultValue": 0.8,
            ],
        ]
        for (path, list) in [
            ("/Info.plist", info.merging(keys) { $1 }),
            ("/Settings.bundle/Root.plist", ["PreferenceSpecifiers": specifiers + more]),
        ] {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            try data.write(to: URL(fileURLWithPath: bundle + path))
        }
    }

    private func send(_ name: String, from host: Host, in folder: String, to running: RunningReceiver) async throws {
        try png.write(to: URL(fileURLWithPath: folder + "/" + name))
        let sent = try await host.run(arguments: [
            "send", folder + "/" + name, "--to", running.address, "--wait", "opened",
        ])
        #expect(sent.exit == 0, "\(sent)")
    }

    @Test("a secret is read from standard input, and one in the command is warned of")
    func secret() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try Self.install(
                "#!/bin/sh\n", more: [["Type": "PSTextFieldSpecifier", "Key": "token", "IsSecure": true]],
                at: kitchen.home + "/handlers/Photos.handler")
            func token(_ value: String, input: String = "") async throws -> ProgramResult {
                try await kitchen.run(Programs.waft, ["handlers", "settings", "Photos", "token", value], input: input)
            }
            let read = try await token("-", input: "first secret\nsecond\n")
            #expect(read.exit == 0 && read.output == "token: (hidden)  (was \"\", the default)\n", "\(read)")
            #expect(read.errors == "")
            for input in ["", "\n", String(repeating: "x", count: 4_097)] {
                let refused = try await token("-", input: input)
                #expect(refused.exit == 64 && !refused.errors.contains("xxx"), "\(refused)")
            }
            let kept = try await kitchen.run(arguments: ["handlers", "settings", "Photos", "token"])
            #expect(kept.output == "first secret\n", "\(kept)")
            let typed = try await token("other")
            #expect(typed.exit == 0 && typed.errors.contains("waft handlers settings Photos token -"), "\(typed)")
            let album = try await kitchen.run(arguments: ["handlers", "settings", "Photos", "album", "-"])
            #expect(album.output == "album: -  (was Camera, the default)\n" && album.errors == "", "\(album)")
        }
    }

    @Test("a changed value is in the next call of a handler, which neither reads nor writes the file with the values")
    func changed() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            let values = kitchen.home + "/config/handlers/org.example.photos.json"
            try install(
                """
                #!/bin/sh
                printf '%s %s\\n' "$WAFT_SETTING_album" "$WAFT_SETTING_quality" >> "$WAFT_DATA/calls"
                if cat '\(values)' > /dev/null 2>&1; then echo read >> "$WAFT_DATA/calls"; fi
                if ls '\(kitchen.home)/config/handlers' > /dev/null 2>&1; then echo listed >> "$WAFT_DATA/calls"; fi
                if (echo '{}' > '\(values)') 2> /dev/null; then echo written >> "$WAFT_DATA/calls"; fi
                """, on: kitchen)
            let set = try await kitchen.run(arguments: ["handlers", "settings", "Photos", "quality", "1"])
            #expect(set.exit == 0 && set.output == "quality: 1  (was 0.8, the default)\n", "\(set)")
            try await kitchen.withReceiver { running in
                try await send("a.png", from: study, in: folder, to: running)
                let trip = try await kitchen.run(arguments: ["handlers", "settings", "Photos", "album", "Trip to Rome"])
                #expect(trip.exit == 0, "\(trip)")
                try await send("b.png", from: study, in: folder, to: running)
                let back = try await kitchen.run(arguments: ["handlers", "settings", "Photos", "album", "--unset"])
                #expect(back.exit == 0, "\(back)")
                try await send("c.png", from: study, in: folder, to: running)
            }
            let calls = kitchen.home + "/handler-data/org.example.photos/calls"
            #expect(try String(contentsOfFile: calls, encoding: .utf8) == "Camera 1\nTrip to Rome 1\nCamera 1\n")
        }
    }

    @Test("a resident handler that runs is notified when its settings change, and goes on")
    func resident() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try install(
                """
                #!/bin/sh
                echo started >> "$WAFT_DATA/lines"
                while read -r line; do
                    printf '%s\\n' "$line" >> "$WAFT_DATA/lines"
                    case $line in
                    *defaults-did-change*) ;;
                    *) echo '{"answer":"yes"}' ;;
                    esac
                done
                """, ["WaftLaunch": "resident"], on: kitchen)
            let path = kitchen.home + "/handler-data/org.example.photos/lines"
            @Sendable func lines() -> [String] {
                let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                return text.split(separator: "\n").map(String.init)
            }
            try await kitchen.withReceiver { running in
                try await send("a.png", from: study, in: folder, to: running)
                let set = try await kitchen.run(arguments: ["handlers", "settings", "Photos", "album", "Trip"])
                #expect(set.exit == 0, "\(set)")
                try await eventually { lines().count == 3 }
                try await send("b.png", from: study, in: folder, to: running)
            }
            let all = lines()
            try #require(all.count == 4, "\(all)")
            #expect(all[0] == "started" && all[1].contains(#""settings":{"album":"Camera","quality":0.8}"#))
            #expect(all[2] == #"{"call":"defaults-did-change","settings":{"album":"Trip","quality":0.8},"v":1}"#)
            #expect(all[3].contains(#""settings":{"album":"Trip","quality":0.8}"#))
        }
    }
}
