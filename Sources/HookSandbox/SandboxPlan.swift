/// What a hook may do, and what is to be executed under it: all that the launcher is told.
///
/// It travels in an environment variable of the launcher, which other processes of the same user can read: paths, never
/// secrets.
package struct SandboxPlan: Codable, Hashable, Sendable {
    /// How much the rules matter.
    package enum Level: String, Codable, Hashable, Sendable, CaseIterable {
        /// The rules, as far as the kernel has them; without Landlock the hook runs with the limits alone.
        case strict
        /// No rules, no limits, no launcher: the hook is executed as it is.
        case none
        /// The rules, or the hook is not executed at all where the kernel has no Landlock.
        case require
    }

    /// Most folders and files that can be named as writable.
    package static let mostWritablePaths = 64
    /// Most arguments of a hook.
    package static let mostArguments = 64
    /// Longest path, in bytes: `PATH_MAX` without its NUL.
    package static let longestPath = 4095
    /// Longest encoded plan, in bytes. The kernel takes 128 KiB in one variable.
    package static let longestEncoding = 98_304

    /// How much the rules matter.
    package var level: Level
    /// The file to execute, an absolute path.
    package var executable: String
    /// What follows the executable's own path in its arguments.
    package var arguments: [String]
    /// The handler's own folder, where it may write.
    package var folder: String
    /// A folder made for the hook alone, where it may write; its `TMPDIR`. The caller makes and removes it.
    package var temporaryFolder: String
    /// The Inbox: what is in it can be read, moved out and removed.
    package var inbox: String
    /// Other folders and files that the hook may write.
    package var writablePaths: [String]
    /// What the hook may use up.
    package var limits: ResourceLimits
    /// The newest version of the Landlock ABI to use, 0 for none at all; `nil` for whatever the kernel has.
    package var newestABI: Int?

    /// - Parameters: as the properties say; all paths are absolute. Nothing is checked here: ``validate()`` does.
    package init(
        level: Level = .strict,
        executable: String,
        arguments: [String],
        folder: String,
        temporaryFolder: String,
        inbox: String,
        writablePaths: [String] = [],
        limits: ResourceLimits = ResourceLimits(),
        newestABI: Int? = nil
    ) {
        self.level = level
        self.executable = executable
        self.arguments = arguments
        self.folder = folder
        self.temporaryFolder = temporaryFolder
        self.inbox = inbox
        self.writablePaths = writablePaths
        self.limits = limits
        self.newestABI = newestABI
    }

    /// Checks every count, length and path.
    ///
    /// - Throws: `SandboxError` for the first that cannot be used.
    package func validate() throws(SandboxError) {
        guard writablePaths.count <= Self.mostWritablePaths else {
            throw .invalidPlan("more than \(Self.mostWritablePaths) writable paths")
        }
        guard arguments.count <= Self.mostArguments else {
            throw .invalidPlan("more than \(Self.mostArguments) arguments")
        }
        for path in [executable, folder, temporaryFolder, inbox] + writablePaths {
            guard path.utf8.first == UInt8(ascii: "/") else { throw .invalidPlan("\(path) is not an absolute path") }
            guard path.utf8.count <= Self.longestPath else { throw .invalidPlan("a path is too long") }
        }
        for text in [executable, folder, temporaryFolder, inbox] + writablePaths + arguments {
            guard !text.utf8.contains(0) else { throw .invalidPlan("a path or an argument contains NUL") }
        }
    }
}

/// What a hook may use up. The number of processes is left alone: the kernel counts it for the user, not the hook.
package struct ResourceLimits: Codable, Hashable, Sendable {
    /// Largest core file, in bytes. 0: a crash of a hook leaves no copy of its memory on the disk.
    package var coreBytes: UInt64
    /// Descriptors that the hook can have open to begin with. Programs that use select(2) break above 1,024.
    package var openFiles: UInt64
    /// Descriptors to which the hook can raise its own limit.
    package var mostOpenFiles: UInt64

    /// - Parameters: as the properties say. A limit that is lower already stays as it is.
    package init(coreBytes: UInt64 = 0, openFiles: UInt64 = 1024, mostOpenFiles: UInt64 = 16_384) {
        self.coreBytes = coreBytes
        self.openFiles = openFiles
        self.mostOpenFiles = mostOpenFiles
    }
}
