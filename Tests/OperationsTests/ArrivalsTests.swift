import CLinuxShims
import Contacts
import Control
import Digests
import Dispatch
import Endpoints
import Foundation
import Glibc
import Inbox
import Journal
import Lines
import Settings
import Sharing
import Synchronization
import TestSupport
import Testing
import UniformTypes

@testable import Operations

extension Kitchen {
    /// Items in the Inbox and in the journal, with their names as contents; their numbers begin with 1.
    init(items: String...) throws {
        try self.init(jobs: 0)
        try FileManager.default.createDirectory(atPath: home.inbox, withIntermediateDirectories: true)
        for name in items { try put(name) }
    }

    @discardableResult
    func put(
        _ name: String, type: UniformType = .plainText, from peer: PeerID = .sample(1), isDelivered: Bool = false
    ) throws -> ArrivalNumber {
        let (file, contents) = (try SafeName(name), Array(name.utf8))
        let path = home.inbox + "/" + name
        let item = OfferedItem(kind: .file, name: file, type: type, size: UInt64(contents.count))
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1, item: item, size: UInt64(contents.count),
            digest: .of(.lasting, contents), peer: peer, senderName: "study", annotation: [:])
        try Data(contents).write(to: URL(fileURLWithPath: path))
        let transfer = Array(facts.transfer.text.utf8)
        CLinuxShims_setxattr(path, Provenance.transfer, transfer, transfer.count, 0)
        chmod(path, 0o444)
        var status = stat()
        stat(path, &status)
        let identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        let intended = IntendedArrival(facts: facts, identity: identity, isDelivered: isDelivered)
        let journal = try journal
        let number = try journal.intend([intended])[0]
        try journal.settle([(number: number, stored: StoredItem(name: file, path: path))])
        return number
    }

    var journal: Journal { get throws { try Journal(folder: home.state, dialects: .known) } }

    func item(_ word: String) throws -> ChosenItem { try waft.inbox.item(word) }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: home.inbox)) ?? []).filter { !$0.hasPrefix(".") }
            .sorted()
    }

    func out(_ name: String) -> String { folder / "out/" + name }

    func makeOut() throws {
        try FileManager.default.createDirectory(atPath: folder / "out", withIntermediateDirectories: true)
    }
}

/// The failure of an operation; nil for none.
func failure<Value>(_ result: Result<Value, WaftError>) -> WaftError? {
    if case .failure(let failure) = result { failure } else { nil }
}

@Suite("What a user can do with the Inbox")
struct ArrivalsTests {
    @Test("the list has the items and what other programs made, and a choice selects items")
    func list() throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt")
        try kitchen.put("c.png", type: .png, from: .sample(2))
        try Data("x".utf8).write(to: URL(fileURLWithPath: kitchen.home.inbox + "/0-own"))
        let (waft, inbox) = (kitchen.waft, kitchen.waft.inbox)
        let all = try inbox.list()
        #expect(all.map(\.stored) == ["0-own", "a.txt", "b.txt", "c.png"])
        #expect(all.map(\.arrival) == [nil, 1, 2, 3] && all.map(\.bytes) == [1, 5, 5, 5])
        #expect(all[1].from?.name == "study" && all[0].from == nil)
        let choices: [(ArrivalChoice, [Int64?])] = [
            (try ArrivalChoice(type: "public.image", waft), [3]), (try ArrivalChoice(from: "study", waft), [1, 2, 3]),
            (try ArrivalChoice(from: PeerID.sample(1).short, waft), [1, 2]),
            (try ArrivalChoice(since: "1d", state: "none", waft), [1, 2, 3]),
            (try ArrivalChoice(state: "opened", waft), []),
        ]
        for (choice, numbers) in choices {
            let found = try inbox.list(choice).map(\.arrival)
            #expect(found == numbers)
        }
        unlink(kitchen.home.inbox + "/a.txt")
        #expect(try inbox.list(ArrivalChoice(type: "public.text", waft)).map(\.arrival) == [2])
    }

    @Test("a condition without a meaning is refused with the values that have one")
    func conditions() throws {
        let (kitchen, empty) = (try Kitchen(items: "a.txt"), try Kitchen(jobs: 0))
        let waft = kitchen.waft
        defer { withExtendedLifetime((kitchen, empty)) {} }
        func refusal(_ choice: @autoclosure () throws -> ArrivalChoice) -> String? {
            let error = #expect(throws: WaftError.self) { try choice() }
            #expect(error?.code == .usage)
            return error?.reason
        }
        #expect(refusal(try ArrivalChoice(type: "no type", waft))?.hasPrefix("--type: ") == true)
        #expect(refusal(try ArrivalChoice(since: "soon", waft))?.hasPrefix("--since: ") == true)
        #expect(refusal(try ArrivalChoice(state: "lost", waft))?.hasPrefix("--state is one of none, waiting, ") == true)
        #expect(
            refusal(try ArrivalChoice(from: "anna", waft, words: { "<\($0.ownName ?? "")>" }))
                == "--from: no contact or sender is named \"anna\"; the senders are: <study>")
        #expect(refusal(try ArrivalChoice(from: "anna", empty.waft))?.hasSuffix("nothing has arrived yet") == true)
    }

    @Test("with a choice, a watcher hears of the wanted arrivals alone")
    func watching() throws {
        let kitchen = try Kitchen(items: "a.txt")
        let waft = kitchen.waft
        defer { withExtendedLifetime(kitchen) {} }
        let entry = try #require(try waft.inbox.entry("a.txt"))
        let line = ArrivalLine(entry.arrival, from: PersonFields(id: PeerID.sample(1).text))
        func answered(_ answer: HandlerAnswer.State) -> ControlEvent { .arrival(line.answered(HandlerAnswer(answer))) }
        let text = try ArrivalChoice(type: "public.text", waft)
        #expect(text.isWanted(.arrival(line)) && !text.isWanted(.contacts))
        #expect(try !ArrivalChoice(type: "public.image", waft).isWanted(.arrival(line)))
        let opened = try ArrivalChoice(state: "yes", waft)
        #expect(!opened.isWanted(.arrival(line)) && !opened.isWanted(answered(.no)) && opened.isWanted(answered(.yes)))
        #expect(try ArrivalChoice(state: "deferred", waft).isWanted(answered(.later)))
    }

    @Test("a word is a number, a name or a path; one that means two items is refused")
    func words() throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt", "1")
        for (word, number) in [("2", 2), ("b.txt", 2), (kitchen.home.inbox + "/./b.txt", 2)] as [(String, Int64)] {
            #expect(try kitchen.waft.inbox.show(word).arrival == number)
        }
        #expect(try kitchen.waft.inbox.show("a.txt").icon == "text-plain")
        let either = #expect(throws: WaftError.self) { try kitchen.waft.inbox.show("1") }
        #expect(either?.code == .usage && either?.hint == "write ./a.txt, or ./1")
        for word in ["c.txt", "02", "9", "*"] {
            let unknown = #expect(throws: WaftError.self) { try kitchen.waft.inbox.show(word) }
            #expect(
                unknown
                    == WaftError(
                        .inputMissing, "no item is named or numbered \"\(word)\"", hint: "see: waft history"))
        }
    }

    @Test("items are chosen by numbers, patterns and choices, and have to fit all")
    func choice() throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt", "c.md")
        let inbox = kitchen.waft.inbox
        defer { withExtendedLifetime(kitchen) {} }
        func chosen(_ numbers: String, _ match: String? = nil) throws -> [Int64?] {
            try inbox.items(NumberSet(numbers), matching: match, nil).map { $0.name?.arrival }
        }
        #expect(try chosen("2-9") == [2, 3])
        #expect(try chosen("1,3", "*.txt") == [1])
        #expect(throws: WaftError(.inputMissing, "no item in the Inbox is selected")) { try chosen("7") }
        #expect(try ["c.md", "nothing", "1"].map(inbox.item).map { $0.name?.arrival } == [3, nil, 1])
        #expect(throws: WaftError(.inputMissing, "no item is named or numbered \"x\"")) {
            try inbox.arrival(of: .unknown("x"))
        }
    }

    @Test("--numbers takes numbers and ranges, and nothing else")
    func numbers() throws {
        let set = try NumberSet("1-3,7")
        #expect((0...9).filter { set.contains($0) } == [1, 2, 3, 7])
        for text in ["", "1,", "3-1", "0", "-1", "1-", "1-2-3", "01", "+1", "a", "1 2", "9223372036854775808"] {
            let error = #expect(throws: WaftError.self, "\(text)") { try NumberSet(text) }
            #expect(error?.code == .usage)
        }
    }

    // MARK: - Leaving

    @Test("a removed item is gone from the disk and from the list, and the journal knows it")
    func remove() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt", "c.txt")
        let removed = try await kitchen.waft.inbox.remove(kitchen.item("a.txt")).get()
        #expect(!removed.wasGone && kitchen.names == ["b.txt", "c.txt"])
        #expect(try kitchen.waft.inbox.show("a.txt").left?.how == "removed")
        unlink(kitchen.home.inbox + "/b.txt")
        #expect(try await kitchen.waft.inbox.remove(kitchen.item("b.txt")).get().wasGone)
        // Another program has moved it, and a later item has its place.
        unlink(kitchen.home.inbox + "/c.txt")
        let old = try kitchen.item("c.txt")
        try kitchen.put("c.txt")
        let refused = failure(try await kitchen.waft.inbox.take(old, to: kitchen.folder.path))
        #expect(refused?.hint == "waft inbox remove 3 forgets it, and leaves the later one alone")
        #expect(try await kitchen.waft.inbox.remove(old).get().wasGone)
        #expect(kitchen.names == ["c.txt"])
    }

    @Test("a taken item has its new place, by its name or by another one")
    func take() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt")
        try kitchen.makeOut()
        let taken = try await kitchen.waft.inbox.take(kitchen.item("a.txt"), to: kitchen.folder / "out").get()
        #expect(taken.toward.hasSuffix("/out/a.txt") && kitchen.names == ["b.txt"])
        #expect(try kitchen.waft.inbox.show("1").left?.toward == taken.toward)
        let other = try await kitchen.waft.inbox.take(
            kitchen.item("b.txt"), to: kitchen.folder / "out", name: SafeName("c")
        ).get()
        #expect(other.toward.hasSuffix("/out/c"))
    }

    @Test("an item that cannot leave is a failure of its own, and stays")
    func refusedLeaving() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt", "c.txt")
        try kitchen.makeOut()
        let inbox = kitchen.waft.inbox
        let out = kitchen.folder / "out"
        func code(_ result: Result<TakenLine, WaftError>) -> WaftExit? { failure(result)?.code }
        #expect(failure(try await inbox.remove(.unknown("x")))?.reason == "no item is named or numbered \"x\"")
        let first = try kitchen.item("a.txt")
        _ = try await inbox.remove(first)
        let again = failure(try await inbox.remove(first))
        #expect(again?.code == .inputMissing && again?.reason.hasPrefix("1  a.txt: removed on ") == true)
        #expect(code(try await inbox.take(kitchen.item("b.txt"), to: kitchen.folder / "nowhere")) == .inputMissing)
        #expect(code(try await inbox.take(kitchen.item("b.txt"), to: kitchen.home.inbox)) == .usage)
        try Data().write(to: URL(fileURLWithPath: out + "/taken"))
        let name = try SafeName("taken")
        #expect(code(try await inbox.take(kitchen.item("b.txt"), to: out, name: name)) == .usage)
        unlink(kitchen.home.inbox + "/b.txt")
        symlink("c.txt", kitchen.home.inbox + "/b.txt")
        #expect(code(try await inbox.take(kitchen.item("2"), to: out)) == .contentChanged)
        #expect(try kitchen.waft.inbox.show("c.txt").left == nil)
    }

    @Test("a running receiver keeps its handlers away, and records what has left")
    func leavingWithReceiver() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt", "c.txt")
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            return switch request {
            case .release(2, _): .beingRead(handler: "Notes", seconds: 3)
            case .departed(3, _, _): .refused("the disk is full")
            default: .done
            }
        } _: {
            #expect(failure(try await kitchen.waft.inbox.remove(kitchen.item("a.txt"), now: true)) == nil)
            let read = failure(try await kitchen.waft.inbox.remove(kitchen.item("b.txt")))
            #expect(
                read == WaftError(.noAnswer, "2  b.txt: Notes is reading it (3 s); --now does it anyway"))
            let listed = try await kitchen.waft.inbox.remove(kitchen.item("c.txt")).get()
            #expect(listed.json.contains(#""exit":1"#))
            #expect(listed.json.contains("the journal still lists it: the disk is full"))
        }
        #expect(
            asked.all == [
                .release(arrival: 1, now: true), .departed(arrival: 1, how: .removed, toward: ""),
                .release(arrival: 2, now: false), .release(arrival: 3, now: false),
                .departed(arrival: 3, how: .removed, toward: ""),
            ])
        #expect(try kitchen.waft.inbox.show("a.txt").left == nil && kitchen.names == ["b.txt"])
    }

    @Test("a receiver that cannot be asked ends the whole")
    func refusedRelease() async throws {
        let kitchen = try Kitchen(items: "a.txt")
        try await kitchen.withReceiver { _ in
            .refused("not now")
        } _: {
            await #expect(throws: WaftError(.unexpected, "not now")) {
                _ = try await kitchen.waft.inbox.remove(kitchen.item("a.txt"))
            }
        }
        #expect(kitchen.names == ["a.txt"])
    }

    @Test("handlers are kept from an item for as long as it takes to leave")
    func keepingAway() throws {
        let renewed = DispatchSemaphore(value: 0)
        let left = try Arrivals.keepingHandlersAway(every: .milliseconds(1), renew: { renewed.signal() }) {
            () throws(LeavingError) in
            (0..<3).allSatisfy { _ in renewed.wait(timeout: .now() + 60) == .success }
        }
        #expect(left)
    }

    @Test("the contents of a file go to an open file")
    func write() throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt")
        let path = kitchen.folder / "copy"
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try kitchen.waft.inbox.write("a.txt", to: file, isTerminal: true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("a.txt".utf8))
        unlink(kitchen.home.inbox + "/b.txt")
        for (word, code) in [("b.txt", WaftExit.inputMissing), ("c.txt", .inputMissing)] {
            let error = #expect(throws: WaftError.self) {
                try kitchen.waft.inbox.write(word, to: file, isTerminal: false)
            }
            #expect(error?.code == code)
        }
    }

    // MARK: - Verifying

    @Test("a verification finds what is not as it arrived, and the first finding decides the exit code")
    func verify() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt", "c.txt", "d.txt")
        func verify(_ words: String...) throws -> (line: VerifiedLine, found: [String]) {
            var found: [String] = []
            let line = try kitchen.waft.inbox.verify(words) { finding in
                switch finding {
                case .changed(let line): found.append("changed \(line.stored) \(line.differences)")
                case .missing(let line): found.append("missing \(line.stored)")
                case .unreadable(let line): found.append("unreadable \(line.stored)")
                case .absent(let line): found.append("absent \(line.stored ?? line.wanted ?? "")")
                }
            }
            return (line, found)
        }
        #expect(try verify().line.ok == 4)
        unlink(kitchen.home.inbox + "/b.txt")
        chmod(kitchen.home.inbox + "/c.txt", 0o644)
        try Data("longer than before".utf8).write(to: URL(fileURLWithPath: kitchen.home.inbox + "/c.txt"))
        _ = try await kitchen.waft.inbox.remove(kitchen.item("d.txt"))
        let all = try verify()
        #expect(all.found.first == "missing b.txt" && all.found.last?.hasPrefix("changed c.txt") == true)
        #expect(all.line.exit == .contentChanged && all.line.missing == 1 && all.line.changed == 1)
        let named = try verify("a.txt", "d.txt", "x")
        #expect(named.found == ["absent d.txt", "absent x"])
        #expect(named.line.ok == 1 && named.line.exit == .inputMissing)
        var read: [UInt64] = []
        _ = try kitchen.waft.inbox.verify(["a.txt"], progressed: { read += [$0, $1] }, found: { _ in })
        #expect(read.last == 5)
        try FileManager.default.removeItem(atPath: kitchen.home.inbox)
        let none = #expect(throws: WaftError.self) { try verify() }
        #expect(none?.code == .inputMissing && none?.hint == "is its disk mounted?")
    }

    // MARK: - The receiver

    @Test("without a receiver, a folder is adopted here; the receiver's refusal keeps its words")
    func adopt() async throws {
        let kitchen = try Kitchen(items: "a.txt")
        #expect(try await kitchen.waft.inbox.adopt().inbox == kitchen.home.inbox)
        try await kitchen.withReceiver { _ in
            .refused("it is not mounted")
        } _: {
            await #expect(throws: WaftError(.unexpected, "it is not mounted")) { try await kitchen.waft.inbox.adopt() }
        }
    }

    @Test("only a running receiver changes the protection of an item, and its refusals have their codes")
    func reseal() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt")
        let inbox = kitchen.waft.inbox
        let none = await #expect(throws: WaftError.self) {
            try await inbox.reseal("a.txt", as: .complete, now: false)
        }
        #expect(none?.code == .notRunning)
        let replies: [(ControlReply, WaftExit?)] = [
            (.done, nil), (.beingRead(handler: "Notes", seconds: 1), .noAnswer),
            (.itemFault(code: "locked", reason: "locked"), .locked),
            (.itemFault(code: "different", reason: "changed"), .contentChanged), (.unknown("gone"), .inputMissing),
            (.refused("no"), .unexpected), (.cancelled, .unexpected),
        ]
        let present = Mutex(ControlReply.done)
        try await kitchen.withReceiver { _ in
            present.withLock { $0 }
        } _: {
            for (reply, code) in replies {
                present.withLock { $0 = reply }
                do throws(WaftError) {
                    _ = try await inbox.reseal("a.txt", as: .complete, now: true)
                    #expect(code == nil)
                } catch {
                    #expect(error.code == code)
                }
            }
        }
        try kitchen.journal.departed([ArrivalNumber(2)], Departure(.removed, at: .now))
        for word in ["b.txt", "c.txt"] {
            let absent = await #expect(throws: WaftError.self) {
                try await inbox.reseal(word, as: .complete, now: false)
            }
            #expect(absent?.code == .inputMissing)
        }
    }

    @Test("an item is given to its handler again by the receiver alone")
    func retry() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt", "c.txt")
        let inbox = kitchen.waft.inbox
        let unknown = failure(try await inbox.retry(.unknown("x")))
        #expect(unknown?.code == .inputMissing && unknown?.hint == "see: waft inbox")
        let none = await #expect(throws: WaftError.self) { _ = try await inbox.retry(kitchen.item("a.txt")) }
        #expect(none?.code == .notRunning)
        try await kitchen.withReceiver { request in
            switch request {
            case .retry(1): .done
            case .retry(2): .unknown("item 2 has left the Inbox")
            case .retry: .refused("it waits")
            default: .cancelled
            }
        } _: {
            let (a, b, c) = (try kitchen.item("a.txt"), try kitchen.item("b.txt"), try kitchen.item("c.txt"))
            let (done, gone, refused) = (try await inbox.retry(a), try await inbox.retry(b), try await inbox.retry(c))
            #expect(try done.get().arrival == 1)
            #expect(failure(gone) == WaftError(.inputMissing, "item 2 has left the Inbox"))
            #expect(failure(refused) == WaftError(.unexpected, "item 3: it waits"))
        }
    }

    @Test("who waits for answers hears each of them, and a handler that no longer exists has its identifier")
    func answers() async throws {
        let kitchen = try Kitchen(items: "a.txt", "b.txt")
        let inbox = kitchen.waft.inbox
        let items = [try kitchen.item("b.txt"), .unknown("x"), try kitchen.item("a.txt")]
        let feed = EventFeed()
        feed.send(
            .ready(ReadyLine(id: "k", name: "kitchen", port: 1, inbox: kitchen.home.inbox, visibility: "everyone")))
        let steps = Recorder<String>()
        try await kitchen.withReceiver(events: feed) { request in
            guard case .retry(let number) = request, let entry = try? inbox.entry(ArrivalNumber(number)) else {
                return .watching
            }
            let answer: AttemptOutcome.Answer = number == 1 ? .yes : .no
            let numbers = [ArrivalNumber(number)]
            _ = try? kitchen.journal.began(numbers, handler: "org.example.one", isAsked: false, at: .now)
            try? kitchen.journal.ended(
                numbers, AttemptOutcome(answer, reason: "as I like"), next: .unchanged, at: .now)
            let line = ArrivalLine(entry.arrival, from: PersonFields(name: "study"))
            feed.send(.arrival(line.answered(HandlerAnswer(answer == .yes ? .yes : .no))))
            return .done
        } _: {
            let exit = try await inbox.retry(items) { step in
                switch step {
                case .begun(_, let result): steps.record("begun \(failure(result)?.code.rawValue ?? 0)")
                case .waiting(let count): steps.record("waiting \(count)")
                case .answered(let item, .success(let handler)):
                    steps.record("\(item.stored) by \(handler ?? "")")
                case .answered(_, .failure(let failure)): steps.record(failure.reason)
                }
            }
            #expect(exit == .handlerSaidNo)
        }
        #expect(
            steps.all == [
                "begun 0", "begun 66", "begun 0", "waiting 2", "2  b.txt: org.example.one said no: as I like",
                "waiting 1", "a.txt by org.example.one",
            ])
    }

    @Test("without a receiver nothing is awaited, and words without an item need none")
    func noAnswers() async throws {
        let kitchen = try Kitchen(items: "a.txt")
        let items = [try kitchen.item("a.txt")]
        let none = await #expect(throws: WaftError.self) { _ = try await kitchen.waft.inbox.retry(items) { _ in } }
        #expect(none?.code == .notRunning)
        #expect(try await kitchen.waft.inbox.retry([.unknown("x")]) { _ in } == .inputMissing)
    }

    // MARK: - Names

    @Test("an item that its user has renamed is found by its new name, except by a receiver that knows it")
    func renames() async throws {
        let (kitchen, other) = (try Kitchen(items: "a.txt"), try Kitchen(items: "a.txt"))
        for kitchen in [kitchen, other] { rename(kitchen.home.inbox + "/a.txt", kitchen.home.inbox + "/b.txt") }
        await kitchen.waft.inbox.followRenames()
        #expect(try kitchen.waft.inbox.show("b.txt").arrival == 1)
        #expect(try kitchen.waft.inbox.entry("a.txt") == nil)
        try await other.withReceiver { _ in
            .done
        } _: {
            await other.waft.inbox.followRenames()
        }
        #expect(try other.waft.inbox.show("1").stored == "a.txt")
    }
}

@Suite("The history of transfers")
struct HistoryTests {
    @Test("the latest arrivals come in the order of their numbers, and a page ends before a number")
    func arrivals() async throws {
        let kitchen = try Kitchen(items: "a", "b", "c", "d")
        let images = try ArrivalChoice(type: "public.image", kitchen.waft)
        func numbers(_ count: Int, before: Int64? = nil, _ choice: ArrivalChoice? = nil) throws -> [Int64] {
            try kitchen.waft.history.arrivals(latest: count, before: before, choice).map(\.arrival)
        }
        #expect(try numbers(2) == [3, 4])
        #expect(try numbers(2, before: 3) == [1, 2])
        #expect(try numbers(9, images) == [])
        _ = try await kitchen.waft.inbox.remove(kitchen.item("b"))
        #expect(try kitchen.waft.history.arrivals(latest: 9)[1].left?.how == "removed")
    }

    @Test("the log of what was sent is lines, with the words of receipts")
    func sent() throws {
        let kitchen = try Kitchen(jobs: 0)
        #expect(kitchen.waft.history.sent(latest: 9).isEmpty)
        let id = PeerID.sample(1).text
        let log = """
            {"v":1,"time":1000,"peer":"\(id)","name":"study","transfer":"t","count":2,"arrived":1,"moved":5,"dialect":"waft",\
            "items":[{"name":"a","type":"public.data","state":"taken"},{"name":"b","type":"public.data","state":"failed","reason":"no"}]}
            {"v":1,"time":2000,"transfer":"u","count":0,"arrived":0,"moved":0,"dialect":"localsend","items":[]}

            """
        try Data(log.utf8).write(to: URL(fileURLWithPath: kitchen.home.state + "/sent.jsonl"))
        let lines = kitchen.waft.history.sent(latest: 9)
        #expect(lines.map(\.transfer) == ["t", "u"] && lines[0].peer?.id == id && lines[1].peer == nil)
        #expect(lines[0].items.map(\.state) == ["sent", "failed"] && lines[0].storedCount == 1)
        #expect(kitchen.waft.history.sent(latest: 1).map(\.transfer) == ["u"])
    }
}
