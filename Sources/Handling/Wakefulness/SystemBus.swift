import CDBus
import Glibc

/// One request to logind, on a separate connection.
enum SystemBus {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Milliseconds to wait for logind.
    private static let patience: Int32 = 5_000
    private static let messageBytes = 64 << 10

    /// Ignores transports that start programs or ask name servers.
    static var address: String {
        let given = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
        return given.flatMap { $0.hasPrefix("unix:") ? $0 : nil } ?? "unix:path=/run/dbus/system_bus_socket"
    }

    /// Requests the lock; blocks for a few seconds at most. The call starts no program.
    static func inhibit(at address: String) -> Result<HeldLock, Failure> {
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        func failure(_ what: String) -> Result<HeldLock, Failure> {
            .failure(Failure(description: error.message.map { "\(what): \(String(cString: $0))" } ?? what))
        }
        dbus_connection_set_change_sigpipe(0)
        guard let connection = dbus_connection_open_private(address, &error) else { return failure("no system bus") }
        // Owned. It is private, so it must be closed before its last reference is released.
        defer {
            dbus_connection_close(connection)
            dbus_connection_unref(connection)
        }
        dbus_connection_set_exit_on_disconnect(connection, 0)
        dbus_connection_set_max_message_size(connection, messageBytes)
        dbus_connection_set_max_message_unix_fds(connection, 1)
        guard dbus_bus_register(connection, &error) != 0 else { return failure("the system bus turns us away") }
        guard let call = call() else { return failure("no memory") }
        defer { dbus_message_unref(call) }
        guard let reply = dbus_connection_send_with_reply_and_block(connection, call, patience, &error) else {
            return failure("logind gives no lock")
        }
        defer { dbus_message_unref(reply) }
        var arguments = DBusMessageIter()
        guard dbus_message_iter_init(reply, &arguments) != 0,
            dbus_message_iter_get_arg_type(&arguments) == Int32(UInt8(ascii: "h"))
        else { return failure("logind's answer makes no sense") }
        // We own this descriptor: a copy, close-on-exec.
        var descriptor: Int32 = -1
        dbus_message_iter_get_basic(&arguments, &descriptor)
        guard descriptor >= 0 else { return failure("logind gave no descriptor") }
        return .success(HeldLock(owning: descriptor))
    }

    /// org.freedesktop.login1(5), `Inhibit`: what, who, why, mode.
    private static func call() -> OpaquePointer? {
        guard
            let call = dbus_message_new_method_call(
                "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit")
        else { return nil }
        dbus_message_set_auto_start(call, 0)
        var arguments = DBusMessageIter()
        dbus_message_iter_init_append(call, &arguments)
        for text in ["idle:sleep", "Waft", "Something is being sent or received", "block"] {
            let isWritten = text.withCString { start in
                var start: UnsafePointer<CChar>? = start
                return dbus_message_iter_append_basic(&arguments, Int32(UInt8(ascii: "s")), &start) != 0
            }
            guard isWritten else {
                dbus_message_unref(call)
                return nil
            }
        }
        return call
    }
}

/// The lock: held as long as this object exists.
final class HeldLock: Sendable {
    private let descriptor: Int32

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}

/// A thread that ends with its work. Calls that block on a bus stay off the threads that other tasks share.
enum DetachedThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func run(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let error = pthread_create(
            &thread, nil,
            { work in
                // Takes over the reference from `run`.
                if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        if error != 0 {
            work.takeUnretainedValue().body()
            work.release()
        } else {
            pthread_detach(thread)
        }
    }
}
