import CDBus
import Foundation
import Glibc
import Synchronization
package import TestSupport

/// A private system bus with a fake logind, which grants locks and records their release.
package final class FakeLogind: Sendable {
    package enum Heard: Hashable, Sendable {
        case ready
        /// The arguments what, who, why and mode.
        case inhibit([String])
        case released
        /// Whether the session is locked.
        case askedForHint
        /// The sessions were listed.
        case listed
        /// The properties of a session were read, by its id.
        case read(String)
    }

    package let heard = Recorder<Heard>()
    package let address: String
    private let folder: TemporaryFolder
    private let daemon: Mutex<Process>
    private let isOver = Atomic<Bool>(false)
    private let isLocked: Atomic<Bool>
    /// By their paths.
    let sessions: Mutex<[String: FakeSession]>
    private let jobs = Mutex<[@Sendable (OpaquePointer) -> Void]>([])

    /// - Parameters:
    ///   - refuses: whether logind grants no lock to keep the machine awake for these, each a `what` of a request.
    ///   - isLocked: whether the caller's session is locked, for those who ask for this hint alone.
    ///   - isThere: whether logind is on the bus from the beginning.
    ///   - folder: where the socket `bus` of the bus lies.
    package init(
        refuses: Set<String> = [], isLocked: Bool = false, sessions: [FakeSession] = [], isThere: Bool = true,
        in folder: TemporaryFolder = TemporaryFolder()
    ) async throws {
        self.folder = folder
        self.isLocked = Atomic(isLocked)
        self.sessions = Mutex(Dictionary(uniqueKeysWithValues: sessions.map { ($0.path, $0) }))
        let configuration = folder.file(
            "bus.conf",
            """
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(folder / "bus")</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
              </policy>
            </busconfig>
            """)
        address = "unix:path=" + (folder / "bus")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address"]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // The daemon prints its address when it listens.
        _ = output.fileHandleForReading.availableData
        daemon = Mutex(process)
        Thread.detachNewThread { [self] in serve(refuses, isThere) }
        try await heard.first { $0 == .ready }
    }

    /// Ends the bus, and logind with it.
    package func end() {
        isOver.store(true, ordering: .relaxed)
        // Does not wait: the daemon has nothing to clean up.
        _ = daemon.withLock { kill($0.processIdentifier, SIGKILL) }
    }

    /// Lets the bus stand still.
    package func pause() { _ = daemon.withLock { kill($0.processIdentifier, SIGSTOP) } }

    /// Locks the session, without a signal.
    package func lock() { isLocked.store(true, ordering: .sequentiallyConsistent) }

    /// Unlocks the session, and signals it.
    package func unlock() {
        isLocked.store(false, ordering: .sequentiallyConsistent)
        perform { self.signalHint(on: $0) }
    }

    /// Runs a job on the thread of the service, with its connection.
    func perform(_ job: @escaping @Sendable (OpaquePointer) -> Void) {
        jobs.withLock { $0.append(job) }
    }

    private func serve(_ refuses: Set<String>, _ isThere: Bool) {
        guard let bus = dbus_connection_open_private(address, nil) else { return }
        defer {
            dbus_connection_close(bus)
            dbus_connection_unref(bus)
        }
        dbus_connection_set_exit_on_disconnect(bus, 0)
        guard dbus_bus_register(bus, nil) != 0,
            !isThere || dbus_bus_request_name(bus, "org.freedesktop.login1", 0, nil) > 0
        else { return }
        heard.record(.ready)
        while !isOver.load(ordering: .relaxed), dbus_connection_read_write(bus, 20) != 0 {
            let due = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in due { job(bus) }
            while let message = dbus_connection_pop_message(bus) {
                if dbus_message_is_method_call(message, "org.freedesktop.login1.Manager", "Inhibit") != 0 {
                    answer(message, on: bus, refuses)
                } else if dbus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "Get") != 0 {
                    answerHint(message, on: bus)
                } else if dbus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "GetAll") != 0 {
                    answerAll(message, on: bus)
                } else if dbus_message_is_method_call(message, "org.freedesktop.login1.Manager", "ListSessions") != 0 {
                    answerList(message, on: bus)
                }
                dbus_message_unref(message)
            }
        }
    }

    /// The property `LockedHint`.
    private func answerHint(_ call: OpaquePointer, on bus: OpaquePointer) {
        guard let reply = dbus_message_new_method_return(call) else { return }
        defer { dbus_message_unref(reply) }
        var (writer, value) = (DBusMessageIter(), DBusMessageIter())
        var isLocked: UInt32 = isLocked.load(ordering: .sequentiallyConsistent) ? 1 : 0
        dbus_message_iter_init_append(reply, &writer)
        dbus_message_iter_open_container(&writer, Int32(UInt8(ascii: "v")), "b", &value)
        dbus_message_iter_append_basic(&value, Int32(UInt8(ascii: "b")), &isLocked)
        dbus_message_iter_close_container(&writer, &value)
        dbus_connection_send(bus, reply, nil)
        dbus_connection_flush(bus)
        heard.record(.askedForHint)
    }

    private func signalHint(on bus: OpaquePointer) {
        let path = "/org/freedesktop/login1/session/_31"
        guard let signal = dbus_message_new_signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged") else {
            return
        }
        defer { dbus_message_unref(signal) }
        dbus_connection_send(bus, signal, nil)
        dbus_connection_flush(bus)
    }

    private func answer(_ call: OpaquePointer, on bus: OpaquePointer, _ refusals: Set<String>) {
        var reader = DBusMessageIter()
        dbus_message_iter_init(call, &reader)
        var words: [String] = []
        while dbus_message_iter_get_arg_type(&reader) == Int32(UInt8(ascii: "s")) {
            var text: UnsafePointer<CChar>?
            dbus_message_iter_get_basic(&reader, &text)
            words.append(text.map { String(cString: $0) } ?? "")
            dbus_message_iter_next(&reader)
        }
        // As logind: one refused part refuses all of a request. A delay is granted to everybody.
        let refuses =
            words.last == "block"
            && !refusals.isDisjoint(with: (words.first ?? "").split(separator: ":").map(String.init))
        var ends: [Int32] = [-1, -1]
        let reply =
            refuses
            ? dbus_message_new_error(call, "org.freedesktop.DBus.Error.AccessDenied", "no")
            : dbus_message_new_method_return(call)
        guard let reply, pipe(&ends) == 0 else { return }
        defer { dbus_message_unref(reply) }
        if !refuses {
            var writer = DBusMessageIter()
            dbus_message_iter_init_append(reply, &writer)
            // The library sends a copy.
            dbus_message_iter_append_basic(&writer, Int32(UInt8(ascii: "h")), &ends[1])
        }
        dbus_connection_send(bus, reply, nil)
        dbus_connection_flush(bus)
        close(ends[1])
        heard.record(.inhibit(words))
        let end = ends[0]
        Thread.detachNewThread { [heard] in
            // Reading ends when all copies of the other end are closed.
            var byte: UInt8 = 0
            while read(end, &byte, 1) < 0, errno == EINTR {}
            close(end)
            heard.record(.released)
        }
    }
}
