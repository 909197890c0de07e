import Contacts
import Control
import Foundation
import Lines
import Settings
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Operations

private let anna = PeerID.sample(1)
private let stranger = PeerID.sample(3)

@Suite("What a user can see of rules")
struct RulesTests {
    private let home: Kitchen
    private let policy: Policy
    private let photo: String

    init() throws {
        home = try Kitchen(jobs: 0)
        photo = home.folder.file("a.jpg", "12345")
        let rules: [[String: PolicyValue]] = [
            ["name": .scalar("*.exe"), "then": .scalar("decline")],
            [
                "from": .list(["Anna", "Berta"]), "type": .scalar("public.image"), "sizeAtMost": .scalar("5 GB"),
                "then": .scalar("accept"), "folder": .scalar("Photos/Anna"), "handler": .scalar("Photos"),
            ],
            ["time": .scalar("08:00-18:00"), "sizeAtLeast": .scalar("1 MB"), "then": .scalar("ask")],
        ]
        policy = try Policy(rules.map { try PolicyRule(fields: $0, registry: .system, dialects: .samples) })
        try home.book.allow(anna, named: ContactName("Anna"), Verification(.keyID, at: Kitchen.now))
        try home.book.set("Anna") { $0.limits.largestOffer = 1_000 }
    }

    private func test(_ paths: String..., from: String, visibility: Visibility? = nil) throws -> [PolicyDecisionLine] {
        try home.waft(policy: policy).policy.test(paths, from: from, visibility: visibility)
    }

    @Test("rules are listed in their order, and names that no contact has are reported")
    func list() throws {
        let (rules, unknown) = try home.waft(policy: policy).policy.list()
        #expect(rules.map(\.rule) == [1, 2, 3] && rules.map(\.outcome) == ["decline", "accept", "ask"])
        #expect(
            rules[1].json == #"{"event":"rule","folder":"Photos/Anna","handler":"Photos","outcome":"accept","rule":2,"#
                + #""senders":["Anna","Berta"],"sizeAtMost":5000000000,"types":["public.image"],"v":1}"#)
        #expect(unknown.map(\.rule) == [2] && unknown.map(\.name) == ["Berta"])
    }

    @Test("each item has its decision and the reason")
    func decisions() throws {
        let program = home.folder.file("SETUP.EXE", "MZ")
        let decisions = try test(photo, program, from: "anna")
        #expect(
            decisions.map(\.explanation) == [
                "accept: rule 2 matches; rule 1 does not match: its name is not *.exe", "decline: rule 1 matches",
            ])
        #expect(decisions.map(\.folder) == ["Photos/Anna", nil] && decisions.map(\.path) == [photo, program])
        let large = home.folder.file("b.jpg", String(repeating: "x", count: 2_000))
        #expect(try test(large, from: anna.text)[0].outcome == "ask")
    }

    @Test("the bytes of the day count")
    func amounts() throws {
        try home.book.set("Anna") { ($0.policy, $0.limits) = (.accept, AcceptanceLimits(sizePerDay: 5_000)) }
        for (received, outcome) in [(0, "accept"), (4_996, "ask"), (.max, "ask"), (nil, "ask")] as [(UInt64?, String)] {
            #expect(try home.waft(received: received).policy.test([photo], from: "Anna")[0].outcome == outcome)
        }
    }

    @Test("strangers are judged by the current visibility, or by the given one")
    func strangers() async throws {
        let hidden = try test(photo, from: "stranger")[0]
        #expect(hidden.explanation.hasPrefix("decline: the sender is a stranger, and this receiver is visible to"))
        let open = try test(photo, from: "stranger", visibility: .everyone)[0]
        #expect(open.explanation.hasPrefix("ask: the sender is a stranger; rule 1 does not match"))
        // The user has invited the guests of the page.
        #expect(OfferRules.unprovenSenders.contains("web"))
        #expect(try test(photo, from: "web")[0].json == open.json)
        _ = try await home.waft().visibility.choose(.everyone, for: .seconds(60))
        #expect(try test(photo, from: stranger.text)[0].json == open.json)
        _ = try await home.waft().contacts.block(stranger.text)
        #expect(try test(photo, from: stranger.text)[0].explanation.hasPrefix("decline: the peer is blocked"))
    }

    @Test("a peer that is none, too many files, and a file that is not there, are refused")
    func refusals() async throws {
        let waft = home.waft(policy: policy)
        for (paths, sender, code) in [
            ([photo], "nobody", .usage), ([photo], stranger.short, .usage),
            (Array(repeating: photo, count: Limits.items + 1), "anna", .usage),
            ([photo, home.folder / "none"], "anna", .inputMissing), (["/dev/null"], "anna", .inputMissing),
        ] as [([String], String, WaftExit)] {
            #expect(await failure { try waft.policy.test(paths, from: sender) }?.code == code)
        }
        for path in [home.book.path, home.book.copyPath] {
            try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        }
        #expect(await failure { try home.waft().policy.list() }?.code == .unexpected)
    }
}

@Suite("What a user can do with the visibility")
struct VisibilityTests {
    private let home: Kitchen

    init() throws { home = try Kitchen(jobs: 0) }

    @Test("a temporary visibility has its end and the visibility after it, and a lasting one has neither")
    func course() async throws {
        let visibility = home.waft().visibility
        let first = try await visibility.current()
        #expect(first.line.json == #"{"event":"visibility","v":1,"visibility":"contacts"}"# && !first.hasReceiver)
        let chosen = try await visibility.choose(.everyone, for: ContactTerms.duration("10m"))
        #expect(
            chosen.line.json == #"{"event":"visibility","v":1,"visibility":"everyone","visibilitySeconds":600,"#
                + #""visibilityThen":"contacts","visibilityUntil":"2026-11-21T08:10:00Z"}"#)
        #expect(try await visibility.choose(.off).line.json == #"{"event":"visibility","v":1,"visibility":"off"}"#)
        let long = await failure { try await visibility.choose(.everyone, for: .seconds(9_999_999_999)) }
        #expect(long?.code == .usage)
        for text in ["soon", "0s", "99999d"] {
            #expect(await failure { try ContactTerms.duration(text) }?.code == .usage, "\(text)")
        }
        let far = home.waft(at: WallTime(milliseconds: .max)).visibility
        #expect(try await far.choose(.everyone, for: .seconds(60)).line.visibilitySeconds != nil)
    }

    @Test("a running receiver is told of a choice, and has the last word on the visibility")
    func receiver() async throws {
        let waft = home.waft()
        try await home.withReceiver { request in
            guard request == .status else { return .done }
            var status = StatusLine(
                name: "", id: "", port: 1, inbox: "", accept: "", discovery: "", free: nil, waitingOffers: 0,
                activeTransfers: 0, processID: 1, hook: nil)
            (status.visibility, status.visibilityStored) = ("everyone", "contacts")
            return .status(status)
        } _: {
            let (line, hasReceiver) = try await waft.visibility.current()
            #expect(line == VisibilityLine("everyone", over: "contacts") && hasReceiver)
            #expect(try await waft.visibility.choose(.off).hasReceiver)
        }
    }

    @Test("the line of a receiver is counted again when it is shown")
    func counted() async throws {
        let state = VisibilityFile.State(
            visibility: .everyone, next: .init(remaining: .seconds(600), visibility: .contacts))
        let line = VisibilityLine(state, at: Kitchen.now)
        let carried = try UnsaidProperties.$areCarried.withValue(true) { try JSONEncoder().encode(line) }
        let read = try JSONDecoder().decode(VisibilityLine.self, from: carried)
        #expect(read == line)
        for (seconds, left) in [(0, 600), (540, 60), (9_999, 0)] as [(Int, Int64)] {
            #expect(read.counted(at: Kitchen.now.after(.seconds(seconds))).visibilitySeconds == left)
        }
        #expect(!line.json.contains("end"))
        #expect(VisibilityLine("off", over: "off").counted(at: Kitchen.now).visibilitySeconds == nil)
    }

    @Test("a damaged file is reported with the visibility in force, and a new choice repairs it")
    func damaged() async throws {
        try Data("{".utf8).write(to: URL(fileURLWithPath: home.home.visibilityPath))
        let waft = home.waft()
        let failure = await failure { try await waft.visibility.current() }
        #expect(failure?.code == .unexpected && failure?.hint == "until the file is fixed, contacts applies")
        #expect(try await waft.visibility.choose(.off).line.visibility == "off")
    }
}
