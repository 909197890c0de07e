import ArgumentParser
import Contacts
import Foundation
import Lines
import Sharing
import Synchronization
import TestSupport
import UniformTypes

@testable import Commands
@testable import HandlerCatalog

/// A state folder with contacts and a visibility, and a clock that only the test moves.
final class ContactsShelf: Sendable {
    let folder = TemporaryFolder()
    let policy: Policy
    let receiver: ReceiverRule
    /// 2026-11-21 08:00:00 UTC, a Saturday.
    let clock = Mutex(WallTime(milliseconds: 1_795_248_000_000))
    /// Bytes that each sender has sent in 24 hours; nil if the journal cannot be read.
    let received = Mutex<UInt64?>(0)
    private let steady = Mutex(ContinuousClock.now)

    /// Nil if every name is the name of a handler.
    private let handlers: [String]?

    init(policy: Policy = .none, receiver: ReceiverRule = .ask, handlers: [String]? = nil) {
        (self.policy, self.receiver, self.handlers) = (policy, receiver, handlers)
    }

    var bookPath: String { folder / "state/contacts.json" }

    var place: ContactsPlace {
        ContactsPlace(
            book: ContactBook(path: bookPath),
            visibility: VisibilityFile(
                path: folder / "state/visibility.json",
                clocks: .init(wall: { self.clock.withLock { $0 } }, steady: { self.steady.withLock { $0 } })),
            policy: policy,
            receiver: receiver,
            ownName: "study's",
            ownID: { PeerID.sample(9) },
            registry: { .system },
            amounts: Amounts(bytes: received.withLock { $0 }),
            findHandler: { [handlers] name throws(CatalogError) in
                if let handlers, !handlers.contains(name) { throw .unknownHandler(name) }
            },
            now: { self.clock.withLock { $0 } },
            zone: .gmt
        )
    }

    private struct Amounts: AmountReading {
        var bytes: UInt64?

        func received(from sender: AmountSender, on day: Day) throws(JournalError) -> UInt64 {
            guard let bytes else { throw JournalError("no journal") }
            return bytes
        }
    }

    func advance(seconds: Int64) {
        clock.withLock { $0.milliseconds += seconds * 1_000 }
        steady.withLock { $0 += .seconds(seconds) }
    }

    /// The contacts as another process reads them.
    func snapshot() throws -> ContactSnapshot { try ContactBook(path: bookPath).snapshot() }

    /// The report of a verb of `waft`, or its failure. The words begin with `contacts`, `visible` or `policy`.
    func run(_ words: String...) throws -> VerbReport { try run(words) }

    func run(_ words: [String]) throws -> VerbReport {
        let command = try Self.root(words).parseAsRoot(Array(words.dropFirst()))
        guard let verb = command as? any ContactsVerb else { throw ExitCode(0) }
        let report = try verb.report(on: place)
        if words.contains("--json") { holdContract(report.results) }
        return report
    }

    /// How a verb fails: its exit code and its line.
    func failure(_ words: String...) -> (exit: Int32, message: String, hint: String?) { failure(words) }

    func failure(_ words: [String]) -> (exit: Int32, message: String, hint: String?) {
        do {
            let report = try run(words)
            return (0, report.results.joined(separator: " / "), nil)
        } catch let failure as CommandError {
            return (failure.exit.rawValue, failure.message, failure.hint)
        } catch {
            let root = Self.root(words)
            return (root.exitCode(for: error).rawValue, root.message(for: error), nil)
        }
    }

    private static func root(_ words: [String]) -> any ParsableCommand.Type {
        switch words.first {
        case "visible": VisibleCommand.self
        case "policy": PolicyCommand.self
        default: ContactsCommand.self
        }
    }
}

extension VerbReport {
    var text: String { results.joined(separator: "\n") }

    /// The JSON documents on standard output.
    var documents: [[String: Any]] {
        results.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    }

    /// Whether the output contains nothing that a terminal obeys.
    var isPrintable: Bool {
        (results + notes).allSatisfy {
            $0.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
        }
    }
}
