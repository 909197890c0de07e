/// Why a bus, or a service on it, did not do its part.
package struct BusError: Error, Hashable, CustomStringConvertible {
    private enum Code: Hashable {
        case unreachable(String)
        case disconnected, silent
        case refused(String)
        case unexpectedReply, nameTaken
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    /// - Parameter reason: the message of libdbus.
    package static func unreachable(_ reason: String) -> BusError { BusError(.unreachable(reason)) }
    /// The connection has ended.
    package static let disconnected = BusError(.disconnected)
    /// No answer came in time.
    package static let silent = BusError(.silent)
    /// - Parameter name: of the error in the answer, such as `org.freedesktop.DBus.Error.AccessDenied`.
    package static func refused(_ name: String) -> BusError { BusError(.refused(name)) }
    /// The answer has other arguments than expected.
    package static let unexpectedReply = BusError(.unexpectedReply)
    /// Another connection owns the name.
    package static let nameTaken = BusError(.nameTaken)

    /// The service has answered with an error.
    package var isRefusal: Bool { refusalName != nil }

    /// The name of the error in the answer, if there was one.
    package var refusalName: String? {
        if case .refused(let name) = code { name } else { nil }
    }

    /// One line, not escaped.
    package var description: String {
        switch code {
        case .unreachable(let reason): reason
        case .disconnected: "the bus is gone"
        case .silent: "no answer came in time"
        case .refused(let name): "the answer is the error \(name)"
        case .unexpectedReply: "the answer makes no sense"
        case .nameTaken: "the name is in use"
        }
    }
}
