import Age
import Contacts
import Control
import Foundation
import Lines
import Protection
import Secrets
import Settings
import Sharing
import TestSupport
import Testing

@testable import Inbox
@testable import Operations

@Suite("Requests to the receiver of a home", .timeLimit(.minutes(1)))
struct ReceiverRequestsTests {
    @Test("without a receiver a request fails, and one that may go unanswered has no answer")
    func nobody() async throws {
        let receiver = try Kitchen(jobs: 0).waft.receiver
        let failure = await #expect(throws: WaftError.self) { try await receiver.ask(.status) }
        #expect(failure?.code == .notRunning && failure?.hint == "start one with: waftd, or: waft receive")
        #expect(try await receiver.askIfRunning(.status) == nil)
        let isRunning = try await receiver.change(.lookAgain) {}
        #expect(!isRunning)
    }

    @Test("a home whose path fits no socket is wrong usage for each request")
    func longPath() async throws {
        let place = "/" + String(repeating: "x", count: 120)
        let receiver = ReceiverConnection(try Home(environment: ["WAFT_HOME": place]))
        let ways: [@Sendable () async throws -> Void] = [
            { _ = try await receiver.ask(.status) }, { _ = try await receiver.askIfRunning(.status) },
            { try await receiver.watch { _ in } }, { _ = try await receiver.change(.lookAgain) {} },
        ]
        for way in ways {
            let failure = await #expect(throws: WaftError.self) { try await way() }
            #expect(failure?.code == .usage && failure?.reason.contains("choose a shorter WAFT_HOME") == true)
        }
    }

    @Test("a running receiver does what is asked; what it refuses or does not know fails, and is not done here")
    func changes() async throws {
        for (reply, wanted) in [
            (.done, nil), (.refused("no"), WaftError(.usage, "no")),
            (.unknown("what?"), WaftError(.inputMissing, "what?")),
            (.cancelled, WaftError.noAnswer),
        ] as [(ControlReply, WaftError?)] {
            let kitchen = try Kitchen(jobs: 0)
            let receiver = kitchen.waft.receiver
            try await kitchen.withReceiver { _ in
                reply
            } _: {
                var found: WaftError?
                do throws(WaftError) {
                    let isRunning = try await receiver.change(.lookAgain) { Issue.record("it is done here: \(reply)") }
                    #expect(isRunning)
                } catch {
                    found = error
                }
                #expect(found == wanted)
            }
        }
    }

    @Test("the key of a sealed file comes from the receiver, and its refusals say whether it is locked")
    func fileKeys() async throws {
        let header = try AgeHeader(parsing: AgeSealer(to: [AgeIdentity.generate().recipient]).header)
        @Sendable func failure(_ keys: FileKeys) async -> SealedFileError? {
            await withCheckedContinuation { continuation in
                // The keys block their thread.
                Thread.detachNewThread {
                    do throws(SealedFileError) {
                        _ = try keys.key(of: header)
                        continuation.resume(returning: nil)
                    } catch {
                        continuation.resume(returning: error)
                    }
                }
            }
        }
        let kitchen = try Kitchen(jobs: 0)
        let keys = kitchen.waft.receiver.fileKeys
        let error = await failure(keys)
        #expect(error.map { if case .locked = $0 { true } else { false } } == true)
        let text = Data(header.text).base64EncodedString()
        for (reply, error) in [
            (.locked("Waft is locked"), .locked("Waft is locked")),
            (.itemFault(code: "x", reason: "torn"), .foreign("torn")),
            (.refused("no"), .closed("no")), (.done, .closed(WaftError.noAnswer.reason)),
        ] as [(ControlReply, SealedFileError)] {
            let kitchen = try Kitchen(jobs: 0)
            try await kitchen.withReceiver { request in
                request == .protection(.fileKey(header: text)) ? reply : .refused("another request: \(request)")
            } _: {
                let found = await failure(kitchen.waft.receiver.fileKeys)
                #expect(found == error, "\(reply)")
            }
        }
    }
}

@Suite("The words of a receiver about protected items")
struct ProtectionWordsTests {
    private let midnight = LineTime(milliseconds: 0)

    @Test("the state has its time, and how many items wait; a drop box has neither")
    func states() {
        func words(_ isDropBox: Bool, _ isLocking: Bool, _ isUnlocked: Bool, _ waiting: Int) -> String {
            StatusLine.protectionState(
                isDropBox: isDropBox, isLocking: isLocking, isUnlocked: isUnlocked, since: midnight,
                waitingItems: waiting)
        }
        #expect(words(true, false, true, 3) == "a drop box: nothing can be opened here")
        #expect(words(false, true, true, 0).hasPrefix("locking since 19"))
        #expect(words(false, false, true, 0).hasPrefix("unlocked since 19"))
        #expect(words(false, false, true, 0).hasSuffix(":00"))
        #expect(words(false, false, false, 1).hasSuffix("; 1 item waits"))
        #expect(words(false, false, false, 3).hasSuffix("; 3 items wait"))
    }

    @Test("a receiver says nothing about protection that is not in use, and its fault comes last")
    func line() {
        var status = StatusLine(
            name: "kitchen", id: "k", port: 1, inbox: "/in", accept: "ask", discovery: "off", free: nil,
            waitingOffers: 0, activeTransfers: 0, processID: 1, hook: nil)
        #expect(status.protectionWords == nil)
        (status.protection, status.protectionSince) = ("none", midnight)
        #expect(status.protectionWords == nil)
        status.isProtectionSetUp = true
        #expect(status.protectionWords?.hasPrefix("none, locked since ") == true)
        (status.protection, status.unlocked, status.protectionFault) = ("complete", true, "logind is away")
        #expect(status.protectionWords?.hasPrefix("complete, unlocked since ") == true)
        #expect(status.protectionWords?.hasSuffix(", logind is away") == true)
    }
}

@Suite("The peers that the user knows")
struct KnownPeersTests {
    @Test("contacts are counted and found by their names; a book that cannot be read has none, and all are strangers")
    func contacts() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let (people, key) = (kitchen.waft.people, PeerID.sample(1))
        #expect(people.contactCount == 0 && people.contactNames.isEmpty && !people.isContact(named: "study"))
        _ = try await kitchen.waft.contacts.allow([NewContact(key.text, name: "study")], ContactTerms())
        #expect(people.contactCount == 1 && people.contactNames == ["study"] && people.isContact(named: "study"))
        #expect(try people.contact("study").id == key)
        #expect(throws: ContactError.self) { try people.contact("attic") }
        #expect(people.person(key, callingItself: "laptop").fields.contact == "study")
        let unread = KnownPeers(ContactBook(path: kitchen.home.contactBook().path + "/none"))
        #expect(unread.contactCount == 0 && !unread.person(key, callingItself: "laptop").isContact)
    }
}
