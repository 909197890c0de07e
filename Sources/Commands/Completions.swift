import ArgumentParser
import Contacts
import Control
import HandlerCatalog
import Inbox
import Outbox
import Peer
import Sharing

/// Words that the shell offers at the Tab key. A fault means that nothing is offered.
extension CompletionKind {
    /// Peers that `--to` takes: contacts. A search would take seconds.
    static var peers: Self { contacts }

    static var contacts: Self {
        .custom { _, _, _ in
            guard let home = try? Surroundings().home, let known = try? home.contactBook().snapshot() else { return [] }
            return known.contacts.map(\.name.text)
        }
    }

    static var handlers: Self {
        .custom { _, _, _ in
            guard let surroundings = try? Surroundings() else { return [] }
            let catalog = surroundings.home.handlerCatalog(surroundings.settings)
            return catalog.load().bundles.map(\.name)
        }
    }

    /// Numbers of the offers that wait.
    static var offers: Self {
        .custom { (_, _, _) async in
            guard case .offers(let offers)? = try? await Daemon.askIfRunning(.offers) else { return [] }
            return offers.map { String($0.number) }
        }
    }

    static var jobs: Self {
        .custom { _, _, _ in
            guard let home = try? Surroundings().home,
                let contents = try? OutboxStore(folder: home.outbox).contents()
            else { return [] }
            return contents.records.map { "\($0.job.number)" }
        }
    }

    /// Names of the items that lie in the Inbox.
    static var inboxItems: Self {
        .custom { _, _, _ in
            guard let inbox = try? Surroundings().inbox, let entries = try? InboxListing.entries(at: inbox) else {
                return []
            }
            return entries.map(\.name)
        }
    }
}
