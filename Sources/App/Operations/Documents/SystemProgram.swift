import CLinuxShims
import Executors
import Foundation
import Glibc
import Lines
import Programs
import Sharing
import Synchronization
import SystemCalls
import UniformTypes

/// A program of the system that does a part of Waft's work: `lp`, `wl-copy`.
package struct SystemProgram: Sendable {
    package let name: String
    package let path: String

    /// How long a program may take before it counts as taken over by the desktop.
    private static let patience: Duration = .seconds(15)
    /// How long programs that a failed one has left behind may hold its pipe.
    private static let farewell: Duration = .seconds(1)
    /// Bytes of its output that are kept.
    private static let outputBytes = 64 << 10

    /// - Returns: nil if no folder of `PATH` has it.
    package init?(_ name: String, _ environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let found = Program.path(of: name, in: environment["PATH"]) else { return nil }
        (self.name, path) = (name, found)
    }

    /// Runs it to its end.
    /// - Returns: the first line of its output; not escaped.
    /// - Throws: `WaftError` `unexpected` with the last line of its standard error.
    @discardableResult
    package func run(_ words: [String], input: [UInt8] = []) async throws(WaftError) -> String {
        let end = try await run(Program(path, words), input: .bytes(input))
        guard end.exit == .code(0) else { throw failure(end.errors) }
        return end.output.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }

    private func run(
        _ program: Program, input: Program.Input, keepsErrors: Bool = true, ending steps: [EndStep] = []
    ) async throws(WaftError) -> Program.Outcome {
        do throws(ProgramError) {
            return try await program.run(
                input: input, limit: Self.outputBytes, keepsErrors: keepsErrors, ending: steps)
        } catch {
            throw notRun(error)
        }
    }

    private func notRun(_ error: any Error) -> WaftError {
        WaftError(.unexpected, "\(name) could not be run: \(ShownText.line("\(error)", limit: 200))")
    }

    private func failure(_ complaint: String) -> WaftError {
        let last = complaint.split(whereSeparator: \.isNewline).last.map {
            ": " + ShownText.line(String($0), limit: 200)
        }
        return WaftError(.unexpected, "\(name) failed\(last ?? "")")
    }

    // MARK: Programs that stay

    /// Starts it in a group of its own, and waits a while for its end. It may go on after that.
    /// - Throws: as `run`.
    package func handOver(_ words: [String]) async throws(WaftError) {
        let complaint = LastWords()
        let (waits, inlet) = AsyncStream<Never>.makeStream()
        let running: RunningProgram
        do {
            let pipe = try Self.pipe()
            defer { close(pipe.writing) }
            // A browser says much while it runs, and so do programs that it leaves behind.
            Task {
                await BackgroundThread.run("waft-program") { complaint.read(pipe.reading) }
                inlet.finish()
            }
            // A Ctrl-C for this process must not reach the programs of the desktop.
            running = try await Program(path, words, hasOwnGroup: true).start(error: pipe.writing)
        } catch {
            throw notRun(error)
        }
        guard case .exited(let exit) = await running.ending(within: Self.patience), exit != .code(0) else { return }
        Task {
            try? await Task.sleep(for: Self.farewell)
            inlet.finish()
        }
        for await _ in waits {}
        throw failure(complaint.text)
    }

    private static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard CLinuxShims_pipe(&ends) == 0 else { throw .last }
        return (ends[0], ends[1])
    }

    /// The last bytes of a program's output.
    private final class LastWords: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        /// Reads to the end, and closes the file.
        func read(_ file: Int32) {
            defer { close(file) }
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let count = Glibc.read(file, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                bytes.withLock { $0 = ($0 + buffer[..<count]).suffix(outputBytes) }
            }
        }

        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    }

    // MARK: Programs that ask

    /// The end of a program that asks the user.
    package struct End: Sendable {
        /// Nil if a signal ended it.
        package var code: Int32?
        package var output: String

        fileprivate init(_ outcome: Program.Outcome) {
            if case .code(let code) = outcome.exit { self.code = Int32(code) }
            output = outcome.output
        }
    }

    /// Runs it to its end; any exit code will do. If the task is cancelled, it is ended.
    /// - Parameter lines: for its standard input, which is closed at the end of the stream.
    /// - Throws: `WaftError` `unexpected` if it cannot be started.
    package func end(
        _ words: [String], lines: some AsyncSequence<String, Never> & Sendable
    ) async throws(WaftError) -> End {
        let pipe: (reading: Int32, writing: Int32)
        do throws(SystemError) { pipe = try Self.pipe() } catch { throw WaftError(.unexpected, "\(error)") }
        // A program that has ended is no reason to wait for more.
        let feeder = Task {
            defer { close(pipe.writing) }
            for await line in lines {
                let bytes = Array(line.utf8)
                guard write(pipe.writing, bytes, bytes.count) == bytes.count else { return }
            }
        }
        defer { feeder.cancel() }
        return try await end(words, input: .descriptor(pipe.reading))
    }

    package func end(_ words: [String]) async throws(WaftError) -> End { try await end(words, input: .bytes([])) }

    private func end(_ words: [String], input: Program.Input) async throws(WaftError) -> End {
        End(
            try await run(
                Program(path, words), input: input, keepsErrors: false, ending: [EndStep(SIGTERM, .seconds(2))]))
    }
}

/// The clipboard: of the desktop by `wl-copy` or `xclip`; without a desktop that of the terminal, for short texts.
struct Clipboard: Sendable {
    struct Content: Sendable {
        static let text = "text/plain;charset=utf-8"
        /// The places of files.
        static let places = "text/uri-list"

        /// MIME types of the images that other programs take.
        static let images: [UniformType: String] = [
            .png: "image/png", .jpeg: "image/jpeg", .gif: "image/gif", .webP: "image/webp", .tiff: "image/tiff",
        ]
        /// Bytes of an image or a text that is copied as data.
        static let dataBytes = 16 << 20

        let mimeType: String
        let bytes: [UInt8]
    }

    private enum Way {
        case program(SystemProgram, [String])
        /// OSC 52: the terminal takes text in base 64.
        case terminal(@Sendable (String) -> Void)
    }

    /// Bytes that a terminal takes.
    private static let terminalBytes = 64 << 10

    private let face: Face
    private let environment: [String: String]

    init(_ face: Face, _ environment: [String: String] = ProcessInfo.processInfo.environment) {
        (self.face, self.environment) = (face, environment)
    }

    func takes(_ content: Content) -> Bool { takes(content.mimeType, bytes: content.bytes.count) }

    func takes(_ mimeType: String, bytes: Int) -> Bool { way(for: mimeType, bytes) != nil }

    private func way(for mimeType: String, _ bytes: Int) -> Way? {
        if let program = program("wl-copy", needs: "WAYLAND_DISPLAY") {
            return .program(program, ["--type", mimeType])
        }
        if let program = program("xclip", needs: "DISPLAY") {
            return .program(program, ["-selection", "clipboard", "-t", mimeType, "-i"])
        }
        guard bytes <= Self.terminalBytes, mimeType.hasPrefix("text/plain") else { return nil }
        return face.terminal.map(Way.terminal)
    }

    /// - Parameter variable: names the desktop for the program.
    private func program(_ name: String, needs variable: String) -> SystemProgram? {
        environment[variable]?.isEmpty == false ? SystemProgram(name, environment) : nil
    }

    /// - Throws: `WaftError` `ineligible` if no clipboard takes it, `unexpected` if its program fails.
    func copy(_ content: Content) async throws(WaftError) {
        switch way(for: content.mimeType, content.bytes.count) {
        case .program(let program, let words): try await program.run(words, input: content.bytes)
        case .terminal(let write):
            write("\u{1B}]52;c;\(Data(content.bytes).base64EncodedString())\u{7}")
        case nil: throw WaftError(.ineligible, "there is no clipboard here", hint: "install wl-clipboard or xclip")
        }
    }
}
