import Settings
import Testing

@testable import Desk

@Suite("The calls of a window")
struct DeskVerbsTests {
    @Test(
        "a window sets no program, no right of one, and nothing of a sandbox",
        arguments: [
            ["config", "set", "hook", "/bin/true"], ["config", "unset", "hookSandbox"],
            ["config", "set", "hookSandbox", "none"], ["config", "set", "arbiter", "/x"],
            ["config", "set", "outboxHook", "/x"], ["config", "set", "--", "hook", "/x"], ["config", "set"],
            ["handlers", "add", "--name=x", "--run=/x"], ["handlers", "settings", "x", "y", "z"],
            ["service", "install", "--now"], ["desktop", "install"], ["config", "edit"], ["unlock"], ["protection"],
        ])
    func programs(_ words: [String]) {
        #expect(DeskVerbs.refusal(words) != nil)
    }

    @Test(
        "another spelling of a call is refused",
        arguments: [
            ["config", "--json", "set", "hook", "/x"], ["--json", "config", "set", "hook", "/x"],
            ["config", "se", "name", "x"], ["config", "set", "--json", "name", "x"], ["config", "set", "Name", "x"],
            ["config set", "name", "x"], ["config", "", "set"], ["contacts", "", "list"],
            ["offers", "--watch", "list"],
            ["offers", "--watch", "preview", "1.1"], ["offers", "--", "preview", "1.1"], ["Config", "list"], [""], [],
        ])
    func spellings(_ words: [String]) {
        #expect(DeskVerbs.refusal(words) != nil)
    }

    @Test(
        "an option that runs a program or writes a file is refused, in each spelling",
        arguments: [
            ["send", "--source", "/x", "--to", "a"], ["send", "--source=/x", "--to", "a"],
            ["send", "--to", "--source=/x"], ["share", "--activity", "a", "--source", "/x"], ["send", "--sourc=/x"],
            ["inbox", "preview", "1", "--out", "/x"], ["preview", "a", "--window"], ["doctor", "-h"],
        ])
    func options(_ words: [String]) {
        #expect(DeskVerbs.refusal(words) != nil)
    }

    @Test(
        "the calls of the pages run",
        arguments: [
            ["status"], ["offers"], ["offers", "--watch"], ["peers", "--watch"], ["outbox"], ["contacts"],
            ["config", "set", "name", "Nook"], ["config", "set", "name", "--", "-x"], ["config", "unset", "port"],
            ["inbox", "take", "3", "/home/a"], ["contacts", "set", "id", "--size-at-most=1GB", "--folder", ""],
            ["send", "--text", "-", "--to", "a", "--wait", "stored", "--partial", "--"],
            ["send", "--to", "a", "--", "--source", "x"], ["pair", "--answer-fd", "0", "--", "-x"],
            ["history", "--limit", "50"], ["handlers", "enable", "org.example"], ["service", "status"],
        ])
    func allowed(_ words: [String]) {
        #expect(DeskVerbs.refusal(words) == nil)
    }

    @Test("each setting is a window's, or is named here as one that has to do with programs")
    func settings() {
        let programs: Set = [
            "arbiter", "hook", "hookEnvironment", "hookNetwork", "hookReadable", "hookSandbox", "hookSockets",
            "hookTimeout",
            "hookWritable", "openReceivedURLs", "outboxHook", "policy", "sandbox",
        ]
        let all = Set(SettingKey.all.map(\.name))
        #expect(DeskVerbs.settings.union(programs) == all)
        #expect(DeskVerbs.settings.isDisjoint(with: programs))
    }

    @Test("a refused command is shown as a shell takes it")
    func command() {
        let words = ["config", "set", "hook", "/a b/$(x)'"]
        #expect(DeskVerbs.refusal(words)?.hasSuffix(#": waft config set hook '/a b/$(x)'\'''"#) == true)
        #expect(DeskVerbs.refusal(["handlers", "add", String(repeating: "x", count: 3_000)])?.contains("xxx") == false)
        #expect(DeskVerbs.refusal(["status", "a\0b"]) == "a word has no NUL in it")
    }
}
