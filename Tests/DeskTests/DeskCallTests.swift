import Foundation
import Settings
import Testing

@testable import Desk

@Suite("The calls of a window")
struct DeskCallTests {
    @Test(
        "no call sets a program or a right of one, and none installs, sends from a program or unlocks by a choice of the window",
        arguments: [
            "config/set", "desktop", "handlers/add", "handlers/remove", "handlers/settings", "inbox/cat", "policy",
            "protection/export", "protection/rotate", "protection/set-up", "receive", "send", "service",
            "settings/edit",
            "share", "status", "verb",
        ])
    func absent(_ name: String) {
        #expect(DeskCall.all[name] == nil)
    }

    @Test(
        "values of another form are refused before anything is done",
        arguments: [
            ("contacts/block", "{}"), ("contacts/block", #"{"contact":1}"#), ("offers/accept", #"{"offer":"1"}"#),
            ("settings/set", #"{"values":["x"]}"#), ("inbox/take", #"{"items":["1"]}"#), ("inbox/remove", "[]"),
            ("contacts/set", #"{"contact":"a","policy":"always"}"#), ("visibility", #"{"visibility":"all"}"#),
            ("peers", ""), ("peers", "{"),
        ])
    func forms(_ name: String, _ values: String) throws {
        let call = try #require(DeskCall.all[name])
        #expect(throws: (any Error).self) { try call.read(Data(values.utf8)) }
    }

    @Test("each setting is a window's, or is named here as one that has to do with programs")
    func settings() {
        let programs: Set = [
            "arbiter", "dialects.airdrop.identity", "dialects.airdrop.radio", "hook", "hookEnvironment", "hookNetwork",
            "hookReadable", "hookSandbox", "hookSockets",
            "hookTimeout", "hookWritable", "openReceivedURLs", "outboxHook", "policy", "sandbox",
        ]
        let all = Set(SettingKey.all.map(\.name))
        #expect(DeskCall.changeable.union(programs) == all)
        #expect(DeskCall.changeable.isDisjoint(with: programs))
    }
}
