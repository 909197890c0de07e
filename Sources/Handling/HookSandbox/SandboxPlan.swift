/// The rights of a hook, and the program to execute under them: the launcher's complete instructions.
///
/// An environment variable of the launcher contains it, which other processes of the same user can read. So it contains
/// paths, never secrets.
package struct SandboxPlan: Codable, Hashable, Sendable {
    /// How strictly the rules are enforced.
    package enum Level: String, Codable, Hashable, Sendable, CaseIterable {
        /// The rules, as far as the kernel has them; without Landlock the hook runs with the limits alone.
        case strict
        /// No rules and no limits: the hook is executed unchanged, and processes that it leaves behind keep running.
        case none
        /// The rules; if the kernel has no Landlock, the hook is not executed at all.
        case require
    }

    /// Maximum number of folders and files that can be named as writable, and again as readable.
    package static let maximumPaths = 64
    /// Maximum number of places that stay closed.
    package static let maximumForbiddenPlaces = 64
    /// Maximum number of arguments of a hook.
    package static let maximumArguments = 64
    /// Maximum length of a path, in bytes: `PATH_MAX` without its NUL.
    package static let longestPath = 4095
    /// The descriptor of a hook's stream.
    package static let streamDescriptor: Int32 = 3
    /// Maximum length of the encoded plan, in bytes. The kernel takes 128 KiB in one variable.
    package static let longestEncoding = 98_304

    /// How strictly the rules are enforced.
    package var level: Level
    /// The file to execute, an absolute path.
    package var executable: String
    /// The arguments after the executable's own path.
    package var arguments: [String]
    /// The program's own place, which it may read and execute but not change: the folder of its bundle or, for a single
    /// program, the executable file alone and not its folder.
    package var bundle: String
    /// The handler's data folder, which outlives the call. The hook may write in it. The caller makes it.
    package var dataFolder: String
    /// A folder made for the hook alone, its `TMPDIR`. The hook may write in it. The caller makes and removes it.
    package var temporaryFolder: String
    /// The Inbox: the hook can read, move out and remove its contents.
    package var inbox: String
    /// Folders of files that were made for the hook: clear copies of sealed items, and items of an activity that were no
    /// files. With the same rights as in the Inbox.
    package var copyFolders: [String]
    /// Whether the hook gets a stream as ``streamDescriptor``. Then the launcher's standard input is a socket with the
    /// hook's streams: ``PassedStreams``.
    package var hasStream: Bool
    /// Other folders and files that the hook may read.
    package var readablePaths: [String]
    /// Other folders and files that the hook may read and write.
    package var writablePaths: [String]
    /// Whether the hook may use the network.
    package var allowsNetwork: Bool
    /// Whether the hook may connect to Unix sockets, and so to other programs of the user and the system.
    package var allowsSockets: Bool
    /// Folders and files that stay closed to every hook: Waft's configuration, state and control socket, and the
    /// folders of all handlers. A readable or writable path that equals, contains or is inside one of them is refused;
    /// the bundle, the data folder and the temporary folder may be inside one. Missing ones are ignored.
    package var forbiddenPlaces: [String]
    /// Process id of the launcher's parent, which asks for the hook; nil for any parent. The hook ends with it.
    package var client: Int32?
    /// The resource limits of the hook.
    package var limits: ResourceLimits
    /// The newest version of the Landlock ABI to use, 0 for none at all; `nil` for the kernel's version.
    package var newestABI: Int?

    /// - Parameters: see the properties; all paths are absolute. Nothing is checked here: ``validate()`` does.
    package init(
        level: Level = .strict,
        executable: String,
        arguments: [String],
        bundle: String,
        dataFolder: String,
        temporaryFolder: String,
        inbox: String,
        copyFolders: [String] = [],
        hasStream: Bool = false,
        readablePaths: [String] = [],
        writablePaths: [String] = [],
        allowsNetwork: Bool = false,
        allowsSockets: Bool = false,
        forbiddenPlaces: [String] = [],
        client: Int32? = nil,
        limits: ResourceLimits = ResourceLimits(),
        newestABI: Int? = nil
    ) {
        self.level = level
        self.executable = executable
        self.arguments = arguments
        self.bundle = bundle
        self.dataFolder = dataFolder
        self.temporaryFolder = temporaryFolder
        self.inbox = inbox
        self.copyFolders = copyFolders
        self.hasStream = hasStream
        self.readablePaths = readablePaths
        self.writablePaths = writablePaths
        self.allowsNetwork = allowsNetwork
        self.allowsSockets = allowsSockets
        self.forbiddenPlaces = forbiddenPlaces
        self.client = client
        self.limits = limits
        self.newestABI = newestABI
    }

    /// Checks every count, length and path.
    ///
    /// - Throws: `SandboxError` for the first invalid one.
    package func validate() throws(SandboxError) {
        for (kind, paths) in [("readable", readablePaths), ("writable", writablePaths)] {
            guard paths.count <= Self.maximumPaths else {
                throw .invalidPlan("more than \(Self.maximumPaths) \(kind) paths")
            }
        }
        guard forbiddenPlaces.count <= Self.maximumForbiddenPlaces else {
            throw .invalidPlan("more than \(Self.maximumForbiddenPlaces) forbidden places")
        }
        guard arguments.count <= Self.maximumArguments else {
            throw .invalidPlan("more than \(Self.maximumArguments) arguments")
        }
        let paths =
            [executable, bundle, dataFolder, temporaryFolder, inbox] + copyFolders + readablePaths
            + writablePaths + forbiddenPlaces
        for path in paths {
            guard path.utf8.first == UInt8(ascii: "/") else { throw .invalidPlan("\(path) is not an absolute path") }
            guard path.utf8.count <= Self.longestPath else { throw .invalidPlan("a path is too long") }
        }
        for text in paths + arguments {
            guard !text.utf8.contains(0) else { throw .invalidPlan("a path or an argument contains NUL") }
        }
    }
}

/// Resource limits of a hook. The number of processes is not limited: the kernel counts it for the user, not the hook.
package struct ResourceLimits: Codable, Hashable, Sendable {
    /// Maximum size of a core file, in bytes. 0: a crash of a hook leaves no copy of its memory on the disk.
    package var coreBytes: UInt64
    /// Initial limit of the hook's open descriptors. Programs that use select(2) break above 1,024.
    package var openFiles: UInt64
    /// Limit up to which the hook can raise its number of open descriptors.
    package var maximumOpenFiles: UInt64
    /// Maximum size of the memory of each process, in bytes; nil for no limit.
    package var memoryBytes: UInt64?

    /// - Parameters: see the properties. A limit that is already lower stays unchanged.
    package init(
        coreBytes: UInt64 = 0, openFiles: UInt64 = 1024, maximumOpenFiles: UInt64 = 16_384, memoryBytes: UInt64? = nil
    ) {
        self.coreBytes = coreBytes
        self.openFiles = openFiles
        self.maximumOpenFiles = maximumOpenFiles
        self.memoryBytes = memoryBytes
    }
}
