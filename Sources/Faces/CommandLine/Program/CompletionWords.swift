import ArgumentParser
import Foundation
import Lines
import Operations
import Settings
import Sharing
import SystemCalls

/// Words that the shell offers at the Tab key. A fault means that nothing is offered.
extension CompletionKind {
    /// Peers that `--to` takes: contacts, machines that got something lately, and machines in view.
    static var peers: Self {
        .custom { (_, _, _) async in
            CompletionWords.offered(contactNames + groupNames + rememberedNames + recentPeers + (await peersInView))
        }
    }

    /// Names of remembered peers.
    static var rememberedPeers: Self {
        .custom { _, _, _ in CompletionWords.offered(rememberedNames) }
    }

    static var settings: Self {
        .custom { _, _, _ in CompletionWords.offered(SettingKey.all.map(\.name)) }
    }

    static var contacts: Self {
        .custom { _, _, _ in CompletionWords.offered(contactNames) }
    }

    static var handlers: Self {
        .custom { _, _, _ in
            CompletionWords.offered((try? CommandContext().waft.handlers.names) ?? [])
        }
    }

    /// Keys of the settings of the handler that the word before names.
    static var handlerSettings: Self {
        .custom { words, index, _ in
            guard words.indices.contains(index - 1), let waft = try? CommandContext().waft else { return [] }
            return CompletionWords.offered(waft.handlers.settingNames(of: words[index - 1]))
        }
    }

    /// Values of the setting that the word before names.
    static var handlerSettingValues: Self {
        .custom { words, index, _ in
            guard words.indices.contains(index - 2), let waft = try? CommandContext().waft else { return [] }
            return CompletionWords.offered(waft.handlers.choices(of: words[index - 1], of: words[index - 2]))
        }
    }

    /// Numbers of the offers that wait.
    static var offers: Self {
        .custom { (_, _, _) async in
            let offers = try? await CommandContext.forgiving.waft.offers.all()
            return (offers ?? []).compactMap { $0.offer.map(String.init) }
        }
    }

    /// Beginnings of the ids of the transfers that move.
    static var transfers: Self {
        .custom { (_, _, _) async in
            let moving = try? await CommandContext.forgiving.waft.transfers.moving()
            return (moving ?? []).map { String($0.transfer.prefix(MovingLine.shownIDLength)) }
        }
    }

    static var jobs: Self {
        .custom { (_, _, _) async in
            let jobs = try? await CommandContext().waft.outbox.list(all: true).jobs
            return (jobs ?? []).map { String($0.job) }
        }
    }

    /// Names of the items in the Inbox.
    static var inboxItems: Self {
        .custom { _, _, _ in CompletionWords.offered(inboxNames) }
    }

    /// Names of the items in the Inbox, and folders to which they can be moved.
    static var inboxItemsAndFolders: Self {
        .custom { words, index, _ in
            let word = words.indices.contains(index) ? words[index] : ""
            return CompletionWords.offered(inboxNames + CompletionWords.folders(beginning: word))
        }
    }

    // MARK: Names

    private static var contactNames: [String] { (try? CommandContext().people.contactNames) ?? [] }

    private static var groupNames: [String] {
        let groups = (try? CommandContext().waft.contacts.groups()) ?? []
        return groups.map { "@\($0.name)" }
    }

    private static var rememberedNames: [String] {
        (try? CommandContext().waft.peers.rememberedNames) ?? []
    }

    /// Transfers in which names of peers are looked for.
    private static let recentTransfers = 100

    private static var recentPeers: [String] {
        let sent = (try? CommandContext().waft.history.sent(latest: recentTransfers)) ?? []
        return sent.compactMap { $0.peer?.word }
    }

    /// A person waits for the list.
    private static let looking: Duration = .milliseconds(600)

    /// Machines in view that tell their names. The name of a contact is the contact's alone.
    private static var peersInView: [String] {
        get async {
            guard let peers = try? SharePeers(CommandContext().waft) else { return [] }
            return await peers.found(within: looking).compactMap(\.person.word)
        }
    }

    private static var inboxNames: [String] {
        ((try? CommandContext().waft.inbox.list()) ?? []).map(\.stored)
    }
}

/// Words on their way to the completion script of a shell.
enum CompletionWords {
    /// More than a person reads.
    private static let maximumCount = 1_000

    /// The words in the form that the script of the shell reads, each once.
    ///
    /// Bash expands the words of a list. Without quotes, a received file with the name `$(reboot)` would restart the
    /// machine at the Tab key. Words with control characters are left out: the list has a word on each line. So are words
    /// that begin with `-`: a verb would read a received file with the name `--all` as an option.
    ///
    /// - Parameter shell: The shell whose script asks; an unknown one gets the words of bash.
    static func offered(_ words: [String], to shell: CompletionShell? = .requesting) -> [String] {
        var seen: Set<String> = []
        let shown = words.filter { word in
            !word.isEmpty && !word.hasPrefix("-") && word.unicodeScalars.allSatisfy(ShownText.isPrintable)
                && seen.insert(word).inserted
        }
        return shown.prefix(maximumCount).map { word in
            switch shell {
            case .fish: word
            // A colon begins the description of a word.
            case .zsh: word.replacing(scalar: "\\", with: "\\\\").replacing(scalar: ":", with: "\\:")
            default: ShellWord.quoted(word)
            }
        }
    }

    /// The folders whose path begins with the typed text. May block on the disk.
    static func folders(beginning path: String) -> [String] {
        let typed = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let name = path.dropFirst(typed.count)
        let parent = typed.isEmpty ? "." : (typed as NSString).expandingTildeInPath
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        return entries.filter { entry in
            var isFolder: ObjCBool = false
            return entry.hasPrefix(name) && (!entry.hasPrefix(".") || name.hasPrefix("."))
                && FileManager.default.fileExists(atPath: parent + "/" + entry, isDirectory: &isFolder)
                && isFolder.boolValue
        }.sorted().map { typed + $0 }
    }
}
