import Contacts
import Executors
import HandlerCatalog
import Lines
import Logging
import Settings
import Sharing
import TestSupport
import Testing
import WaftDialect

@testable import Receiving

@Suite("The peers that see a receiver", .timeLimit(.minutes(1)))
struct VisibilityControllerTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let folder = TemporaryFolder()
    private let home: Home
    private let friend = PeerID.sample(1)
    private let blocked = PeerID.sample(2)
    private let stranger = PeerID.sample(3)

    init() throws {
        home = try Home(environment: ["WAFT_HOME": folder.path])
        try home.makeFolders()
        let book = home.contactBook()
        try book.allow(friend, named: ContactName("friend"), Verification(.keyID, at: .now))
        try book.allow(blocked, named: ContactName("blocked"), Verification(.keyID, at: .now))
        try book.block(blocked, callingItself: "blocked", at: .now)
    }

    private var stored: VisibilityFile { VisibilityFile(path: home.visibilityPath) }

    private let permits = TransferPermits()

    private func controller(startingAs visibility: Visibility? = nil) -> VisibilityController {
        let settings = Settings(hostName: "kitchen")
        let live = LiveSettings(settings)
        let handlers = home.handlerCatalog(settings, live: live)
        let pairing = PairingAcceptance(
            own: .sample(1), name: "kitchen", contacts: home.contactBook(), permits: permits,
            blocking: BlockingExecutor(threads: 1), logger: Self.logger)
        return VisibilityController(
            home, live, startingAs: visibility,
            catalog: CatalogWatch(handlers, listening: false, logger: Self.logger),
            dayAmount: { _, _, _ in 0 }, guests: CodeGuests(pairing, permits), logger: Self.logger)
    }

    @Test("one that is off takes connections while a code lets a transfer in, and the gate lets in that transfer alone")
    func permitted() throws {
        try stored.choose(.off)
        let (controller, transfer) = (controller(), TransferID())
        #expect(!controller.isListening && !controller.isFound)
        permits.give(transfer, from: stranger, at: .now)
        #expect(controller.isListening && !controller.isFound)
        #expect(controller.gate.access(of: stranger, by: .waft) == .stranger)
        let other = PeerID.sample(77)
        #expect(controller.shows(itselfTo: stranger) && !controller.shows(itselfTo: other))
        guard case .barred = controller.gate.access(of: other, by: .waft) else {
            Issue.record("another stranger is let in")
            return
        }
    }

    @Test("it shows itself to all, to the contacts that are not blocked, or to nobody")
    func shows() throws {
        let controller = controller()
        #expect(controller.visibility == .contacts && controller.contacts == [friend])
        #expect([friend, blocked, stranger].map(controller.shows(itselfTo:)) == [true, false, false])
        #expect([friend, blocked, stranger].map(controller.knows) == [true, false, false])
        try stored.choose(.everyone)
        #expect([friend, stranger].map(controller.shows(itselfTo:)) == [true, true])
        try stored.choose(.off)
        #expect([friend, stranger].map(controller.shows(itselfTo:)) == [false, false])
        #expect(controller.contactName(of: friend) == "friend" && controller.contactName(of: stranger) == nil)
    }

    @Test("the visibility of a start stands over the stored one until the user chooses another")
    func start() throws {
        let controller = controller(startingAs: .everyone)
        #expect(controller.visibility == .everyone && controller.overriddenVisibility == .contacts)
        #expect(controller.line.visibility == "everyone")
        try stored.choose(.off)
        #expect(controller.visibility == .off && controller.overriddenVisibility == nil)
        #expect(controller.line.visibility == "off")
    }

    @Test("who waits for a visibility goes on when it is chosen, and at once if it is so already")
    func waiting() async throws {
        let controller = controller()
        await controller.wait { $0 == .contacts }
        async let waiting: Void = controller.wait { $0 == .off }
        try stored.choose(.off)
        controller.lookAgain()
        await waiting
        #expect(controller.visibility == .off)
    }

    @Test("a visibility for a time ends by itself")
    func end() async throws {
        let controller = controller()
        try stored.choose(.everyone, for: .milliseconds(500))
        #expect(controller.visibility == .everyone && controller.nextVisibility?.visibility == .contacts)
        await controller.wait { $0 == .contacts }
        #expect(controller.nextVisibility == nil)
    }

    @Test("a task that waits ends when it is cancelled")
    func cancelled() async {
        let controller = controller()
        let waiting = Task { await controller.wait { $0 == .off } }
        waiting.cancel()
        await waiting.value
        #expect(controller.visibility == .contacts)
    }

    @Test("a stranger who is blocked becomes no contact, and does not see the receiver")
    func block() throws {
        let controller = controller()
        try controller.block(stranger, callingItself: "stranger")
        #expect(!controller.shows(itselfTo: stranger) && !controller.contacts.contains(stranger))
        #expect(try home.contactBook().snapshot().blockedStrangers.map(\.id) == [stranger])
    }
}
