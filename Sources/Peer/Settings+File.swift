import Foundation
package import UniformTypes
import Yams

extension Settings.Partial {
    /// Bytes of a configuration file; people write a few hundred.
    private static let maximumBytes = 1 << 20

    /// What `config.yaml` says; nothing when it is not there.
    ///
    /// - Parameter registry: the types that rules can name; asked for where there are rules.
    /// - Throws: `Settings.Unusable` with file and line for what is no YAML, an unknown key, or a value that will not do.
    package init(
        file path: String, registry: @autoclosure () -> TypeRegistry = .system
    ) throws(Settings.Unusable) {
        self.init()
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard let data = FileManager.default.contents(atPath: path), data.count <= Self.maximumBytes,
            let text = String(data: data, encoding: .utf8)
        else {
            throw Settings.Unusable(
                description: "\(path) cannot be read: it is unreadable, too large, or not UTF-8 text")
        }
        let root: Node?
        do {
            root = try compose(yaml: text)
        } catch {
            let reason = (error as? YamlError)?.description ?? error.localizedDescription
            let line = reason.split(separator: "\n").joined(separator: " ")
            throw Settings.Unusable(description: "\(path) is not YAML: \(line)")
        }
        // A file of comments only, as the first start writes it.
        guard let root, root.null == nil else { return }
        guard let mapping = root.mapping else {
            throw Settings.Unusable(description: "\(path) should be a list of `key: value` lines")
        }
        for (key, value) in mapping {
            if key.scalar?.string == PolicyReader.key {
                policy = try PolicyReader(path: path, registry: registry()).read(value)
            } else if key.scalar?.string == DialectsReader.key {
                airdrop = try DialectsReader(path: path).read(value)
            } else {
                try read(key, value, path)
            }
        }
    }

    private mutating func read(_ keyNode: Node, _ value: Node, _ path: String) throws(Settings.Unusable) {
        let place = "\(path), line \(keyNode.mark?.line ?? 0)"
        let name = keyNode.scalar?.string ?? "?"
        guard let key = SettingKey.all.first(where: { $0.name == name }) else {
            let known = (SettingKey.all.map(\.name) + [PolicyReader.key, DialectsReader.key]).joined(separator: ", ")
            throw Settings.Unusable(
                description: "\(place): unknown setting \"\(name.prefix(64))\"; there are: \(known)")
        }
        let texts = value.scalar.map { [$0.string] } ?? value.sequence?.compactMap { $0.scalar?.string } ?? []
        guard value.mapping == nil, key.read(texts, &self) else {
            throw Settings.Unusable(description: "\(place): \(name) should be \(key.expected)")
        }
        places[name] = place
    }
}

/// The configuration file of the first start: every setting with its default, as comments.
package enum ConfigurationTemplate {
    package static let text = """
        # Settings of Waft. They are read at the start: restart waftd after a change. Flags come before WAFT_... environment
        # variables, those before this file.

        # What this machine is called among its peers (WAFT_NAME). Default: the host's name.
        #name: kitchen

        # The port to listen on (WAFT_PORT). Default: 9238, or any free one when that is taken.
        #port: 9238

        # Whose offers are taken without a question (WAFT_ACCEPT): ask (those of contacts whose policy says so), contacts,
        # everyone, or none. Others wait for `waft offers`, `waft accept N` or `waft decline N`.
        #accept: ask

        # Rules, tried in order for each item that is offered; the first one that holds decides. Where none does, the
        # contact's own policy counts (waft contacts show NAME), and a stranger is asked about. A rule cannot open what
        # visibility and contacts close. In a rule can stand, a value or a list each:
        #   from          names of contacts, contacts, strangers, everyone, airdrop
        #   type          uniform types, such as public.image: the item's conforms to one of them
        #   name          patterns with * and ?
        #   sizeAtMost, sizeAtLeast    of one item, such as 5 GB
        #   sizePerDay    of all that came from the sender in 24 hours, the offer included, such as 20 GB
        #   time, days    such as 08:00-18:00 and mon-fri
        #   then          accept, ask or decline; needed
        #   handler, folder    where it goes; the folder is below the Inbox (`inbox`: to no handler)
        # See what they do with: waft policy test --from PEER FILE
        #policy:
        #- {from: Anna, type: public.image, sizeAtMost: 5 GB, then: accept, folder: Photos/Anna}
        #- {from: contacts, name: ['*.exe', '*.msi'], then: decline}

        # A program that is started for each arrival that no installed handler takes (WAFT_HOOK): HOOK open-url URL, with
        # the facts in WAFT_... variables and as JSON on standard input. Exit code 0 means yes, 1 no, 75 later.
        #hook: /home/me/bin/on-arrival
        # Seconds after which it is ended, and so are handlers that name no time of their own (WAFT_HOOK_TIMEOUT).
        #hookTimeout: 60
        # What it may read besides the system's folders and the Inbox (WAFT_HOOK_READABLE, with commas), and where it may
        # write besides its data folder, WAFT_DATA, and its temporary folder (WAFT_HOOK_WRITABLE, with commas).
        #hookReadable: [/home/me/albums.txt]
        #hookWritable: [/home/me/Pictures]
        # Whether it may use the network (WAFT_HOOK_NETWORK), and connect to Unix sockets, as for printing and desktop
        # notifications (WAFT_HOOK_SOCKETS).
        #hookNetwork: false
        #hookSockets: false
        # Whether it is kept from everything else (WAFT_HOOK_SANDBOX): strict or none.
        #hookSandbox: strict

        # Which types can be sent here (WAFT_ELIGIBILITY): everything, or only what handlers open.
        #eligibility: everything
        # Schemes of received URLs that are opened at once, not only stored (WAFT_OPEN_RECEIVED_URLS, with commas): https,
        # http, or those of handlers.
        #openReceivedURLs: []
        # On a kernel without Landlock handlers run unrestricted (prefer) or not at all (require) (WAFT_SANDBOX).
        #sandbox: prefer

        # A program that is asked about offers, at the same time as people (WAFT_ARBITER): the offer as JSON on standard
        # input; exit code 0 accepts, 1 declines, anything else leaves it to others. It may read what the hook may, has its
        # network and sockets, and writes nowhere but in its temporary folder.
        #arbiter: /home/me/bin/arbiter
        # Whether offers are shown on the desktop (WAFT_NOTIFICATIONS).
        #notifications: true

        # A program that is told when a job of the outbox is done or given up (WAFT_OUTBOX_HOOK): the facts as JSON on
        # standard input. It is restricted as the hook is, with the same exceptions; it has no data folder.
        #outboxHook: /home/me/bin/outbox-hook
        # Room for the copies in the outbox (WAFT_OUTBOX_QUOTA).
        #outboxQuota: 20 GB
        # Whether the machine is kept awake while something is being sent or received (WAFT_INHIBIT_SLEEP).
        #inhibitSleep: true

        # Whether to be found, and to find others, by mDNS (WAFT_DISCOVERY).
        #discovery: true
        # Interfaces on which that is not done (WAFT_SKIP_INTERFACES, with commas).
        #skipInterfaces: [docker*, br-*, virbr*, veth*]

        # What of the Inbox's disk is left to everybody else, and the same share of its inodes (WAFT_RESERVE). Default:
        # 1 GiB, or 5 % of a small disk.
        #reserve: 5 %
        # How much may come from one stranger: what lies in the Inbox, is on its way, and is kept of what was broken off;
        # 0 for no bound (WAFT_STRANGER_QUOTA). Each file and folder counts for 4 KiB besides its bytes.
        #strangerQuota: 10 GiB
        # What becomes of an item whose name is taken (WAFT_CONFLICT): keep-both (it gets a number) or skip (it is not
        # taken). Nothing is ever replaced.
        #conflict: keep-both
        # What did not come whole is kept out of sight, to go on with it (WAFT_PARTIAL_LIFETIME): how long,
        #partialLifetime: 7d
        # and how much of it (WAFT_PARTIAL_QUOTA).
        #partialQuota: 20 GiB

        # Other protocols. AirDrop is spoken while this machine is visible to everyone (waft visible); flags say what it can
        # do, as a number, and modelName which picture others show.
        #dialects:
        #  airdrop: {enabled: true, flags: 139, modelName: Linux}

        # How much is logged (WAFT_LOG_LEVEL): debug, info, notice, warning, error.
        #logLevel: notice

        """

    /// Writes it where no file is; never over one.
    /// - Returns: whether it was written.
    package static func writeIfMissing(at path: String) -> Bool {
        // A missing template is no reason not to start: errors are passed over. Half of one would be: it is given its name
        // when all of it is on the disk.
        guard access(path, F_OK) != 0 else { return false }
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        // Not by a rename, which would replace what the user has written meanwhile.
        let isWhole = (try? handle.write(contentsOf: Data(text.utf8))) != nil && fsync(file) == 0
        defer { unlink(temporary) }
        return isWhole && link(temporary, path) == 0
    }
}
