import Glibc
import HandlerCatalog
package import HookSandbox
package import Logging
import Programs
import Sharing

/// A program of the system that shows a part of a file: `pdftotext`, `chafa`.
///
/// It runs in the sandbox of handlers with less: it reads the file from its standard input, and no other file of the
/// user; it has no network and no sockets, and is bounded in time, memory and output.
package struct PreviewProgram: Sendable {
    /// Time limit of a call.
    package static let timeLimit: Duration = .seconds(10)
    /// Bytes of output that are kept, unless a call has another limit.
    package static let outputBytes = 1 << 20
    /// Bytes of memory of each process.
    package static let memoryBytes: UInt64 = 256 << 20

    /// The sandbox needs a path for the Inbox: this empty folder.
    private static let emptyFolder = "no-inbox"

    private let program: HandlerProgram
    private let runner: HandlerRunner

    /// - Parameters:
    ///   - name: the program's file name.
    ///   - searchPath: folders, separated by colons, as in `PATH`.
    ///   - scratchFolder: absolute path of a folder for temporary files; made if missing, but not its parent.
    ///   - sandbox: whether it may run on a system without Landlock.
    ///   - forbiddenPlaces: as in `HandlerRunner`.
    ///   - launcher: a program that calls `SandboxedLaunch.runIfAsked` first.
    /// - Returns: nil if none of the folders has the program.
    package init?(
        named name: String, searchPath: String, scratchFolder: String, sandbox: SandboxPlan.Level = .strict,
        timeLimit: Duration = PreviewProgram.timeLimit, forbiddenPlaces: [String] = [],
        launcher: String = SandboxPlan.launcher, logger: Logger
    ) {
        let paths = searchPath.split(separator: ":").map { folder -> String in "\(folder)/\(name)" }
        let found = paths.first { path in PathText.isAbsolute(path) && access(path, X_OK) == 0 }
        guard let found, HandlerProgram.flaw(ofProgram: found) == nil else { return nil }
        program = HandlerProgram.configured(
            "org.waft.preview", name: name, path: found, timeLimit: timeLimit, sandbox: sandbox, rules: LaunchRules())
        runner = HandlerRunner(
            inbox: scratchFolder + "/" + Self.emptyFolder, scratchFolder: scratchFolder,
            forbiddenPlaces: forbiddenPlaces, grace: .zero, launcher: launcher, logger: logger)
    }

    /// Bytes of a picture of this width and height, at most: without any compression.
    package static func pictureBytes(_ pixels: Int) -> Int { max(outputBytes, pixels * pixels * 4) }

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - arguments: words of ours alone; the file is `/dev/stdin`.
    ///   - input: the file, open for reading; stays the caller's.
    ///   - limit: bytes that are kept; further ones are thrown away.
    /// - Returns: its standard output; nil if it failed, was stopped or could not be started.
    package func output(
        _ arguments: [String], input: Int32, limit: Int = PreviewProgram.outputBytes
    ) async -> [UInt8]? {
        let kept = KeptBeginning(limit: limit)
        guard let (pipe, writing) = try? DrainedPipe.make(sink: { kept.take($0) }) else { return nil }
        defer {
            close(writing)
            pipe.close()
        }
        lseek(input, 0, SEEK_SET)
        var environment = HookCall.withoutItems
        // Each arena of the allocator would reserve more addresses than the limit has.
        environment["MALLOC_ARENA_MAX"] = "1"
        guard (try? ScratchFolder.makeEmpty(runner.inbox)) != nil,
            let started = try? await runner.start(
                program, arguments: arguments, environment: environment, input: input, output: writing,
                limits: ResourceLimits(memoryBytes: Self.memoryBytes))
        else { return nil }
        let ending = await started.process.ending(within: program.timeLimit)
        if case .exited = ending {} else { await started.process.end(grace: runner.grace) }
        await pipe.catchUp()
        await started.finish(runner.leftovers)
        guard case .exited(.code(0)) = ending else { return nil }
        return kept.bytes
    }
}
