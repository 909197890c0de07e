import Inbox

extension SettingKey {
    /// The table of all settings. A new setting is a row here, and the property of `Settings` that its code uses.
    ///
    /// The template shows the settings in this order, with an empty line between two groups.
    static let groups: [[SettingKey]] = [
        [
            SettingKey(
                "name", \.name, .name, variable: "WAFT_NAME", flag: "--name",
                "Name of this machine that peers see", otherwise: "the host's name", example: "kitchen")
        ],
        [
            SettingKey(
                "port", \.port, .port, variable: "WAFT_PORT", flag: "--port",
                "The port to listen on", otherwise: "9238, or any free port if 9238 is in use", example: "9238")
        ],
        [
            SettingKey(
                "accept", \.accept,
                .word,
                variable: "WAFT_ACCEPT", flag: "--accept",
                "Offers to accept without a question",
                detail: "ask (only as contacts and rules say), contacts, everyone, or none (decline all)",
                note: "Other offers wait: see `waft offers`, `waft accept N` and `waft decline N`.",
                meanings: [
                    "ask": "Ask about each offer that no contact's policy and no rule answers",
                    "contacts": "Accept the offers of contacts, and ask about others",
                    "everyone": "Accept every offer",
                    "none": "Decline every offer",
                ])
        ],
        [
            SettingKey(
                "policy", \.policy, .rules,
                "Rules, tried in order for each offered item; the first rule that matches decides, within the contact's limits",
                note: """
                    If no rule matches, the contact's own policy applies (waft contacts show NAME), and you are asked about \
                    strangers. A rule cannot override the visibility or a block. Keys of a rule, each with one value or a list:
                      from          names of contacts, contacts, strangers, everyone, localsend, airdrop, web
                      type          uniform types, such as public.image; the type of the item conforms to one of them
                      name          patterns with * and ?
                      sizeAtMost, sizeAtLeast    of one item, such as 5 GB
                      sizePerDay    of everything from this sender in 24 hours with this offer, such as 20 GB
                      time, days    such as 08:00-18:00 and mon-fri
                      then          accept, ask or decline; required
                      handler, folder    where the item goes; the folder is below the Inbox (handler `inbox`: no handler)
                      protect       how the item is sealed, as in protection below
                    To test rules: waft policy test --from PEER FILE
                    """,
                example: """

                    - {from: Anna, type: public.image, sizeAtMost: 5 GB, then: accept, folder: Photos/Anna}
                    - {from: contacts, name: ['*.exe', '*.msi'], then: decline}
                    """)
        ],
        [
            SettingKey(
                "hook", \.hook, .executable, variable: "WAFT_HOOK",
                "A program that Waft starts for each item that no installed handler takes",
                detail: "HOOK open-url URL, with the facts in WAFT_... variables and as JSON on standard input",
                note: "Exit code 0 means yes, 1 no, 75 try again later.", example: "/home/me/bin/on-arrival"),
            SettingKey(
                "hookTimeout", \.hookTimeout, .seconds(1...86_400), variable: "WAFT_HOOK_TIMEOUT",
                "Time limit in seconds for the hook, and for handlers without their own limit"),
            SettingKey(
                "hookReadable", \.hookReadable, .paths("a list of absolute paths, such as [/home/me/albums.txt]"),
                variable: "WAFT_HOOK_READABLE",
                "More paths that the hook may read", note: "It may always read the system's folders and the Inbox.",
                example: "[/home/me/albums.txt]"),
            SettingKey(
                "hookWritable", \.hookWritable,
                .paths("a list of absolute paths of folders, such as [/home/me/Pictures]"),
                variable: "WAFT_HOOK_WRITABLE",
                "More folders that the hook may write to",
                note: "It may always write to its data folder, WAFT_DATA, and to its temporary folder.",
                example: "[/home/me/Pictures]"),
            SettingKey(
                "hookNetwork", \.hookNetwork, .truth, variable: "WAFT_HOOK_NETWORK",
                "Whether the hook may use the network"),
            SettingKey(
                "hookSockets", \.hookSockets, .truth, variable: "WAFT_HOOK_SOCKETS",
                "Whether the hook may connect to Unix sockets, for example for printing and desktop notifications"),
            SettingKey(
                "hookEnvironment", \.hookEnvironment, .variables, variable: "WAFT_HOOK_ENVIRONMENT",
                "More variables of the receiver's environment that the hook gets",
                note: "It always gets HOME, PATH, USER, TZ, LANG, LANGUAGE, LC_* and WAFT_*.",
                example: "[HTTPS_PROXY]"),
            SettingKey(
                "hookSandbox", \.hookIsSandboxed, .words(["strict": true, "none": false]),
                variable: "WAFT_HOOK_SANDBOX",
                "Whether the sandbox blocks everything else", detail: "strict or none",
                meanings: [
                    "strict": "The hook may use only the paths above",
                    "none": "The hook may use everything that the user may",
                ]),
        ],
        [
            SettingKey(
                "eligibility", \.eligibility, .word,
                variable: "WAFT_ELIGIBILITY",
                "Types that peers can send", detail: "everything, or handlers (only types that a handler opens)",
                meanings: [
                    "everything": "Every type",
                    "handlers": "Only types that an installed handler opens",
                ]),
            SettingKey(
                "openReceivedURLs", \.openReceivedURLs, .openedSchemes, variable: "WAFT_OPEN_RECEIVED_URLS",
                "Schemes of received URLs that are opened at once, not only stored",
                detail: "https, http, or schemes of handlers"),
            SettingKey(
                "excludedActivities", \.excludedActivities, .activities, variable: "WAFT_EXCLUDED_ACTIVITIES",
                "Activities that waft share does not offer",
                detail: "types, such as org.waft.activity.print; org.waft.activity.airdrop hides all machines"),
            SettingKey(
                "sandbox", \.requiresSandbox, .words(["prefer": false, "require": true]), variable: "WAFT_SANDBOX",
                "On a kernel without Landlock handlers run unrestricted (prefer) or not at all (require)",
                meanings: [
                    "prefer": "Handlers run without a sandbox where the kernel has none",
                    "require": "Handlers do not run where the kernel has no sandbox",
                ]),
        ],
        [
            SettingKey(
                "arbiter", \.arbiter, .executable, variable: "WAFT_ARBITER",
                "A program that decides about offers, while people are asked too",
                detail: """
                    it gets the offer as JSON on standard input; exit code 0 accepts, 1 declines, any other code gives no \
                    answer
                    """,
                note: """
                    It has the read, network and socket permissions of the hook, and may write only to its temporary folder.
                    """,
                example: "/home/me/bin/arbiter"),
            SettingKey(
                "notifications", \.notifications, .notifications, variable: "WAFT_NOTIFICATIONS",
                "Events that appear as desktop notifications",
                detail: "offers, arrivals, true (both, and finished jobs of the outbox) or false (none)",
                meanings: [
                    "true": "Offers, arrivals, and finished jobs of the outbox",
                    "offers": "Offers only",
                    "arrivals": "Arrivals only",
                    "false": "None",
                ]),
            SettingKey(
                "previews", \.previews, .word, variable: "WAFT_PREVIEWS",
                "Peers that get a small picture of each item with an offer, and whose pictures are shown",
                detail: "contacts, everyone or off",
                meanings: [
                    "contacts": "Contacts only",
                    "everyone": "Everyone, also by AirDrop",
                    "off": "Nobody",
                ]),
            SettingKey(
                "relay", \.relay, .word, variable: "WAFT_RELAY",
                "Senders for which this machine passes on to others what both have accepted",
                detail: "accepted (every sender whose offer was accepted), contacts or never",
                note:
                    "The next machine learns this machine's address and key. By a wireless interface nothing is passed on.",
                meanings: [
                    "never": "Nobody",
                    "contacts": "Contacts only",
                    "accepted": "Every sender whose offer was accepted",
                ]),
        ],
        [
            SettingKey(
                "outboxHook", \.outboxHook, .executable, variable: "WAFT_OUTBOX_HOOK",
                "A program that Waft starts when an outbox job is sent or given up",
                note: """
                    It gets the facts as JSON on standard input. It has the permissions of the hook, but no data folder.
                    """,
                example: "/home/me/bin/outbox-hook"),
            SettingKey(
                "outboxQuota", \.outboxQuota, .size("bytes, or a size such as 20 GB"), variable: "WAFT_OUTBOX_QUOTA",
                "Room for the copies in the outbox"),
            SettingKey(
                "inhibitSleep", \.inhibitsSleep, .truth, variable: "WAFT_INHIBIT_SLEEP",
                "Whether Waft keeps the machine awake while it sends or receives"),
        ],
        [
            SettingKey(
                "discovery", \.discovery, .truth, variable: "WAFT_DISCOVERY",
                "Whether Waft announces this machine and finds others by mDNS"),
            SettingKey(
                "skipInterfaces", \.skipInterfaces, .interfaces, variable: "WAFT_SKIP_INTERFACES",
                "Interfaces without mDNS"),
            SettingKey(
                "searchDomains", \.searchDomains, .domains, variable: "WAFT_SEARCH_DOMAINS",
                "Domains in which Waft finds machines by ordinary DNS",
                detail: "names such as example.org, and resolver for the search list of this machine's resolver",
                note: """
                    A domain lists its machines as DNS-SD does: PTR records of _waft._tcp, and SRV, TXT and address records. \
                    With discovery off, only the named domains are asked.
                    """),
        ],
        [
            SettingKey(
                "reserve", \.reserve, .reserve, variable: "WAFT_RESERVE",
                "Free space that Waft leaves on the Inbox's disk, with the same share of its inodes",
                otherwise: "1 GiB, or 5 % of a small disk", example: "5 %"),
            SettingKey(
                "strangerQuota", \.strangerQuota, .size("a size such as 10 GiB, or 0 for none"),
                variable: "WAFT_STRANGER_QUOTA",
                "Limit for one stranger",
                detail: """
                    items in the Inbox, transfers in progress and parts of interrupted transfers together; 0 for no limit
                    """,
                note: "Each file and folder counts for 16 KiB besides its bytes."),
            SettingKey(
                "conflict", \.conflict, .word, variable: "WAFT_CONFLICT",
                flag: "--conflict",
                "What to do if the name of an item exists",
                detail: "keep-both (the new item gets a number) or skip (the new item is refused)",
                note: "Existing files are never replaced.",
                meanings: [
                    "keep-both": "The new item gets a number",
                    "skip": "The new item is refused",
                ]),
            SettingKey(
                "partialLifetime", \.partials.lifetime, .duration, variable: "WAFT_PARTIAL_LIFETIME",
                "How long Waft keeps parts of interrupted transfers in a hidden folder, to resume them"),
            SettingKey(
                "partialQuota", \.partials.quota, .size("a size such as 20 GiB, or 0 for nothing"),
                variable: "WAFT_PARTIAL_QUOTA",
                "Room for parts of interrupted transfers; 0 to keep none"),
        ],
        [
            SettingKey(
                "protection", \.protection, .word, variable: "WAFT_PROTECTION",
                "How what arrives is sealed on the disk",
                detail: "none, untilFirstUnlock, unlessOpen or complete",
                note: """
                    It needs keys: `waft protection set-up` makes them, and sets this. Rules and contacts can say otherwise. What \
                    is in the Inbox already stays as it is.
                    """,
                meanings: [
                    "none": "Not sealed",
                    "untilFirstUnlock": "Sealed; readable from the first unlock until the receiver ends",
                    "unlessOpen": "Sealed; readable while unlocked, received at any time",
                    "complete": "Sealed; readable and received while unlocked only",
                ]),
            SettingKey(
                "lockAfter", \.lockAfter, .durationOrOff, variable: "WAFT_LOCK_AFTER",
                "Time after which Waft locks itself if no sealed item was opened",
                detail: "a time such as 15m, or off"),
            SettingKey(
                "lockOnScreenSaver", \.locksOnScreenSaver, .truth, variable: "WAFT_LOCK_ON_SCREEN_SAVER",
                "Whether the screen saver locks Waft too, even if it does not lock the screen"),
            SettingKey(
                "clearQuota", \.clearQuota, .sizeOrNone, variable: "WAFT_CLEAR_QUOTA",
                "Memory for the clear copies of sealed items that handlers read",
                otherwise: "half of what the file system of the session's run folder has free", example: "500 MB"),
        ],
        [
            SettingKey(
                "dialects.airdrop.enabled", \.airdrop.isEnabled, .truth,
                "Whether Waft speaks AirDrop too",
                note: "It works while this machine is visible to everyone (waft visible)."),
            SettingKey(
                "dialects.airdrop.flags", \.airdrop.flags, .flags,
                "The number of the features that this machine announces by AirDrop"),
            SettingKey(
                "dialects.airdrop.modelName", \.airdrop.modelName, .name,
                "The model of this machine in AirDrop, which chooses the picture that others show"),
            SettingKey(
                "dialects.airdrop.identity", \.airdrop.identity, .absolutePath,
                "A folder with your own Apple identity, for devices that show themselves to contacts only",
                detail: "certificate.pem, key.pem and validation_record.cms",
                note: "Devices that know you by it then know who asks.", otherwise: "none",
                example: "/home/me/apple-identity"),
            SettingKey(
                "dialects.airdrop.radio", \.airdrop.radio, .radio,
                "The radio backend that lets iPhones see this machine while it is visible to everyone",
                detail: "auto (one in /usr/lib/omdrop), off, or the path of a helper",
                note: "Its helper runs as root: root must own it, and nobody else may write to it."),
            SettingKey(
                "dialects.localsend.enabled", \.localsend.isEnabled, .truth,
                "Whether Waft speaks LocalSend too",
                note: "Strangers find it while this machine is visible to everyone (waft visible)."),
            SettingKey(
                "dialects.localsend.port", \.localsend.port, .portNumber,
                "The port of LocalSend, for connections and announcements",
                detail: "another port is listened on if it is taken"),
            SettingKey(
                "dialects.localsend.pin", \.localsend.pin, .pin,
                "The PIN that senders by LocalSend must type", otherwise: "none", example: "471100"),
            SettingKey(
                "dialects.localsend.deviceModel", \.localsend.deviceModel, .name,
                "The model of this machine in LocalSend"),
            SettingKey(
                "dialects.localsend.plain", \.localsend.sendsPlain, .truth,
                "Whether items are sent to LocalSend devices that do not encrypt"),
        ],
        [
            SettingKey(
                "web.enabled", \.web.isEnabled, .truth,
                "Whether waftd has a page for guests with browsers open all the time",
                note: "waft web shows its address and its code, which are new at each start."),
            SettingKey(
                "web.port", \.web.port, .portNumber,
                "The port of the page for guests",
                detail: "another port is listened on if it is taken"),
            SettingKey(
                "web.plain", \.web.isPlain, .truth,
                "Whether the page that is open all the time is without encryption",
                note: "Others on the network can then read and change everything that guests send and fetch."),
            SettingKey(
                "web.certificate", \.web.certificate, .absolutePath,
                "A PEM file with a certificate for the page for guests, and those that it rests on",
                otherwise: "one that Waft makes, about which browsers warn", example: "/home/me/certificate.pem"),
            SettingKey(
                "web.key", \.web.key, .absolutePath,
                "A PEM file with the key of that certificate",
                otherwise: "the file of the certificate", example: "/home/me/key.pem"),
        ],
        [
            SettingKey(
                "desk.sound", \.desk.sounds, .truth,
                "Whether an open window of waft desk sounds when something has arrived"),
            SettingKey(
                "desk.firstSteps", \.desk.showsFirstSteps, .truth,
                "Whether waft desk shows the first steps as long as there is no contact and no name is set"),
        ],
        [
            SettingKey(
                "logLevel", \.logLevel, .logLevel, variable: "WAFT_LOG_LEVEL",
                "Log level", detail: "debug, info, notice, warning, error",
                meanings: [
                    "debug": "Everything",
                    "info": "Events that are seldom of interest, and the following",
                    "notice": "What happens to offers and items, and the following",
                    "warning": "Faults that Waft copes with, and errors",
                    "error": "Errors only",
                ])
        ],
    ]
}
