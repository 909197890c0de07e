/// The address of a bus.
package struct BusAddress: Hashable, Sendable {
    /// For libdbus: only entries of the transport `unix`, separated by semicolons.
    ///
    /// Other entries are left out: `autolaunch` and `unixexec` start programs, `tcp` asks name servers.
    package let text: String
    /// Absolute paths of the sockets that the address names. When one is created, a bus may be available.
    package let sockets: [String]

    /// The session bus.
    ///
    /// - Parameter environment: `DBUS_SESSION_BUS_ADDRESS` if set, otherwise `bus` in `XDG_RUNTIME_DIR`.
    /// - Returns: nil if neither names a usable bus.
    package static func session(_ environment: [String: String]) -> BusAddress? {
        let runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        if let given = environment["DBUS_SESSION_BUS_ADDRESS"], !given.isEmpty {
            return BusAddress(given, runtime: runtime)
        }
        return runtime.flatMap { BusAddress("unix:path=" + escaped($0 + "/bus"), runtime: $0) }
    }

    /// The system bus.
    ///
    /// - Parameter environment: `DBUS_SYSTEM_BUS_ADDRESS` if it is usable; otherwise the usual socket.
    package static func system(_ environment: [String: String]) -> BusAddress {
        environment["DBUS_SYSTEM_BUS_ADDRESS"].flatMap { BusAddress($0) }
            ?? BusAddress(text: "unix:path=" + systemSocket, sockets: [systemSocket])
    }

    private static let systemSocket = "/run/dbus/system_bus_socket"

    private init(text: String, sockets: [String]) {
        self.text = text
        self.sockets = sockets
    }

    /// Parses the section "Server Addresses" of the D-Bus Specification.
    ///
    /// - Parameter runtime: the user's runtime folder, for addresses that refer to it.
    /// - Returns: nil if the address has no usable entry.
    package init?(_ given: String, runtime: String? = nil) {
        guard given.utf8.count <= 4_096, !given.utf8.contains(0) else { return nil }
        var entries: [Substring] = []
        var sockets: [String] = []
        for entry in given.split(separator: ";") where entry.hasPrefix("unix:") {
            entries.append(entry)
            for pair in entry.dropFirst("unix:".count).split(separator: ",") {
                if pair.hasPrefix("path="), let path = Self.unescaped(pair.dropFirst("path=".count)) {
                    sockets.append(path)
                }
                if pair == "runtime=yes", let runtime { sockets.append(runtime + "/bus") }
            }
        }
        guard !entries.isEmpty else { return nil }
        text = entries.joined(separator: ";")
        self.sockets = sockets.filter { $0.hasPrefix("/") }
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-_/.\\".utf8.contains(byte)
            if isPlain {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }

    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
