import CLinuxShims
import Glibc
import PropertyLists
import Sharing
import SystemCalls
import UniformTypes

/// A folder `NAME.handler/` on the disk.
struct BundleFolder: Hashable, Sendable {
    static let suffix = ".handler"
    static let infoName = "Info.plist"

    /// Absolute path. The folder itself may be a link: the owner of its parent folder put it there.
    let path: String
    let origin: HandlerOrigin

    /// The folder's name without `.handler`.
    var name: String { String(Paths.name(of: path).dropLast(Self.suffix.count)) }

    var isLink: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    var infoPath: String { path + "/" + Self.infoName }

    /// The result of reading the folder.
    struct Reading: Sendable {
        let folder: BundleFolder
        let result: Result<HandlerBundle, BundleError>
        let warnings: [String]
        let identifier: BundleIdentifier?
        /// Absolute path of the executable that the bundle names, even if it cannot be used.
        let executable: String?
        /// Absolute paths of the files of its settings, those that are missing too.
        let settingsFiles: [String]
    }

    /// The inputs of reading a bundle, besides the bundle itself.
    struct Context {
        /// As in `HandlerCatalog`.
        var device: String?
        var home: String?
        var folders: HandlerFolders
        var languages: [String]
        var closed: ClosedPaths
        var settingsFile: @Sendable (BundleIdentifier) -> HandlerSettingsFile
    }

    func read(_ context: Context) -> Reading {
        var partial = Partial()
        let result: Result<HandlerBundle, BundleError>
        do {
            result = .success(try bundle(context, &partial))
        } catch {
            result = .failure(error)
        }
        return Reading(
            folder: self,
            result: result,
            warnings: partial.warnings,
            identifier: partial.identifier,
            executable: partial.executable,
            settingsFiles: partial.settingsFiles
        )
    }

    /// The facts read from a bundle before it turned out to be unusable.
    private struct Partial {
        var warnings: [String] = []
        var identifier: BundleIdentifier?
        var executable: String?
        var settingsFiles: [String] = []
    }

    private func bundle(_ context: Context, _ partial: inout Partial) throws(BundleError) -> HandlerBundle {
        try checkTrust(path, shownAs: "the folder")
        let info = try readInfo()
        try checkTrust(infoPath, shownAs: Self.infoName)
        var contents = BundleContents(PlatformVariants(device: context.device).resolved(info))
        defer { partial.warnings = contents.warnings }
        let identifier = try contents.identifier()
        partial.identifier = identifier
        let program = try contents.executableName()
        let (executable, fault) = try executablePath(program, &partial)
        if let fault { contents.warn("its executable \(program) \(fault): its items wait") }
        let launch = try contents.launchRules(home: context.home)
        if let (key, reason) = launch.trouble(context.closed) { throw .unfit(key.rawValue, reason) }
        let settings = settings(of: identifier, context, &partial) { contents.warn($0) }
        return HandlerBundle(
            identifier: identifier,
            version: contents.version(),
            name: try contents.name(folderName: name),
            folderName: name,
            path: path,
            dataFolder: context.folders.data(of: identifier),
            origin: origin,
            installed: installed(),
            executable: executable,
            programFault: fault,
            documentTypes: try contents.documentTypes(),
            urlTypes: try contents.urlTypes(),
            activities: try contents.activities(),
            exportedTypes: try contents.declarations(.exported),
            importedTypes: try contents.declarations(.imported),
            launch: launch,
            settings: settings,
            texts: texts(in: context.languages) { contents.warn($0) }
        )
    }

    /// The settings with the user's values. A fault is a warning.
    private func settings(
        of identifier: BundleIdentifier, _ context: Context, _ partial: inout Partial, warn: (String) -> Void
    ) -> HandlerSettings {
        let panes = SettingsPanes(of: self, languages: context.languages)
        panes.warnings.forEach(warn)
        partial.settingsFiles = panes.files
        guard !panes.rows.isEmpty else { return .none }
        var settings = HandlerSettings(rows: panes.rows)
        let file = context.settingsFile(identifier)
        partial.settingsFiles.append(file.path)
        let (values, problem) = file.read()
        if let problem { warn("\(file.path) \(problem): the settings have their defaults") }
        settings.use(values)
        return settings
    }

    private func readInfo() throws(BundleError) -> [String: PropertyList] {
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.read(infoPath, limit: CatalogLimits.documentBytes)
        } catch {
            switch error {
            case .missing: throw .noInfo
            case .link: throw .infoUnreadable("it is a symbolic link")
            case .notRegular: throw .infoUnreadable("it is not a regular file")
            case .tooLarge: throw .info(.tooLarge(CatalogLimits.propertyList))
            case .system(let error): throw .infoUnreadable("\(error)")
            }
        }
        do {
            return try PropertyList.dictionary(from: bytes, within: CatalogLimits.propertyList)
        } catch {
            throw .info(error)
        }
    }

    /// The path of the executable, after a check that it is a program inside the bundle, or why it is none now.
    private func executablePath(
        _ name: String, _ partial: inout Partial
    ) throws(BundleError) -> (path: String, fault: String?) {
        let steps = PathText.names(in: name, keepingEmpty: true)
        guard name.utf8.count < 1_024, !name.utf8.contains(0), !steps.isEmpty,
            steps.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
        else {
            throw .unfit("CFBundleExecutable", "it should be the name of a file in the bundle, without .. in it")
        }
        let path = self.path + "/" + name
        partial.executable = path
        guard let folder = Paths.real(self.path), let real = Paths.real(path) else {
            guard errno == ENOENT else { throw .executable(name, "cannot be found: \(SystemError.last)") }
            return (path, "is missing")
        }
        guard PathText.part(of: real, below: folder) != nil else {
            throw .executable(name, "is a link that leads out of the bundle")
        }
        var status = stat()
        guard stat(real, &status) == 0 else { throw .executable(name, "cannot be looked at: \(SystemError.last)") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .executable(name, "is not a regular file") }
        guard status.st_size > 0 else { throw .executable(name, "is empty") }
        try checkTrust(real, shownAs: name)
        // By effective ids: for root every file with one executable bit is executable.
        let isExecutable = faccessat(AT_FDCWD, real, X_OK, AT_EACCESS) == 0
        return (path, isExecutable ? nil : "is not executable; chmod +x may be missing")
    }

    /// A program that another user can change lets that user run code here.
    func checkTrust(_ path: String, shownAs name: String) throws(BundleError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        if path == self.path, status.st_mode & S_IFMT != S_IFDIR { throw .notAFolder }
        if status.st_mode & S_IWOTH != 0 { throw .writableByEveryone(name) }
        if status.st_uid != geteuid(), status.st_uid != 0 { throw .owner(name, status.st_uid) }
    }

    /// The time when the folder was created, not when it changed: people edit the files in it.
    private func installed() -> Timestamp {
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        if CLinuxShims_birth_time(path, &seconds, &nanoseconds) == 0 {
            return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        }
        var status = stat()
        guard stat(infoPath, &status) == 0 else { return Timestamp(seconds: 0, nanoseconds: 0) }
        return Timestamp(
            seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: UInt32(clamping: status.st_mtim.tv_nsec)
        )
    }
}
