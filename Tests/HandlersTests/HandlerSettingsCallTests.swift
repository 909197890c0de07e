import Foundation
import HandlerCatalog
import Sharing
import TestSupport
import Testing

@testable import Handlers

@Suite("Settings in the calls of a handler", .timeLimit(.minutes(1)))
struct HandlerSettingsCallTests {
    private let settings: [String: HandlerSettingValue] = [
        "quality": .real(0.5), "copy": .truth(true), "size": .integer(2), "album": .text("a \"b\"\n"),
        "not-a-name": .text("x"), String(repeating: "k", count: 64): .text("y"),
        String(repeating: "k", count: 65): .text("z"),
    ]

    @Test("the document has all settings, and the environment those whose key fits a variable")
    func contract() async throws {
        let place = HookFolder()
        setenv("WAFT_SETTING_other", "left over", 1)
        defer { unsetenv("WAFT_SETTING_other") }
        var program = place.program(place.script("env -0 > env; cat > stdin"))
        program.settings = settings
        #expect(try await place.runner().run(program, .open(.sample(), attempt: 1)).answer == .yes)
        #expect(
            place.parts("env").filter { $0.hasPrefix("WAFT_SETTING_") }.sorted() == [
                "WAFT_SETTING_album=a \"b\"\n", "WAFT_SETTING_copy=true",
                "WAFT_SETTING_\(String(repeating: "k", count: 64))=y", "WAFT_SETTING_quality=0.5",
                "WAFT_SETTING_size=2",
            ])
        let document = try place.json("stdin")
        let found = try #require(document["settings"] as? [String: Any])
        #expect(Set(found.keys) == Set(settings.keys))
        #expect(found["quality"] as? Double == 0.5 && found["album"] as? String == "a \"b\"\n")
        #expect(try #require(place.text("stdin")).contains(#""copy":true"#))
    }

    @Test("the questions of the launch get the settings too")
    func launch() async throws {
        let place = HookFolder()
        var program = place.program(place.script("cat > $1"), calls: [.willFinishLaunching])
        program.settings = ["size": .integer(2)]
        _ = try await place.runner().launch(program, .open(.sample(), attempt: 1))
        #expect(try place.json("will-finish-launching")["settings"] as? [String: Int] == ["size": 2])
    }

    // MARK: Resident handlers

    /// A handler that writes its variable, and then each line, into the pipe `heard`, and waits for the pipe `go` before
    /// it answers a question with a note.
    private static let script = """
        exec 9>heard
        echo "size=$WAFT_SETTING_size" >&9
        while read -r line; do
            echo "$line" >&9
            case $line in
            *defaults-did-change*) ;;
            *wait*) cat go; echo '{"answer":"yes"}' ;;
            *) echo '{"answer":"yes"}' ;;
            esac
        done
        """

    private func resident(_ place: HookFolder) -> (program: HandlerProgram, heard: Recorder<String?>) {
        place.makePipe("heard")
        place.makePipe("go")
        var program = place.program(place.script(Self.script), mode: .resident)
        program.settings = ["size": .integer(1)]
        return (program, place.listen(to: "heard"))
    }

    private func notice(_ size: Int) -> String {
        #"{"call":"defaults-did-change","settings":{"size":\#(size)},"v":1}"#
    }

    private func call(_ number: Int64, note: String = "") -> HookCall {
        .open(.sample(annotation: ["note": note], number: number), attempt: 1)
    }

    @Test("a resident handler that runs is notified of new settings, and its next document has them")
    func notified() async throws {
        let place = HookFolder()
        let (program, heard) = resident(place)
        let handler = ResidentHandler(program: program, runner: place.runner())
        #expect(try await handler.ask(call(1)).answer == .yes)
        await handler.use(["size": .integer(1)])
        await handler.use(["size": .integer(2)])
        #expect(try await handler.ask(call(2)).answer == .yes)
        await handler.stop()
        try await heard.first { $0 == nil }
        let lines = heard.all.compactMap(\.self)
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[0] == "size=1" && lines[1].contains(#""settings":{"size":1}"#))
        #expect(lines[2] == notice(2) && lines[3].contains(#""settings":{"size":2}"#))
    }

    @Test("during a question the notice waits for the answer, and only the last settings are told")
    func busy() async throws {
        let place = HookFolder()
        let (program, heard) = resident(place)
        let handler = ResidentHandler(program: program, runner: place.runner())
        async let outcome = handler.ask(call(1, note: "wait"))
        _ = try await heard.first { $0?.contains("wait") == true }
        // More than the pipe to the handler holds: the answer would come before the handler has read all of it.
        await handler.use(
            Dictionary(uniqueKeysWithValues: (0..<100).map { ("k\($0)", .text(String(repeating: "x", count: 4_096))) }))
        await handler.use(["size": .integer(3)])
        place.release("go")
        #expect(try await outcome.answer == .yes)
        #expect(try await handler.ask(call(2)).answer == .yes)
        await handler.stop()
        try await heard.first { $0 == nil }
        #expect(heard.all.compactMap(\.self).filter { $0.contains("defaults-did-change") } == [notice(3)])
    }

    @Test("a handler that is not running gets no notice, and starts with the new settings")
    func stopped() async throws {
        let place = HookFolder()
        let (program, heard) = resident(place)
        let handler = ResidentHandler(program: program, runner: place.runner())
        await handler.use(["size": .integer(2)])
        #expect(try await handler.ask(call(1)).answer == .yes)
        await handler.stop()
        try await heard.first { $0 == nil }
        let lines = heard.all.compactMap(\.self)
        #expect(lines.count == 2 && lines[0] == "size=2")
    }

    @Test("new settings do not start a resident handler again, and an older call brings none back")
    func kept() async throws {
        let place = HookFolder()
        let (first, heard) = resident(place)
        let calls = HandlerCalls(runner: place.runner())
        func deliver(_ program: HandlerProgram, _ number: Int64) async -> CallResult {
            await calls.call(
                DeliveryCall(
                    candidate: HandlerChoice.Candidate(program: program),
                    items: [DeliveryCall.Item(arrival: .sample(number: number), attempt: 1)], isLaunch: false))
        }
        _ = await deliver(first, 1)
        var (second, third, other) = (first, first, first)
        second.settings = ["size": .integer(2)]
        third.settings = ["size": .integer(3)]
        other.identifier = "org.example.other"
        await calls.useSettings(of: [second, other])
        _ = await deliver(first, 2)
        await calls.useSettings(of: [third, other])
        _ = await deliver(second, 3)
        await calls.stop()
        try await heard.first { $0 == nil }
        let lines = heard.all.compactMap(\.self)
        #expect(lines.filter { $0.hasPrefix("size=") } == ["size=1"])
        #expect(lines.filter { $0.contains("defaults-did-change") } == [notice(2), notice(3)])
    }
}
