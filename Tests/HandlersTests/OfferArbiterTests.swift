import Foundation
import Handlers
import HookSandbox
import Sharing
import TestSupport
import Testing

@Suite("The arbiter", .timeLimit(.minutes(1)))
struct OfferArbiterTests {
    private let place = HookFolder()

    private func arbiter(
        _ body: String, timeLimit: Duration = .seconds(3_600), sandbox: SandboxPlan.Level = .none
    ) throws -> OfferArbiter {
        OfferArbiter(
            path: place.script(body), scratchFolder: place.scratch, timeLimit: timeLimit, sandbox: sandbox,
            grace: .milliseconds(500), launcher: probe, logger: quiet)
    }

    private func facts(_ offer: Offer = .sample(items: 2, size: 5)) -> OfferFacts {
        OfferFacts(offer: offer, peer: .sample(7), freeRoom: 1_000)
    }

    private func answer(to body: String, sandbox: SandboxPlan.Level = .none) async throws -> ArbiterAnswer {
        try await arbiter(body, sandbox: sandbox).ask(facts())
    }

    /// Expects nothing but the folder that stands for the Inbox.
    private func expectTidy() {
        #expect(place.scratchNames.allSatisfy { $0 == "no-inbox" })
    }

    @Test(
        "exit codes are answers, in the sandbox and without",
        arguments: [SandboxPlan.Level.none, .strict],
        [
            (0, ArbiterAnswer.accept), (1, .decline(reason: "")), (2, .undecided(reason: "it has no opinion")),
            (75, .undecided(reason: "it has no opinion")), (3, .undecided(reason: "exit code 3")),
        ])
    func exitCodes(sandbox: SandboxPlan.Level, expected: (code: Int, answer: ArbiterAnswer)) async throws {
        #expect(try await answer(to: "exit \(expected.code)", sandbox: sandbox) == expected.answer)
        expectTidy()
    }

    @Test("the first line of standard output is the reason of a decline")
    func reason() async throws {
        #expect(try await answer(to: "echo only photos; echo more; exit 1") == .decline(reason: "only photos"))
        #expect(try await answer(to: "echo not this >&2; exit 1") == .decline(reason: ""))
    }

    @Test("a reason is one line of at most 200 bytes, whole characters, with nothing hidden in it")
    func hostileReason() async throws {
        let long = try await answer(to: "head -c 1000000 /dev/zero | tr '\\0' x; exit 1")
        #expect(long == .decline(reason: String(repeating: "x", count: 200)))
        let cut = try await answer(to: "printf 'x'; for i in $(seq 100); do printf 'é'; done; exit 1")
        #expect(cut == .decline(reason: "x" + String(repeating: "é", count: 99)))
        let hidden = try await answer(to: "printf '\\033[31mred\\342\\200\\256\\n'; exit 1")
        #expect(hidden == .decline(reason: "\\u{1B}[31mred\\u{202E}"))
        let binary = try await answer(to: "head -c 300 /dev/urandom; exit 1")
        guard case .decline(let reason) = binary else {
            Issue.record("not a decline: \(binary)")
            return
        }
        #expect(reason.utf8.count <= OfferArbiter.reasonBytes)
    }

    @Test("the program gets the offer as one line of JSON, and its facts in the environment")
    func document() async throws {
        var offer = Offer.sample(items: 2, size: 5)
        offer.annotation = ["note": "for you"]
        offer.senderName = "$(touch pwned) `id`"
        let body = """
            cat > document
            printf '%s\\0' "$#" "$1" "$WAFT_PEER_ID" "$WAFT_PEER_NAME" "${WAFT_PEER_CONTACT-unset}" \
            "$WAFT_OFFER_ITEMS" "$WAFT_OFFER_SIZE" "${WAFT_FILE-unset}" "${TOP_SECRET_TOKEN-unset}" > words
            """
        setenv("WAFT_FILE", "left over", 1)
        setenv("TOP_SECRET_TOKEN", "hunter2", 1)
        defer { for name in ["WAFT_FILE", "TOP_SECRET_TOKEN"] { unsetenv(name) } }
        let answer = try await arbiter(body).ask(
            OfferFacts(offer: offer, peer: .sample(7), contact: nil, freeRoom: 1_000))
        #expect(answer == .accept)
        #expect(
            place.parts("words") == [
                "1", "offer", PeerID.sample(7).text, "$(touch pwned) `id`", "unset", "2", "10", "unset", "unset",
            ])
        #expect(place.text("document")?.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
        let document = try place.json("document")
        #expect(document["v"] as? Int == 1)
        #expect(document["call"] as? String == "offer")
        #expect(document["size"] as? Int == 10)
        #expect(document["freeRoom"] as? Int == 1_000)
        #expect((document["annotation"] as? [String: String]) == ["note": "for you"])
        let peer = try #require(document["peer"] as? [String: Any])
        #expect(peer["id"] as? String == PeerID.sample(7).text)
        #expect(peer["name"] as? String == "$(touch pwned) `id`")
        #expect(peer["contact"] == nil)
        let items = try #require(document["items"] as? [[String: Any]])
        #expect(items.count == 2)
        #expect(items[0]["name"] as? String == "file-0")
        #expect(items[0]["type"] as? String == "public.data")
        #expect(items[0]["size"] as? Int == 5)
        #expect(!place.folder.names.contains("pwned"))
    }

    @Test("the contact's name is given beside the peer's own name")
    func contact() async throws {
        let body = "printf '%s' \"$WAFT_PEER_CONTACT\" > name; cat > document"
        let facts = OfferFacts(offer: .sample(), peer: .sample(7), contact: "my laptop", freeRoom: 0)
        #expect(try await arbiter(body).ask(facts) == .accept)
        #expect(place.text("name") == "my laptop")
        let peer = try #require(try place.json("document")["peer"] as? [String: Any])
        #expect(peer["contact"] as? String == "my laptop")
    }

    @Test("the answer of a program counts if it does not read a long offer, and prints a lot")
    func unread() async throws {
        let offer = Offer.sample(items: Limits.items, size: nil)
        let answer = try await arbiter("head -c 3000000 /dev/zero; exit 1").ask(facts(offer))
        guard case .decline = answer else {
            Issue.record("not a decline: \(answer)")
            return
        }
    }

    @Test("a program that is out of time has no opinion, and is ended with all that it has started")
    func timeLimit() async throws {
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let arbiter = try arbiter("exec 9> alive; sleep 86400 & sleep 86400", timeLimit: .seconds(1))
        #expect(await arbiter.ask(facts()) == .undecided(reason: "out of time after 1.0 seconds"))
        try await place.end(of: "alive", alive)
        expectTidy()
    }

    @Test("when the sender goes the program is ended with all that it has started")
    func withdrawn() async throws {
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let arbiter = try arbiter("exec 9> alive; echo up >&9; sleep 86400 & sleep 86400")
        let question = Task { await arbiter.ask(facts()) }
        try await alive.first { $0 == "up" }
        question.cancel()
        #expect(await question.value == .undecided(reason: "the offer is gone"))
        try await place.end(of: "alive", alive)
        expectTidy()
    }

    @Test("further offers wait for the arbiter, and can be withdrawn meanwhile")
    func turns() async throws {
        place.makePipe("alive")
        place.makePipe("gate")
        let alive = place.listen(to: "alive")
        // The test holds both ends, so that a process that opens a pipe late does not wait for the other side.
        let keeper = open(place.folder / "gate", O_RDWR | O_CLOEXEC)
        let listener = open(place.folder / "alive", O_RDWR | O_CLOEXEC)
        defer {
            close(keeper)
            close(listener)
        }
        let arbiter = try arbiter("exec 9> alive; echo up >&9; read line < gate; exit 1")
        let running = (0..<OfferArbiter.maximumAtOnce).map { _ in Task { await arbiter.ask(facts()) } }
        try await alive.element(OfferArbiter.maximumAtOnce)
        let withdrawn = Task { await arbiter.ask(facts()) }
        withdrawn.cancel()
        #expect(await withdrawn.value == .undecided(reason: "the offer is gone"))
        let waiting = Task { await arbiter.ask(facts()) }
        #expect(alive.all.count == OfferArbiter.maximumAtOnce)
        let lines = String(repeating: "\n", count: OfferArbiter.maximumAtOnce + 1)
        #expect(write(keeper, lines, lines.utf8.count) == lines.utf8.count)
        for question in running + [waiting] { #expect(await question.value == .decline(reason: "")) }
        expectTidy()
    }

    @Test("a program that is killed, or cannot be started, has no opinion, and the reason can be read")
    func broken() async throws {
        #expect(try await answer(to: "echo oh no >&2; kill -9 $$") == .undecided(reason: "ended by signal 9: oh no"))
        #expect(try await answer(to: "echo trouble >&2; exit 9") == .undecided(reason: "exit code 9: trouble"))
        let path = place.folder.file("nothing", "#!/no/such/interpreter\n", mode: 0o755)
        for level in [SandboxPlan.Level.none, .strict] {
            let arbiter = OfferArbiter(
                path: path, scratchFolder: place.scratch, sandbox: level, launcher: probe, logger: quiet)
            guard case .undecided(let reason) = await arbiter.ask(facts()) else {
                Issue.record("it was heard")
                return
            }
            #expect(reason.contains("/no/such/interpreter"))
        }
    }

    @Test("an arbiter that is missing has no opinion: people are asked")
    func missing() async {
        let arbiter = OfferArbiter(
            path: "/no/such/arbiter", scratchFolder: place.scratch, launcher: probe, logger: quiet)
        #expect(await arbiter.ask(facts()) == .undecided(reason: "/no/such/arbiter does not exist"))
    }

    @Test(
        "in its sandbox the arbiter can write in its temporary folder alone",
        .enabled(if: HookSandbox.support.abi > 0, "NOT TESTED: this kernel has no Landlock"))
    func sandboxed() async throws {
        place.folder.file("precious", "kept")
        let body = """
            touch "$TMPDIR/scratch" || exit 3
            (echo spoilt > "\(place.folder / "precious")") 2>/dev/null && exit 4
            (echo spoilt > "\(place.home)/new") 2>/dev/null && exit 5
            (echo spoilt > "\(place.inbox)/new") 2>/dev/null && exit 6
            rm "\(place.folder / "precious")" 2>/dev/null && exit 7
            exit 0
            """
        #expect(try await answer(to: body, sandbox: .require) == .accept)
        #expect(place.text("precious") == "kept")
        expectTidy()
    }
}
