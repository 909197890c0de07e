import Control
import Digests
import Endpoints
import HandlerCatalog
import Inbox
import Lines
import Operations
import Outbox
import Sending
import Settings
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import CommandLine
@testable import Contacts

/// One line of each event, or more if the event has several forms, with as few fields as it can have.
private struct Samples {
    private let offer = Offer.sample()
    private let id = PeerID.sample(1)
    private let peer: PersonFields
    private let arrival: Arrival
    private let name: ItemName

    init() throws {
        peer = PersonFields(id: id.text)
        arrival = Arrival(
            number: ArrivalNumber(7),
            facts: ArrivalFacts(
                transfer: offer.transfer, itemNumber: 0, itemsInOffer: 1, item: offer.items[0], size: 5,
                digest: .of(.xxh3_128, Array("hello".utf8)), peer: id, senderName: "study", annotation: [:]),
            stored: StoredItem(name: try SafeName("a"), path: "/in/a"))
        name = ItemName(arrival)
    }

    func all() throws -> [any Line] {
        let item = OutboxItem(offer.items[0], origin: "/a", content: .path("/a"))
        let job = OutboxJob(
            number: JobNumber(1), queued: WallTime(milliseconds: 0), expires: WallTime(milliseconds: 1_000),
            destination: .init(text: "study"), items: [item])
        let record = OutboxStore.Record(job: job, standing: JobStatus(job))
        var (arriving, sent) = (MovingLine(receiving: offer, from: peer), MovingLine(sending: offer, to: "study"))
        (arriving.bytes, arriving.total, arriving.relaying) = (1, 2, peer)
        arriving.move(at: 1)
        sent.end("the sender cancelled")
        return [
            arriving, sent, CancelledLine(transfer: offer.transfer.text),
            JobLine(record, person: KnownPeers.nobody.person), JobCancelledLine(job: 1),
            JobRetriedLine(job: 1, daemon: true), JobRemovedLine(job: 1), JobsRemovedLine(jobCount: 1),
        ] + sending() + receivingLines() + page() + machineLines() + documents() + sharing() + items() + (try people())
            + handlerLines() + protectionLines() + failed()
    }

    private func handlerLines() -> [any Line] {
        var handler = HandlerLine(name: "A", identifier: "org.example.a", origin: .user, enabled: true)
        (handler.streams, handler.cannotStart) = (true, true)
        var size = HandlerSettingLine(
            handler: "org.example.a", setting: "size", value: "1", setBy: "/a", standard: "0", form: "word",
            accepted: "one of 0 (Small)")
        (size.title, size.choices) = ("Size", [.init(choice: "0", title: "Small")])
        return [
            handler,
            HandlerProblemLine(
                severity: .warning, name: "A", identifier: nil, path: "/a", reason: "bad", hint: "remove it"),
            HandlerRemovedLine(
                path: "/a", dataFolder: nil, isDataRemoved: false, forgottenTypes: [], forgottenSchemes: []),
            HandlerDefaultLine(type: "public.plain-text"), HandlerDefaultLine(scheme: "foo"),
            HandlerDecisionLine(type: "public.data", handedOnAs: "public.data", eligible: true),
            SchemeDecisionLine(
                parts: .init(url: "foo:x", scheme: "foo", path: "x"), builtIn: false, openedWhenReceived: false),
            HandlerSettingLine(
                handler: "org.example.a", setting: "quality", value: "1", setBy: "default", standard: "1",
                form: "number", accepted: "a number, 0 to 1"),
            size,
            HandlerSettingChangedLine(
                handler: "org.example.a", setting: "quality", value: "1", formerValue: "0.5"),
        ]
    }

    private func people() throws -> [any Line] {
        let time = WallTime(milliseconds: 0)
        let contact = Contact(id: id, name: try ContactName("anna"), verification: Verification(.keyID, at: time))
        let stranger = BlockedStranger(id: id, calledItself: "x", at: time)
        let group = ContactGroup(try ContactName("lab"), [id])
        var deleted = GroupLine(group, in: .empty)
        deleted.deleted = true
        var onRadio = VisibilityLine("everyone", over: "off")
        onRadio.take(StatusLine.Radio())
        let decision = try Policy([PolicyRule([], .ask)]).decide(
            offer, from: .contact(contact), PolicySetting(at: time), dayAmount: 0)[0]
        return [
            ContactsLine(), ContactLine(contact, at: time), BlockedStrangerLine(stranger), GroupLine(group, in: .empty),
            deleted,
            RelationLine(.forgotten, id, nil, isBlocked: false), RelationLine(.blocked, id, contact, isBlocked: true),
            RelationLine(.unblocked, id, nil, isBlocked: false), MeLine(name: "kitchen", id),
            RuleLine(1, PolicyRule([], .ask)), PolicyDecisionLine("/a", offer.items[0], decision),
            VisibilityLine("off", over: "off"), onRadio, RememberedLine(name: "lab7", address: "192.0.2.7:9238"),
            RememberedLine(name: "lab7", address: "192.0.2.7:9238", isRemoved: true),
            PairingOpenLine(seconds: 600, code: nil, people: 2), CodeSpentLine(at: nil, reason: "r"),
            CompareLine(digits: "123456", words: ["a"]),
            PairingPeerLine(id, named: "study", isContact: false, warning: nil), PairedLine(id, contact: "study"),
            PairedLine(id, contact: "study", until: time),
            AwayLine(name: "lab7", address: "192.0.2.7:9238", reason: "no answer"),
        ]
            + [id, .unproven(.keyless, seed: [])].flatMap { peer -> [any Line] in
                let person = KnownPeers.nobody.person(peer, callingItself: nil)
                return [
                    FoundLine(person, device: nil, via: .keyed, at: [], rememberedAs: nil), LostLine(peer),
                ]
            }
    }

    private func machineLines() -> [any Line] {
        let settings = Settings(hostName: "kitchen")
        var status = StatusLine(
            name: "kitchen", id: id.text, port: 1, inbox: "/in", accept: "ask", discovery: "off", free: nil,
            waitingOffers: 0, activeTransfers: 0, processID: 1, hook: nil)
        var radio = StatusLine.Radio()
        (radio.backend, radio.windowSeconds, radio.obstacles) = ("owl 0.1", 60, ["Wi-Fi is not connected."])
        (radio.fault, radio.hint, radio.radioFault) = ("no radio", "connect Wi-Fi", "notNow")
        status.radio = radio
        return [
            SettingLine(SettingKey.all[0], settings) { "\($0.rule)" },
            SettingChangedLine(
                setting: "name", values: ["kitchen"], formerValues: ["vm"], inUse: true,
                value: .init(text: "kitchen", isDefault: false), formerValue: .init(text: "vm", isDefault: true)),
            SettingFaultLine(path: "/a", line: 3, reason: "unknown setting", receiverStarts: false),
            SettingsLine(changed: ["port"]), SettingsLine(faults: ["line 3: unknown setting"]),
            SettingsFileLine(path: "/a", exists: false), SettingsSchemaLine(),
            status,
            TypeLine(path: "/a", type: "public.data", conformsTo: [], icon: "a", genericIcon: "b"),
            CheckLine(name: "clock", result: .problem, reason: "it is wrong", hint: "set it"),
            DesktopLine(path: "/a", isForeign: false),
            DesktopLine(path: "/a", urlSchemes: [], isCurrent: true, menus: [], command: "waft", leftSchemes: []),
            ServiceLine(system: false, state: "active", startsByItself: true, isKnown: true, isActive: true),
            UnitLine(unit: "waftd.service", unitText: "[Unit]\n"),
        ]
    }

    private func documents() -> [any Line] {
        let (file, item) = (DocumentName(path: "/a"), DocumentName(arrival))
        var folder = PreviewLine(item, type: "public.folder")
        (folder.facts.shownAs, folder.facts.members) = (.folder, [.init(member: "a", kind: "file", size: 1)])
        let attempt = LinkAttempt(
            handler: "org.example.a", name: "A", answer: "no", exitCode: 1, signal: nil, reason: "", output: "")
        return [
            PreviewLine(file, type: "public.plain-text"), folder,
            PictureLine(
                item,
                PictureLine.Facts(
                    type: "public.png", mediaType: "image/png", pixelWidth: 1, pixelHeight: 1, picture: "/p.png"),
                size: 1),
            OptionLine(file, type: "public.png", action: .copy), OptionLine(item, type: "public.png", action: .take),
            OpenInLine(
                file, type: "public.png", place: 1, program: "Viewer", application: "viewer.desktop", isDefault: true,
                runsInTerminal: true),
            OpenInLine(
                item, type: "public.png", place: 2, program: "A", handler: "org.example.a", opens: "public.image"),
            DocumentOpenedLine(item, said: "opened"),
            DocumentOpenedLine(file, application: "viewer.desktop", said: "handed to Viewer"),
            DocumentOpenedLine(item, handler: "org.example.a", answer: "yes", exitCode: 0, said: "opened by A"),
            LinkFailedLine(
                url: "foo:x", scheme: "foo", attempts: [attempt], reason: "A said no", exit: .handlerSaidNo, hint: "no"),
        ] + [LinkOpenedLine(url: "foo:x", scheme: "foo", attempts: [attempt])].compactMap(\.self)
    }

    private func sharing() -> [any Line] {
        var done = CompletedLine()
        done.activity = "org.waft.activity.copy"
        return [
            ActivityLine(
                type: "org.waft.activity.airdrop", title: "anna", category: .share,
                peer: PersonFields(id: id.text, name: "anna", contact: "anna")),
            ActivityLine(type: "org.waft.activity.print", title: "Print", category: .action, reason: "no"),
            CompletedLine(exit: .interrupted), done,
        ]
    }

    private func sending() -> [any Line] {
        func sent(_ result: SendResult.Item, by dialect: Dialect = .keyed, isAwaited: Bool = false) -> SentLine {
            var offer = offer
            offer.dialect = dialect
            return SentLine(result, 0, of: offer, to: "study", peer: nil, isAwaited: isAwaited)
        }
        let stored = ItemReceipt.Outcome.stored(name: "a", size: 1, digest: .of(.xxh3_128, []))
        func acknowledged(_ state: HandlerAnswer.State) -> SendResult.Item {
            .acknowledged(ItemReceipt(stored, handler: HandlerAnswer(state)), sent: nil)
        }
        return [
            PlannedLine(0, offer.items[0]), SkippedLine(reason: "it cannot be read"),
            QueuedLine(job: 1, to: "study", count: 1, size: 1, daemon: false), OfferedLine(offer, to: "study"),
            BusyLine(to: "study", reason: nil, cause: .receiverStopped),
            RemarkLine(to: "study", reason: "trip has 3 links, which LocalSend does not carry"),
            ResumingLine(to: "study", reason: "the connection was lost"), HandlingLine(to: "study"),
            VerdictLine(Verdict(items: [.accepted]), to: "study"), SendingLine(to: "study", bytes: 1, total: nil),
            sent(acknowledged(.pending)), sent(acknowledged(.no), isAwaited: true),
            sent(acknowledged(.yes), isAwaited: true), sent(acknowledged(.none), by: .keyless),
            sent(.notAccepted(ItemVerdict(.declined, reason: "no", cause: .user))), DoneLine(exit: .done),
        ]
    }

    /// Those of the Inbox and of the history.
    private func items() -> [any Line] {
        let time = LineTime(milliseconds: 0)
        let known = JournalLine(arrival, from: peer, arrived: time.time, delivery: "none")
        var gone = known
        gone.left = JournalLine.Departure(Departure(.removed, at: time.time))
        gone.attempts = [JournalLine.Attempt(1, handler: "org.example.one", began: time)]
        var verified = VerifiedLine()
        (verified.locked, verified.summed) = (1, 2)
        let item = SentTransferLine.Item(name: "a", type: "public.data", state: "sent")
        return [
            EntryLine(stored: "a", path: "/in/a", kind: "file", form: "file", shownName: "a", modified: time), known,
            gone,
            SentTransferLine(
                ended: time, peer: nil, via: "waft", transfer: offer.transfer.text, count: 1, storedCount: 1, moved: 1,
                items: [item]),
            TakenLine(name, toward: "/home/a"), RemovedLine(name),
            RemovedLine(name, remarks: ["it is still listed"]),
            RetriedLine(name), AdoptedLine(inbox: "/in"), ResealedLine(arrival),
            ChangedLine(name, differences: ["size"], reason: nil, touched: time), MissingLine(name, reason: nil),
            UnreadableLine(name, reason: "bad disk"), AbsentLine(name, reason: "it was taken"),
            AbsentLine(wanted: "b", reason: "no such item"), VerifiedLine(), verified,
        ]
    }

    private func receivingLines() -> [any Line] {
        let waiting = WaitingOffer(number: 1, offer: offer, peer: id, freeRoom: 7)
        let line = ArrivalLine(arrival, from: peer)
        let handled = [.yes, .later, .no].map { line.answered(HandlerAnswer($0)) }
        var shown = offer
        shown.group = OfferedGroup(id: GroupID(), members: 23)
        let grouped = WaitingOffer(number: 2, offer: shown, peer: id, freeRoom: 7)
        shown.items[0].preview = ItemPreview(PreviewSample.png(1, 1))
        let left = Departure.How.allCases.map { line.left(Departure($0, at: .now, toward: "/home/a")) }
        return handled + left + [
            line, ReadyLine(id: id.text, name: "kitchen", port: 1, inbox: "/in", visibility: "everyone"),
            OfferLine(offer, from: peer),
            OfferLine(waiting, Introduction(contact: "anna", key: id.short)),
            OfferLine(grouped, Introduction(contact: "anna", key: id.short), relay: .contacts),
            AnsweredLine(offer, from: peer, []), AnsweredLine(offer, from: peer, [.accepted], number: 1),
            AnsweredLine(offer, from: peer, [.accepted], listsItems: true),
            ArrivingLine(offer.transfer, from: id, bytes: 1, of: 2),
            AlteredLine(offer, from: peer, entry: "a", reason: "renamed"),
            ArrivedLine(offer.transfer, from: id, TransferError(.interrupted, "the connection was lost")),
            ArrivedLine(offer.transfer, from: id, nil), AcceptedLine(offer: 1),
            AcceptedLine(offer: 1, items: [0], folder: "a", present: [.init(name: "a", arrival: 7, stored: "a")]),
            DeclinedLine(offer: 1, blocked: false),
        ] + [OfferPreviewLine(1, shown, item: 0)].compactMap(\.self)
    }

    private func failed() -> [any Line] {
        let subjects: [FailedLine.Subject?] = [.path("/a"), .job(1), .item(name), .wanted("b"), nil]
        var sending = FailedLine(.noAnswer, "nobody answered")
        (sending.to, sending.cause) = ("study", .timeout)
        return subjects.map { FailedLine(.unexpected, "it failed", hint: "look", others: ["so did that"], of: $0) }
            + [sending, WindowLine(port: 1, url: nil)]
    }

    private func page() -> [any Line] {
        var page = PageProgress(ticket: 1, isPlain: false, takes: true, items: ["a.jpg"], isStanding: false)
        (page.authorities, page.path, page.pin) = (["10.0.0.1:7443"], "/g/s", "123456")
        (page.fingerprint, page.secondsLeft) = (String(repeating: "AB", count: 32), 900)
        let other = PageProgress(ticket: 2, isPlain: true, takes: false, items: [], isStanding: false)
        let pages = [(page, false), (page, true), (other, true)].compactMap { PageLine($0, byPIN: $1) }
        var (guest, fetched, pin) = (
            GuestLine(.guest, address: "10.0.0.2"), GuestLine(.fetched, address: "10.0.0.2"), GuestLine(.newPin)
        )
        guest.browser = "Firefox on Android"
        (fetched.name, fetched.whole) = ("a.jpg", true)
        pin.pin = "123456"
        return pages + [
            guest, fetched, pin, GuestLine(.newPin), GuestLine(.wrongPin, address: "10.0.0.2"), PageClosedLine(.time),
        ]
    }

    private func protectionLines() -> [any Line] {
        var locked = LockLine(protection: "complete", unlockedOnce: true)
        (locked.protectionSince, locked.waitingItems) = (LineTime(milliseconds: 0), 3)
        (locked.keysFrom, locked.protectionFault, locked.reason) = ("keyring", "it is damaged", "screen")
        var (unlocked, locking) = (locked, locked)
        (unlocked.unlocked, unlocked.reason, locking.locking) = (true, nil, true)
        let lock = LockLine(protection: "complete")
        return [
            locked, unlocked, locking,
            ProtectionLine(setUp: false, recipientsPath: "/r", lock: lock, daemon: false),
            ProtectionLine(setUp: true, recipientsPath: "/r", lock: locked, daemon: true),
            ProtectionExportLine(
                recipientsPath: "/r", identityPath: "/i", openCommand: "age -d -i /i FILE.age > FILE"),
        ]
    }

}

@Suite("The lines of --json")
struct LineTests {
    /// The names of all lines that have samples.
    static func names() throws -> Set<String> { Set(try Samples().all().map { $0.event }) }

    @Test("each form of a line is as the schema has it")
    func samples() throws { holdContract(try Samples().all().map(\.json)) }
}
