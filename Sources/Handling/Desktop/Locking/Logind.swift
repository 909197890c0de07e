import DBusClient

/// The names and calls of logind (org.freedesktop.login1(5)).
enum Logind {
    static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let session = "org.freedesktop.login1.Session"
    static let properties = "org.freedesktop.DBus.Properties"
    /// How long logind may take to answer.
    static let timeout: Duration = .seconds(5)
    /// A list of 8,192 sessions, logind's `SessionsMax`, has about 1 MiB.
    static let limits = BusLimits(messageBytes: 2 << 20, descriptors: 1)
    private static let mostSessions = 8_192

    /// - Returns: the paths of a user's sessions.
    static func sessions(of user: UInt32, _ client: BusClient) async throws(BusError) -> [String] {
        let call = BusCall(to: name, path: path, interface: manager, member: "ListSessions")
        return try await client.call(call, timeout: timeout) { arguments in
            var paths: [String] = []
            // Of each session: its id, the user's number and name, the seat, the path.
            let isList = arguments.array(most: mostSessions) { session in
                _ = session.structure { session -> Void? in
                    guard session.string() != nil, session.uint32() == user, session.string() != nil,
                        session.string() != nil, let path = session.objectPath()
                    else { return nil }
                    paths.append(path)
                    return ()
                }
            }
            return isList ? paths : nil
        }
    }

    /// - Returns: nil if the session has ended.
    static func session(at path: String, _ client: BusClient) async throws(BusError) -> LogindSession? {
        let call = BusCall(to: name, path: path, interface: properties, member: "GetAll") { $0.string(session) }
        do throws(BusError) {
            return try await client.call(call, timeout: timeout) { arguments in
                var session = LogindSession()
                return session.take(&arguments) ? session : nil
            }
        } catch {
            if error.isRefusal { return nil }
            throw error
        }
    }
}
