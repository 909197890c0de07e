import Contacts
import Control
import Endpoints
import Foundation
import Inbox
import ItemSources
import Lines
import NIOPosix
import Outbox
import Sending
import Settings
import Sharing

/// Puts a sending into the outbox: a job for each peer.
struct Queuing {
    let context: CommandContext
    let sources: [any ItemSource]
    /// The words of the sources: paths, then texts, then URLs.
    let paths: [String]
    let texts: [String]
    let urls: [String]
    let options: SendOptions
    let queue: QueueOptions
    let cancellation: Cancellation

    /// - Returns: the jobs, in the order of the peers.
    /// - Throws: `CommandError`; jobs that were made before stay.
    func run(to names: [String]) throws -> [OutboxJob] {
        let destinations = try names.map(destination)
        return try destinations.map(job)
    }

    /// The name of a contact means its key, even if the contact has another name when the job is sent.
    private func destination(_ name: String) throws -> OutboxJob.Destination {
        do {
            guard case .name = try PeerReference(name) else { return OutboxJob.Destination(text: name) }
            let contact = try context.home.contactBook().snapshot().contact(named: name)
            return OutboxJob.Destination(text: name, key: contact?.id)
        } catch let error as PeerReference.FormatError {
            throw CommandError(.usage, TerminalText.escaped(error.description))
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
    }

    private func job(_ destination: OutboxJob.Destination) throws -> OutboxJob {
        let store = OutboxStore(folder: context.home.outbox)
        do {
            let draft = try OutboxDraft.make(
                in: store, quota: context.settings.outboxQuota,
                reserve: { [reserve = context.settings.reserve] in reserve.bytes(ofFileSystem: $0) },
                isCancelled: { cancellation.isRequested })
            for (number, source) in sources.enumerated() { try add(source, number, to: draft) }
            if cancellation.isRequested { throw CancellationError() }
            return try draft.commit(
                to: destination,
                options: OutboxJob.Options(
                    annotation: options.annotation, takesPart: options.takesPart,
                    waitsForHandlers: options.wait == .opened),
                at: .now,
                lifetime: queue.expires.map { Int64($0) * 86_400_000 } ?? OutboxLimits.lifetime)
        } catch is CancellationError {
            throw CommandError(.interrupted, "cancelled; nothing was queued")
        } catch let fault as SourceError {
            throw CommandError(fault)
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
    }

    private func add(_ source: any ItemSource, _ number: Int, to draft: OutboxDraft) throws {
        // A program makes its item now: there is no peer that could accept it first.
        if source is ProgramSource {
            return try draft.addCopy(of: source)
        }
        switch number {
        case ..<paths.count:
            let path = paths[number]
            // Standard input cannot be read later.
            if path == "-" || queue.snapshot { return try draft.addCopy(of: source) }
            try draft.addReference(source, path: PathText.absolute(path))
        case ..<(paths.count + texts.count):
            try draft.addText(texts[number - paths.count], offered: source.offered)
        default:
            try draft.addURL(urls[number - paths.count - texts.count], offered: source.offered)
        }
    }

    /// Tells the receiver that there is something to do.
    /// - Returns: whether one is running.
    func tellDaemon() async -> Bool {
        guard let socket = try? ControlSocket(folder: context.home.run) else { return false }
        let group = MultiThreadedEventLoopGroup.singleton
        return (try? await ControlClient.ask(.outbox(.lookAgain), at: socket, on: group)) == .done
    }
}
