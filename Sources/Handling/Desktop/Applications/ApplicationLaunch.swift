import CGioShims
import CLinuxShims
import Executors
import Foundation
import Glibc
import SystemCalls

/// The start of an application with a file.
package struct ApplicationLaunch: Sendable {
    /// How the start went.
    package enum Outcome: Hashable, Sendable {
        /// It runs, or has handed the file to a window that was there and ended well.
        case started
        /// One line: the last line of its standard error, or how it ended. Foreign text.
        case failed(String)
    }

    /// How long an application is watched. One that cannot start ends sooner.
    private static let watched: Duration = .seconds(2)
    /// Bytes of its standard error that are kept. Further ones are lost.
    private static let errorBytes = 16 << 10
    private static let group = "Desktop Entry"

    private let application: Application
    private let url: String
    private let environment: [String: String?]

    /// - Parameters:
    ///   - url: of the file, `file:` and absolute.
    ///   - environment: variables to set or, for nil, to remove.
    package init(_ application: Application, url: String, environment: [String: String?] = [:]) {
        (self.application, self.url, self.environment) = (application, url, environment)
    }

    /// Starts it. An application with windows outlives this process, and its standard error is watched for two seconds.
    /// One for the terminal gets this process's terminal, and the call returns when it has ended.
    package func run() async -> Outcome {
        await BackgroundThread.run("waft-launch") { blocking() } ?? .failed("there is no thread for it")
    }

    private func blocking() -> Outcome {
        guard let gio = GioLibrary.functions else { return .failed("libgio-2.0 cannot be loaded") }
        do {
            if application.runsInTerminal { return try inTerminal(gio) }
            let errors = FileDescriptor(
                owning: try systemCall { CLinuxShims_bounded_memory_file("waft-errors", Self.errorBytes) })
            let none = try FileDescriptor.opening("/dev/null", O_RDWR)
            let started = start(gio, input: none.raw, output: none.raw, error: errors.raw)
            guard case .success(let process) = started else { return started.failure }
            guard Self.ends(process) else { return .started }
            return Self.outcome(Self.end(of: process), errors: Self.text(errors))
        } catch {
            return .failed("\(error)")
        }
    }

    private func inTerminal(_ gio: CGioShims_Functions) throws(SystemError) -> Outcome {
        // Copies: GLib closes the descriptors that it is given when the program begins, even 0 to 2.
        let input = try FileDescriptor.copy(of: STDIN_FILENO)
        let output = try FileDescriptor.copy(of: STDOUT_FILENO)
        let error = try FileDescriptor.copy(of: STDERR_FILENO)
        let started = start(gio, input: input.raw, output: output.raw, error: error.raw)
        guard case .success(let process) = started else { return started.failure }
        // A Ctrl-C is for the application, which has the usual signals.
        let before = [SIGINT, SIGQUIT].map { (number: $0, action: signal($0, SIG_IGN)) }
        defer { for (number, action) in before { signal(number, action) } }
        return Self.outcome(Self.end(of: process), errors: "")
    }

    // MARK: Starting

    private enum Started {
        case success(pid_t)
        case failure(String)

        var failure: Outcome {
            if case .failure(let reason) = self { .failed(reason) } else { .started }
        }
    }

    private func start(_ gio: CGioShims_Functions, input: Int32, output: Int32, error: Int32) -> Started {
        guard let info = info(gio) else { return .failure("\(application.file) cannot be used") }
        defer { gio.g_object_unref(UnsafeMutableRawPointer(info)) }
        let context = gio.g_app_launch_context_new()
        defer { gio.g_object_unref(UnsafeMutableRawPointer(context)) }
        for (name, value) in environment {
            if let value {
                gio.g_app_launch_context_setenv(context, name, value)
            } else {
                gio.g_app_launch_context_unsetenv(context, name)
            }
        }
        var process: pid_t = 0
        var failure: UnsafeMutablePointer<CGioShims_Error>?
        let isStarted = url.withCString { url in
            let list = gio.g_list_prepend(nil, UnsafeMutableRawPointer(mutating: url))
            defer { gio.g_list_free(list) }
            // Any pointer but nil.
            let leaves = application.runsInTerminal ? nil : UnsafeMutableRawPointer(mutating: url)
            return withUnsafeMutablePointer(to: &process) { process in
                gio.g_desktop_app_info_launch_uris_as_manager_with_fds(
                    info, list, context, Int32(CGioShims_DO_NOT_REAP_CHILD | CGioShims_SEARCH_PATH),
                    CGioShims_set_up, leaves, CGioShims_note_process, process, input, output, error, &failure)
            }
        }
        if let failure {
            defer { gio.g_error_free(failure) }
            return .failure(failure.pointee.message.map { String(cString: $0) } ?? "it could not be started")
        }
        return isStarted != 0 && process > 0 ? .success(process) : .failure("it could not be started")
    }

    /// The application as one that is started by its command: a start over D-Bus would end without a result, and one in
    /// a terminal would open a window.
    private func info(_ gio: CGioShims_Functions) -> OpaquePointer? {
        let keys = gio.g_key_file_new()
        defer { gio.g_key_file_unref(keys) }
        guard gio.g_key_file_load_from_file(keys, application.file, 0, nil) != 0 else { return nil }
        for key in ["Terminal", "DBusActivatable"] { gio.g_key_file_set_boolean(keys, Self.group, key, 0) }
        return gio.g_desktop_app_info_new_from_keyfile(keys)
    }

    // MARK: Ending

    /// Whether it ends while it is watched.
    private static func ends(_ process: pid_t) -> Bool {
        let raw = CLinuxShims_pidfd_open(process)
        // Before Linux 5.3.
        guard raw >= 0 else { return false }
        let file = FileDescriptor(owning: raw)
        var waiting = pollfd(fd: file.raw, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, Int32(watched / .milliseconds(1))) > 0
    }

    /// - Returns: the status by waitpid(2).
    private static func end(of process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private static func outcome(_ status: Int32, errors: String) -> Outcome {
        guard status != 0 else { return .started }
        if let line = errors.split(whereSeparator: \.isNewline).last(where: { !$0.allSatisfy(\.isWhitespace) }) {
            return .failed(String(line))
        }
        let (signal, code) = (status & 0x7F, (status >> 8) & 0xFF)
        return .failed(signal == 0 ? "it ended with exit code \(code)" : "it was ended by signal \(signal)")
    }

    /// The text that is in the file by now: its offset is shared with the application.
    private static func text(_ file: borrowing FileDescriptor) -> String {
        let count = lseek(file.raw, 0, SEEK_CUR)
        guard count > 0 else { return "" }
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, size in
            size = max(0, pread(file.raw, buffer.baseAddress, buffer.count, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
