import CLinuxShims
import Executors
import Foundation
import Glibc
import Lines
import Sharing
import Subprocess
import Synchronization
import SystemCalls
import SystemPackage
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
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let found = folders.map { "\($0)/\(name)" }.first { path in
            PathText.isAbsolute(path) && FileManager.default.isExecutableFile(atPath: path)
        }
        guard let found else { return nil }
        (self.name, path) = (name, found)
    }

    /// Runs it to its end.
    /// - Returns: the first line of its output; not escaped.
    /// - Throws: `WaftError` `unexpected` with the last line of its standard error.
    @discardableResult
    package func run(_ words: [String], input: [UInt8] = []) async throws(WaftError) -> String {
        let status: TerminationStatus
        let (output, complaint): (String, String)
        do {
            let result = try await Subprocess.run(
                .path(FilePath(path)), arguments: Arguments(words), input: .array(input),
                output: .string(limit: Self.outputBytes), error: .string(limit: Self.outputBytes))
            status = result.terminationStatus
            (output, complaint) = (result.standardOutput, result.standardError)
        } catch {
            throw notRun(error)
        }
        guard status.isSuccess else { throw failure(complaint) }
        return output.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
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
        var options = PlatformOptions()
        // A Ctrl-C for this process must not reach the programs of the desktop.
        options.processGroupID = 0
        let configuration = Configuration(
            executable: .path(FilePath(path)), arguments: Arguments(words), platformOptions: options)
        let (ends, inlet) = AsyncStream<WaftError?>.makeStream()
        Task {
            do {
                let complaint = LastWords()
                let pipe = try Self.pipe()
                // A browser says much while it runs, and so do programs that it leaves behind.
                let reading = Task {
                    await BackgroundThread.run("waft-program") { complaint.read(pipe.reading) }
                }
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .discarded,
                    error: .fileDescriptor(
                        SystemPackage.FileDescriptor(rawValue: pipe.writing), closeAfterSpawningProcess: true))
                if result.terminationStatus.isSuccess {
                    inlet.yield(nil)
                    return
                }
                Task {
                    try? await Task.sleep(for: Self.farewell)
                    inlet.yield(failure(complaint.text))
                }
                _ = await reading.value
                inlet.yield(failure(complaint.text))
            } catch {
                inlet.yield(notRun(error))
            }
        }
        Task {
            try? await Task.sleep(for: Self.patience)
            inlet.yield(nil)
        }
        for await end in ends {
            if let end { throw end }
            return
        }
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

        fileprivate init(_ status: TerminationStatus, _ output: String) {
            if case .exited(let code) = status { self.code = code }
            self.output = output
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
        return try await end(words, input: pipe.reading)
    }

    package func end(_ words: [String]) async throws(WaftError) -> End { try await end(words, input: -1) }

    /// - Parameter input: a descriptor, which is closed; negative for none.
    private func end(_ words: [String], input: Int32) async throws(WaftError) -> End {
        var options = PlatformOptions()
        options.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: .seconds(2))]
        let configuration = Configuration(
            executable: .path(FilePath(path)), arguments: Arguments(words), platformOptions: options)
        do {
            if input < 0 {
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .string(limit: Self.outputBytes), error: .discarded)
                return End(result.terminationStatus, result.standardOutput)
            }
            let result = try await Subprocess.run(
                configuration,
                input: .fileDescriptor(SystemPackage.FileDescriptor(rawValue: input), closeAfterSpawningProcess: true),
                output: .string(limit: Self.outputBytes), error: .discarded)
            return End(result.terminationStatus, result.standardOutput)
        } catch {
            throw notRun(error)
        }
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
