import Glibc
import HookSandbox
import Testing

/// The folders of a handler and an Inbox, made for one test and removed with it.
final class SandboxFixture: Sendable {
    let root: String
    let inbox: String
    /// The handler's bundle, with the program `run`.
    let bundle: String
    /// The handler's data folder.
    let folder: String
    let temporaryFolder: String
    let named: String
    let home: String

    init() throws {
        var template = Array("/tmp/waft-sandbox-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        inbox = root + "/Documents/Inbox"
        bundle = root + "/handlers/My.handler"
        folder = root + "/handler-data"
        temporaryFolder = root + "/tmp"
        named = root + "/named"
        home = root + "/home"
        let closed = [root + "/handlers", bundle, root + "/handlers/Other.handler", root + "/state", root + "/config"]
        for path in closed + [root + "/Documents", inbox, inbox + "/tree", folder, temporaryFolder, named, home] {
            try #require(mkdir(path, 0o700) == 0)
        }
        for path in [inbox + "/photo.png", inbox + "/tree/leaf", home + "/diary", folder + "/own", bundle + "/run"] {
            try make(path)
        }
    }

    /// The places that are closed to every handler.
    var closed: [String] { [root + "/handlers", root + "/state", root + "/config"] }

    deinit { removeTree(root) }

    func make(_ path: String, _ text: String = "content", mode: mode_t = 0o600) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, mode)
        try #require(file >= 0)
        defer { close(file) }
        try #require(write(file, text, text.utf8.count) == text.utf8.count)
    }

    func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    func text(_ path: String) -> String? { readFile(path) }

    /// A plan that runs the probe as the hook.
    func plan(_ arguments: [String], level: SandboxPlan.Level = .strict) -> SandboxPlan {
        SandboxPlan(
            level: level, executable: probe, arguments: arguments, bundle: bundle, dataFolder: folder,
            temporaryFolder: temporaryFolder, inbox: inbox, writablePaths: [named], forbiddenPlaces: closed)
    }

    /// A plan that runs a shell command as the hook.
    func shell(_ command: String) -> SandboxPlan {
        var plan = plan(["-c", command])
        plan.executable = "/bin/sh"
        return plan
    }

    /// A plan whose hook is a Python script; `answers(_:)` reads the output of its function `attempt`.
    func python(_ script: String) -> SandboxPlan {
        let attempt = """
            import ctypes, errno, os, shutil, signal, socket, sys
            def attempt(name, action):
                try: action(); print(name + ": ok", flush=True)
                except OSError as error: print(name + ": " + errno.errorcode.get(error.errno, str(error)), flush=True)
            libc = ctypes.CDLL(None, use_errno=True)
            def call(function, *arguments):
                if function(*arguments) < 0: raise OSError(ctypes.get_errno(), "")

            """
        var plan = plan(["-c", attempt + script])
        plan.executable = "/usr/bin/python3"
        return plan
    }

    /// The results of a Python script's attempts: `ok`, or the name of the error.
    func answers(_ plan: SandboxPlan) throws -> [String: String] {
        let run = try run(plan)
        #expect(run.exitCode == 0, "\(run.error)")
        return Dictionary(
            run.output.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
                return parts.count == 2 ? (parts[0], parts[1]) : nil
            }, uniquingKeysWith: { $1 })
    }

    /// The output of a hook that makes one system call: `ok`, or the name of the error.
    func answer(_ arguments: String...) throws -> String {
        let run = try run(plan(arguments))
        #expect(run.exitCode == 0, "\(run.error)")
        return run.output.trimmingLine
    }

    /// Starts the launcher with a plan, and waits for its end.
    func run(_ plan: SandboxPlan) throws -> Run {
        let start = try plan.start(program: probe)
        return try Run([start.program] + start.arguments, environment: start.environment, folder: folder)
    }
}

/// The program that is the launcher and the hook of the tests, in the same folder as the tests.
let probe: String = {
    guard let path = realpath("/proc/self/exe", nil) else { return "/sandbox-probe" }
    defer { free(path) }
    return String(cString: path).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/sandbox-probe"
}()

/// The result of a program that was started with only the given environment and `PATH`.
struct Run {
    let exitCode: Int32
    let output: String
    let error: String

    init(_ arguments: [String], environment: [String: String], folder: String) throws {
        var template = Array("/tmp/waft-sandbox-run-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let streams = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { removeTree(streams) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, streams + "/out", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, streams + "/err", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // Threads of the tests may block signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var variables = environment
        variables["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        if let libraries = getenv("LD_LIBRARY_PATH") { variables["LD_LIBRARY_PATH"] = String(cString: libraries) }
        let argv: [UnsafeMutablePointer<CChar>?] =
            (["/usr/bin/env", "-C", folder] + arguments).map { strdup($0) } + [nil]
        let envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var process: pid_t = 0
        let cause = posix_spawn(&process, "/usr/bin/env", &actions, &attributes, argv, envp)
        try #require(cause == 0, "\(arguments[0]): \(String(cString: strerror(cause)))")
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        output = readFile(streams + "/out") ?? ""
        error = readFile(streams + "/err") ?? ""
        exitCode = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }
}

/// The file's text, or `nil` if it cannot be opened.
func readFile(_ path: String) -> String? {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(file, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}

func removeTree(_ path: String) {
    if let folder = opendir(path) {
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        closedir(folder)
        for name in names {
            let inner = path + "/" + name
            var status = stat()
            guard lstat(inner, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { removeTree(inner) } else { unlink(inner) }
        }
    }
    rmdir(path)
}

extension String {
    var trimmingLine: String { hasSuffix("\n") ? String(dropLast()) : self }
}
