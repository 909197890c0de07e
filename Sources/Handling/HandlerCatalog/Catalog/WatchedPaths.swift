import Glibc

/// The files and folders that a snapshot was read from, with their state then: changes are looked for in them.
struct WatchedPaths: Sendable {
    /// The names in a folder that matter.
    struct Interest: Sendable {
        var names: Set<String> = []
        /// Whether all names of bundles matter.
        var bundles = false

        func covers(_ name: String) -> Bool {
            names.contains(name) || bundles && name.hasSuffix(BundleFolder.suffix) && !name.hasPrefix(".")
        }

        mutating func formUnion(_ other: Interest) {
            names.formUnion(other.names)
            bundles = bundles || other.bundles
        }
    }

    /// The state of a file or folder; fields are nil if it was missing.
    struct Stamp: Hashable, Sendable {
        private var device: dev_t?
        private var number: ino_t?
        private var mode: mode_t?
        private var owner: uid_t?
        private var size: off_t?
        private var times: [Int] = []

        /// - Parameter isIdentity: leaves out the fields that change when the contents of a folder change.
        init(_ path: String, isIdentity: Bool = false) {
            var status = stat()
            guard stat(path, &status) == 0 else { return }
            (device, number) = (status.st_dev, status.st_ino)
            (mode, owner) = (status.st_mode, status.st_uid)
            guard !isIdentity else { return }
            size = status.st_size
            times = [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
    }

    private(set) var interests: [String: Interest] = [:]
    /// Paths, and whether only their identity counts.
    private var stamped: [String: Bool] = [:]

    /// The folders where bundles can appear, the user's choices, and the hook.
    init(_ catalog: HandlerCatalog) {
        for (path, _) in catalog.folders.all {
            watch(path, for: Interest(bundles: true))
            stamped[path] = false
        }
        watch(Paths.folder(of: catalog.choicesPath), for: Interest(names: [Paths.name(of: catalog.choicesPath)]))
        stamped[catalog.choicesPath] = false
        if let hook = catalog.hook {
            watch(Paths.folder(of: hook.path), for: Interest(names: [Paths.name(of: hook.path)]))
            stamped[hook.path] = false
        }
    }

    /// Includes only the files that define the bundle, not other files that people keep in its folder.
    mutating func add(_ bundle: BundleFolder) {
        interests[bundle.path, default: Interest()].names.insert(BundleFolder.infoName)
        stamped[bundle.path] = true
        stamped[bundle.infoPath] = false
    }

    mutating func add(_ reading: BundleFolder.Reading) {
        for file in reading.settingsFiles {
            watch(Paths.folder(of: file), for: Interest(names: [Paths.name(of: file)]))
            stamped[file] = false
        }
        guard let executable = reading.executable else { return }
        stamped[executable] = false
        var path = executable
        while path != reading.folder.path, path != "/" {
            let folder = Paths.folder(of: path)
            interests[folder, default: Interest()].names.insert(Paths.name(of: path))
            path = folder
        }
    }

    /// Watches a folder and its own name in the parent folder. If it is missing, watches the next name in its path.
    private mutating func watch(_ path: String, for interest: Interest) {
        interests[path, default: Interest()].formUnion(interest)
        var path = path
        while path != "/" {
            let folder = Paths.folder(of: path)
            interests[folder, default: Interest()].names.insert(Paths.name(of: path))
            if Paths.isFolder(path) { return }
            path = folder
        }
    }

    func stamps() -> [String: Stamp] {
        Dictionary(uniqueKeysWithValues: stamped.map { ($0.key, Stamp($0.key, isIdentity: $0.value)) })
    }
}
