import Foundation
package import Sharing
package import UniformTypes
import Yams

extension Settings.Partial {
    /// Bytes of a configuration file; people write a few hundred.
    private static let maximumBytes = 1 << 20

    /// What `config.yaml` says; nothing when it is not there.
    ///
    /// - Parameters:
    ///   - dialects: rules can name those whose peers prove no key.
    ///   - registry: the types that rules can name; asked for where there are rules.
    /// - Throws: `Settings.Unusable` with file and line for what is no YAML, an unknown key, or a value that will not do.
    package init(
        file path: String, dialects: DialectTable, registry: @autoclosure () -> TypeRegistry = .system
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
                policy = try PolicyReader(path: path, registry: registry(), dialects: dialects).read(value)
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
        # Settings of Waft. waftd reads them at the start: restart it after a change. Command line options override WAFT_...
        # environment variables, and these override this file.

        # Name of this machine that peers see (WAFT_NAME). Default: the host's name.
        #name: kitchen

        # The port to listen on (WAFT_PORT). Default: 9238, or any free port if 9238 is in use.
        #port: 9238

        # Offers to accept without a question (WAFT_ACCEPT): ask (only as contacts and rules say), contacts, everyone, or
        # none (decline all). Other offers wait: see `waft offers`, `waft accept N` and `waft decline N`.
        #accept: ask

        # Rules, tried in order for each offered item; the first rule that matches decides. If no rule matches, the contact's
        # own policy applies (waft contacts show NAME), and you are asked about strangers. A rule cannot override the
        # visibility or a block. Keys of a rule, each with one value or a list:
        #   from          names of contacts, contacts, strangers, everyone, airdrop
        #   type          uniform types, such as public.image; the type of the item conforms to one of them
        #   name          patterns with * and ?
        #   sizeAtMost, sizeAtLeast    of one item, such as 5 GB
        #   sizePerDay    of everything from this sender in 24 hours with this offer, such as 20 GB
        #   time, days    such as 08:00-18:00 and mon-fri
        #   then          accept, ask or decline; required
        #   handler, folder    where the item goes; the folder is below the Inbox (handler `inbox`: no handler)
        # To test rules: waft policy test --from PEER FILE
        #policy:
        #- {from: Anna, type: public.image, sizeAtMost: 5 GB, then: accept, folder: Photos/Anna}
        #- {from: contacts, name: ['*.exe', '*.msi'], then: decline}

        # A program that Waft starts for each item that no installed handler takes (WAFT_HOOK): HOOK open-url URL, with the
        # facts in WAFT_... variables and as JSON on standard input. Exit code 0 means yes, 1 no, 75 try again later.
        #hook: /home/me/bin/on-arrival
        # Time limit in seconds for the hook, and for handlers without their own limit (WAFT_HOOK_TIMEOUT).
        #hookTimeout: 60
        # More paths that the hook may read (WAFT_HOOK_READABLE, with commas), besides the system's folders and the Inbox;
        # more folders that it may write to (WAFT_HOOK_WRITABLE, with commas), besides its data folder, WAFT_DATA, and its
        # temporary folder.
        #hookReadable: [/home/me/albums.txt]
        #hookWritable: [/home/me/Pictures]
        # Whether the hook may use the network (WAFT_HOOK_NETWORK) and connect to Unix sockets, for example for printing and
        # desktop notifications (WAFT_HOOK_SOCKETS).
        #hookNetwork: false
        #hookSockets: false
        # Whether the sandbox blocks everything else (WAFT_HOOK_SANDBOX): strict or none.
        #hookSandbox: strict

        # Types that peers can send (WAFT_ELIGIBILITY): everything, or handlers (only types that a handler opens).
        #eligibility: everything
        # Schemes of received URLs that are opened at once, not only stored (WAFT_OPEN_RECEIVED_URLS, with commas): https,
        # http, or schemes of handlers.
        #openReceivedURLs: []
        # On a kernel without Landlock handlers run unrestricted (prefer) or not at all (require) (WAFT_SANDBOX).
        #sandbox: prefer

        # A program that decides about offers, while people are asked too (WAFT_ARBITER): it gets the offer as JSON on
        # standard input; exit code 0 accepts, 1 declines, any other code gives no answer. It has the read, network and
        # socket permissions of the hook, and may write only to its temporary folder.
        #arbiter: /home/me/bin/arbiter
        # Whether offers appear as desktop notifications (WAFT_NOTIFICATIONS).
        #notifications: true

        # A program that Waft starts when an outbox job is sent or given up (WAFT_OUTBOX_HOOK), with the facts as JSON on
        # standard input. It has the permissions of the hook, but no data folder.
        #outboxHook: /home/me/bin/outbox-hook
        # Room for the copies in the outbox (WAFT_OUTBOX_QUOTA).
        #outboxQuota: 20 GB
        # Whether Waft keeps the machine awake while it sends or receives (WAFT_INHIBIT_SLEEP).
        #inhibitSleep: true

        # Whether Waft announces this machine and finds others by mDNS (WAFT_DISCOVERY).
        #discovery: true
        # Interfaces without mDNS (WAFT_SKIP_INTERFACES, with commas).
        #skipInterfaces: [docker*, br-*, virbr*, veth*]

        # Free space that Waft leaves on the Inbox's disk, with the same share of its inodes (WAFT_RESERVE). Default: 1 GiB, or
        # 5 % of a small disk.
        #reserve: 5 %
        # Limit for one stranger (WAFT_STRANGER_QUOTA): items in the Inbox, transfers in progress and parts of interrupted
        # transfers together; 0 for no limit. Each file and folder counts for 4 KiB besides its bytes.
        #strangerQuota: 10 GiB
        # What to do if the name of an item exists (WAFT_CONFLICT): keep-both (the new item gets a number) or skip (the new
        # item is refused). Existing files are never replaced.
        #conflict: keep-both
        # Waft keeps parts of interrupted transfers in a hidden folder, to resume them: how long (WAFT_PARTIAL_LIFETIME),
        #partialLifetime: 7d
        # and how much (WAFT_PARTIAL_QUOTA).
        #partialQuota: 20 GiB

        # Other protocols. AirDrop works while this machine is visible to everyone (waft visible); flags is the number of its
        # announced features, and modelName chooses the picture that others show.
        #dialects:
        #  airdrop: {enabled: true, flags: 139, modelName: Linux}

        # Log level (WAFT_LOG_LEVEL): debug, info, notice, warning, error.
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
