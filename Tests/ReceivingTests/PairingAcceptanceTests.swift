import Contacts
import Control
import Executors
import Foundation
import HTTPChannel
import Lines
import Logging
import Pairing
import SecureTransport
import Sending
import Sharing
import TestSupport
import Testing
import WaftDialect

@testable import Receiving

private let disk = BlockingExecutor(threads: 2)

extension PeerID {
    fileprivate static let kitchen = PeerID.sample(1)
    fileprivate static let study = PeerID.sample(2)
}

/// A receiver's pairing mode, and a peer that comes: messages go by hand, so that each can be the last.
private struct Acceptance {
    let folder = TemporaryFolder()
    let book: ContactBook
    let acceptance: PairingAcceptance
    private static let exported = [UInt8](repeating: 7, count: PairingSession.exporterBytes)

    init() {
        book = ContactBook(path: folder.path + "/contacts.json")
        acceptance = PairingAcceptance(
            own: .kitchen, name: "kitchen", contacts: book, blocking: disk,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func open(_ method: PairingOpening.Method = .compare, name: String? = nil) throws -> PairingProgress {
        try acceptance.open(PairingOpening(method: method, seconds: 600, name: name))
    }

    func responder(_ peer: PeerID = .study, at address: DialAddress? = nil) -> PairingResponder {
        PairingResponder(acceptance, peer: peer, at: address) { _ in Self.exported }
    }

    func initiator(_ method: PairingMethod = .compare, own: PeerID = .study) throws -> (PairingSession, [UInt8]) {
        let (session, first) = try PairingGate(own: own).initiate(
            with: .kitchen, method, exporter: Self.exported, now: .now)
        return (session, first)
    }

    /// The standing, once it is another than `seen`.
    func news(_ seen: PairingProgress) async throws -> PairingProgress {
        var now = seen
        while now.revision == seen.revision {
            now = try #require(await acceptance.follow(seen.ticket, seen: seen.revision))
        }
        return now
    }

    func standing(_ opened: PairingProgress) async throws -> PairingProgress {
        try #require(await acceptance.follow(opened.ticket, seen: -1))
    }

    /// Goes on until both sides have something to compare.
    func compared(_ responder: PairingResponder) async throws -> (session: PairingSession, string: ShortString) {
        let (session, first) = try initiator()
        let nonce = await responder.answer(PairingLetter(message: first, name: "study"))
        let agree = await responder.answer(
            PairingLetter(message: try #require(sent(session.receive(nonce.message, now: .now)))))
        _ = try session.receive(agree.message, now: .now)
        return (session, try #require(session.shown))
    }
}

private func sent(_ actions: [PairingAction]) -> [UInt8]? {
    for case .send(let bytes) in actions { return bytes }
    return nil
}

private func reason(_ letter: PairingLetter) -> String? {
    struct Refusal: Decodable { var reason: String? }
    return (try? JSONDecoder().decode(Refusal.self, from: Data(letter.message)))?.reason
}

@Suite("Pairing mode of a receiver", .timeLimit(.minutes(1)))
struct PairingAcceptanceTests {
    @Test("when both users say yes each side is verified, and the contact is stored before the last message")
    func compare() async throws {
        let test = Acceptance()
        let opened = try test.open()
        let responder = test.responder()
        let (session, string) = try await test.compared(responder)
        let comparing = try await test.standing(opened)
        #expect(comparing.phase == .comparing)
        #expect(comparing.comparison == CompareLine(digits: string.digits, words: string.words))
        #expect(comparing.peer?.peer == PersonFields(id: PeerID.study.text, name: "study"))
        let confirm = try #require(sent(session.confirm(true, now: .now)))
        async let last = responder.answer(PairingLetter(message: confirm))
        try test.acceptance.answer(opened.ticket, isSame: true)
        #expect(try session.receive(await last.message, now: .now) == [.verified(.kitchen)])
        #expect(try await test.standing(opened).phase == .paired)
        let contact = try #require(try test.book.snapshot()[.study])
        #expect((contact.name.text, contact.verification.method) == ("study", .comparedCode))
        responder.end()
        #expect(try await test.standing(opened).phase == .paired)
    }

    @Test("a no of this side's user reaches the request that waits, and no peer is stored")
    func declinedHere() async throws {
        let test = Acceptance()
        let opened = try test.open()
        let responder = test.responder()
        let (session, _) = try await test.compared(responder)
        let confirm = try #require(sent(session.confirm(true, now: .now)))
        async let last = responder.answer(PairingLetter(message: confirm))
        try test.acceptance.answer(opened.ticket, isSame: false)
        #expect(reason(await last) == "declined")
        let end = try await test.standing(opened)
        #expect((end.phase, end.failure?.code) == (.failed, .declined))
        #expect(try test.book.snapshot()[.study] == nil)
    }

    @Test("a no of the other side's user ends it here as well")
    func declinedThere() async throws {
        let test = Acceptance()
        let opened = try test.open()
        let responder = test.responder()
        let (session, _) = try await test.compared(responder)
        try test.acceptance.answer(opened.ticket, isSame: true)
        _ = await responder.answer(
            PairingLetter(message: try #require(sent(session.confirm(false, now: .now)))))
        let end = try await test.standing(opened)
        #expect((end.phase, end.failure?.code) == (.failed, .declined))
        #expect(try test.book.snapshot()[.study] == nil)
    }

    @Test("the right code pairs, and is spent")
    func code() async throws {
        let test = Acceptance()
        let opened = try test.open(.code, name: "anna")
        let code = try #require(opened.code.flatMap { PairingCode(text: $0) })
        #expect(try await test.standing(opened).code == nil, "it is told once")
        let responder = test.responder()
        let (session, first) = try test.initiator(.code(code))
        let share = await responder.answer(PairingLetter(message: first))
        let proof = try #require(sent(try session.receive(share.message, now: .now)))
        let last = await responder.answer(PairingLetter(message: proof))
        #expect(try session.receive(last.message, now: .now) == [.verified(.kitchen)])
        let end = try await test.standing(opened)
        #expect((end.phase, end.paired?.peer.contact) == (.paired, "anna"))
        #expect(try test.book.snapshot()[.study]?.verification.method == .typedCode)
        let (_, again) = try test.initiator(.code(code), own: .sample(3))
        #expect(reason(await test.responder(.sample(3)).answer(PairingLetter(message: again))) == "closed")
    }

    @Test("a wrong code stores no peer, and spends the right one")
    func wrongCode() async throws {
        let test = Acceptance()
        let opened = try test.open(.code)
        let shown = try #require(opened.code)
        let wrong = shown == "000-000-000" ? "000-000-001" : "000-000-000"
        let responder = test.responder()
        let (session, first) = try test.initiator(.code(try #require(PairingCode(text: wrong))))
        let share = await responder.answer(PairingLetter(message: first))
        let proof = try #require(sent(try session.receive(share.message, now: .now)))
        #expect(reason(await responder.answer(PairingLetter(message: proof))) == "code")
        let end = try await test.standing(opened)
        #expect((end.phase, end.failure?.code) == (.failed, .declined))
        #expect(try test.book.snapshot()[.study] == nil)
    }

    @Test("no peer is let in, or learns the name, before pairing mode is open and after it was closed")
    func closed() async throws {
        let test = Acceptance()
        let (_, first) = try test.initiator()
        let before = await test.responder().answer(PairingLetter(message: first))
        #expect((reason(before), before.name) == ("closed", nil))
        let opened = try test.open()
        #expect(test.acceptance.isOpen)
        test.acceptance.close(opened.ticket)
        #expect(!test.acceptance.isOpen)
        let after = await test.responder().answer(PairingLetter(message: first))
        #expect((reason(after), after.name) == ("closed", nil))
        #expect(try await test.standing(opened).failure?.code == .cancelled)
    }

    @Test("a second peer is refused as busy, and the first continues")
    func busy() async throws {
        let test = Acceptance()
        let opened = try test.open()
        let responder = test.responder()
        let (session, first) = try test.initiator()
        let nonce = await responder.answer(PairingLetter(message: first, name: "study"))
        let (_, other) = try test.initiator(own: .sample(3))
        #expect(reason(await test.responder(.sample(3)).answer(PairingLetter(message: other))) == "busy")
        #expect(try await test.standing(opened).peer?.peer.id == PeerID.study.text)
        let reveal = try #require(sent(try session.receive(nonce.message, now: .now)))
        _ = try session.receive(await responder.answer(PairingLetter(message: reveal)).message, now: .now)
        #expect(session.shown != nil)
    }

    @Test("one command has pairing mode at a time")
    func oneCommand() async throws {
        let test = Acceptance()
        let opened = try test.open()
        #expect(throws: PairingEndError.self) { try test.open() }
        test.acceptance.close(opened.ticket)
        _ = try test.open()
        #expect(await test.acceptance.follow(opened.ticket, seen: 0) == nil)
        #expect(throws: PairingEndError.self) { try test.acceptance.answer(opened.ticket, isSame: true) }
    }

    @Test("a connection that breaks after the first message leaves pairing mode open; after the string it is over")
    func cut() async throws {
        let test = Acceptance()
        let opened = try test.open()
        let early = test.responder()
        _ = await early.answer(PairingLetter(message: try test.initiator().1))
        early.end()
        let waiting = try await test.standing(opened)
        #expect((waiting.phase, waiting.peer) == (.waiting, nil))
        let late = test.responder()
        _ = try await test.compared(late)
        late.end()
        let end = try await test.standing(opened)
        #expect((end.phase, end.failure?.code) == (.failed, .lost))
        #expect(throws: PairingEndError.self) { try test.acceptance.answer(opened.ticket, isSame: true) }
        #expect(try test.book.snapshot()[.study] == nil)
    }

    @Test("a client that leaves while its confirmation waits ends the pairing")
    func cutWhileWaiting() async throws {
        let test = Acceptance()
        let opened = try test.open()
        let responder = test.responder()
        let (session, _) = try await test.compared(responder)
        let confirm = try #require(sent(session.confirm(true, now: .now)))
        let waiting = Task { await responder.answer(PairingLetter(message: confirm)) }
        waiting.cancel()
        _ = await waiting.value
        let end = try await test.standing(opened)
        #expect((end.phase, end.failure?.code) == (.failed, .lost))
    }

    @Test("bytes that are no message are refused, in every step, and no peer is stored")
    func hostile() async throws {
        for junk in [[], Array("{}".utf8), [UInt8](repeating: 0xFF, count: 1_024), Array("[".utf8)] {
            let test = Acceptance()
            _ = try test.open()
            #expect(reason(await test.responder().answer(PairingLetter(message: junk))) == "protocol")
            let second = test.responder()
            _ = await second.answer(PairingLetter(message: try test.initiator().1))
            #expect(reason(await second.answer(PairingLetter(message: junk))) == "protocol")
            let third = test.responder()
            _ = try await test.compared(third)
            #expect(reason(await third.answer(PairingLetter(message: junk))) == "protocol")
            #expect(try test.book.snapshot().contacts.isEmpty)
        }
    }

    @Test("a peer that is blocked finds pairing mode closed")
    func blocked() async throws {
        let test = Acceptance()
        try test.book.block(.study, callingItself: "study", at: WallTime(milliseconds: 0))
        _ = try test.open()
        #expect(reason(await test.responder().answer(PairingLetter(message: try test.initiator().1))) == "closed")
    }

    @Test("names that are taken get a number, unfit ones the key's name, and a contact keeps its own")
    func names() throws {
        let test = Acceptance()
        func store(_ number: UInt8, _ name: String?) throws -> String {
            try PairedContact.store(
                .sample(number), in: test.book, wanted: nil, calledItself: name, .comparedCode
            ).name.text
        }
        #expect(try store(1, "study") == "study")
        #expect(try store(2, "Study") == "Study 2")
        #expect(try store(3, nil) == PeerID.sample(3).short)
        #expect(try store(4, "strangers") == PeerID.sample(4).short)
        #expect(try store(1, "other") == "study")
    }

    @Test(
        "a nameplate is answered alike by a receiver that shows another code or none, five times a minute for an address"
    )
    func nameplates() throws {
        let test = Acceptance()
        let asker = "192.0.2.9"
        #expect(
            (0..<7).map { _ in test.acceptance.shows(nameplate: 7, to: asker) } == [
                false, false, false, false, false, nil, nil,
            ])
        let opened = try test.acceptance.open(PairingOpening(.send, words: 2, people: 1, remembering: nil, seconds: 60))
        let code = try SpokenCode(text: try #require(opened.code))
        #expect(test.acceptance.showsCode && !test.acceptance.isOpen)
        #expect(test.acceptance.shows(nameplate: code.nameplate, to: nil) == true)
        #expect(test.acceptance.shows(nameplate: (code.nameplate + 1) % 100, to: nil) == false)
        #expect(test.acceptance.shows(nameplate: code.nameplate, to: asker) == nil)
        // All together 60 a minute, however many addresses there are.
        let answers = (0..<10_000).map { number in
            test.acceptance.shows(nameplate: code.nameplate, to: "fd00::\(number)")
        }
        #expect(answers.count { $0 != nil } == 60 - 7)
        #expect(try test.acceptance.identityForAskers().peerID.short == opened.shownKey)
    }

    /// A peer proves to know the code that is shown.
    private func prove(_ test: Acceptance, _ responder: PairingResponder, _ opened: PairingProgress) async throws {
        let code = try SpokenCode(text: try #require(opened.code))
        let typed = PairingCode(code, shownBySender: true)
        let (session, first) = try test.initiator(.code(typed), own: responder.peer)
        let share = await responder.answer(PairingLetter(message: first))
        let proof = try #require(sent(try session.receive(share.message, now: .now)))
        let last = await responder.answer(PairingLetter(message: proof))
        #expect(try session.receive(last.message, now: .now) == [.verified(.kitchen)])
        #expect(last.transfer != nil && last.name == "kitchen")
    }

    private func ready(port: UInt16?, remembers: Bool = false) -> PairingLetter {
        var letter = PairingLetter.ready(.initiator, name: "study", remembers: remembers)
        letter.port = port
        return letter
    }

    @Test(
        "a code for several gives each of them a transfer of its own, and makes contacts for a time where both sides say so"
    )
    func several() async throws {
        let test = Acceptance()
        let opened = try test.acceptance.open(
            PairingOpening(.send, words: 3, people: 3, remembering: 86_400, seconds: 60))
        let responders = [test.responder(), test.responder(.sample(3)), test.responder(.sample(4))]
        for responder in responders { try await prove(test, responder, opened) }
        // The first of them says last that it is ready.
        for (responder, remembers) in zip(responders.reversed(), [false, false, true]) {
            #expect(try await test.standing(opened).phase != .met)
            let answer = await responder.answer(ready(port: 9_238, remembers: remembers))
            #expect(answer.isReady(from: .responder) && answer.remembers == remembers)
        }
        let end = try await test.standing(opened)
        #expect(end.phase == .met && Set(end.guests.map(\.transfer)).count == 3, "\(end)")
        #expect(end.guests.map { $0.paired?.peer.contact } == [nil, nil, "study"])
        let contact = try #require(try test.book.snapshot()[.study])
        let time = try #require(contact.ends).milliseconds - WallTime.now.milliseconds
        #expect(contact.verification.method == .spokenCode && (86_000_000...86_400_000).contains(time))
        // Once is enough.
        #expect(reason(await responders[0].answer(ready(port: 9_238))) == "failed")
    }

    @Test("a machine that knows the code and leaves before the transfer begins spends it")
    func left() async throws {
        let test = Acceptance()
        let opened = try test.acceptance.open(
            PairingOpening(.send, words: 3, people: 2, remembering: nil, seconds: 60))
        let responder = test.responder()
        try await prove(test, responder, opened)
        #expect(try await test.standing(opened).phase == .waiting)
        // That it takes the transfer nowhere is no message of this protocol.
        #expect(reason(await responder.answer(ready(port: nil))) == "failed")
        responder.end()
        let end = try await test.standing(opened)
        #expect(end.phase == .failed && end.failure?.code == .lost, "\(end)")
        #expect(test.acceptance.desk.standing(now: .now).openUntil == nil)
    }

    @Test(
        "each try that comes to nothing ends a code with the address of the machine, whatever it has sent",
        arguments: ["twice", "ready", "off the curve", "silent"])
    func spent(way: String) async throws {
        let test = Acceptance()
        let opened = try test.acceptance.open(
            PairingOpening(.send, words: 2, people: 1, remembering: nil, seconds: 60))
        let code = PairingCode(try SpokenCode(text: try #require(opened.code)), shownBySender: true)
        let responder = test.responder(at: DialAddress(host: "192.0.2.9", port: 5))
        let (_, first) = try test.initiator(.code(code))
        var share = first
        if way == "off the curve" {
            let text = String(decoding: first, as: UTF8.self)
            let point = try #require(text.firstMatch(of: /"value":"([0-9a-f]+)"/)).output.1
            share = Array(text.replacing(point, with: "04" + String(repeating: "11", count: 64)).utf8)
        }
        _ = await responder.answer(PairingLetter(message: share))
        switch way {
        case "twice": _ = await responder.answer(PairingLetter(message: first))
        case "ready": _ = await responder.answer(ready(port: 9_238))
        case "silent": responder.end()
        default: break
        }
        let end = try await test.standing(opened)
        #expect(end.phase == .failed && end.address == "192.0.2.9", "\(end)")
    }

    @Test("a permit that its command withdraws lets nothing begin, and what has begun goes on")
    func withdrawn() async throws {
        let test = Acceptance()
        let transfers = [TransferID(), TransferID()]
        for transfer in transfers { test.acceptance.permits.give(transfer, from: .study, at: .now) }
        _ = await test.acceptance.reply(to: .withdraw(transfer: transfers[0].text))
        #expect(transfers.map { test.acceptance.permits.covers($0, from: .study, at: .now) } == [false, true])
    }
}
