import DBusClient

/// One conversation with the Secret Service (the specification "Secret Service API Draft", 0.2).
///
/// The session's algorithm is `plain`: the secret crosses the session bus as it is. Programs of the same user can read
/// the bus and the keyring alike.
struct SecretService: Sendable {
    private enum Name {
        static let service = "org.freedesktop.secrets"
        static let path = "/org/freedesktop/secrets"
        static let interface = "org.freedesktop.Secret.Service"
        static let collection = "org.freedesktop.Secret.Collection"
        static let item = "org.freedesktop.Secret.Item"
        static let prompt = "org.freedesktop.Secret.Prompt"
    }

    /// The path that stands for no object.
    private static let noObject = "/"
    /// Maximum number of objects in an answer.
    private static let mostObjects = 64
    private static let limits = BusLimits(messageBytes: 1 << 20)

    private let client: BusClient
    private let manner: KeyringManner
    private let timeouts: KeyringTimeouts

    /// - Throws: `KeyringError.noService`.
    static func connect(
        to bus: BusAddress?, _ manner: KeyringManner, _ timeouts: KeyringTimeouts
    ) async throws(KeyringError) -> SecretService {
        guard let bus else { throw .noService }
        do throws(BusError) {
            let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeouts.call)
            return SecretService(client: client, manner: manner, timeouts: timeouts)
        } catch {
            throw .noService
        }
    }

    /// - Returns: the paths of the items with these attributes.
    func items(_ attributes: [String: String]) async throws(KeyringError) -> (open: [String], locked: [String]) {
        try await call(Name.path, Name.interface, "SearchItems") { arguments in
            arguments.array(of: "{ss}") { for (key, value) in attributes { $0.pair(key, value) } }
        } reading: { answer in
            guard let open = answer.objectPaths(most: Self.mostObjects),
                let locked = answer.objectPaths(most: Self.mostObjects)
            else { return nil }
            return (open, locked)
        }
    }

    /// - Returns: the path of the collection for new items.
    /// - Throws: `.noCollection`.
    func defaultCollection() async throws(KeyringError) -> String {
        let path = try await call(Name.path, Name.interface, "ReadAlias") {
            $0.string("default")
        } reading: {
            $0.objectPath()
        }
        guard path != Self.noObject else { throw .noCollection }
        return path
    }

    /// Opens a collection or an item.
    ///
    /// - Throws: `.locked` if it is locked and nobody may be asked.
    func unlock(_ path: String) async throws(KeyringError) {
        let prompt = try await call(Name.path, Name.interface, "Unlock") { arguments in
            arguments.array(of: "o") { $0.objectPath(path) }
        } reading: { answer in
            answer.objectPaths(most: Self.mostObjects) == nil ? nil : answer.objectPath()
        }
        try await ask(prompt)
    }

    /// Creates an item, or replaces the one with the same attributes.
    func create(
        in collection: String, label: String, _ attributes: [String: String], _ secret: KeyringSecret
    ) async throws(KeyringError) {
        let session = try await openSession()
        let prompt = try await call(collection, Name.collection, "CreateItem") { arguments in
            arguments.array(of: "{sv}") { properties in
                properties.entry(Name.item + ".Label", "s") { $0.string(label) }
                properties.entry(Name.item + ".Attributes", "a{ss}") { value in
                    value.array(of: "{ss}") { for (key, value) in attributes { $0.pair(key, value) } }
                }
            }
            // The session, its parameters, the value, its type.
            arguments.structure { parts in
                parts.objectPath(session)
                parts.bytes(UnsafeRawBufferPointer(start: nil, count: 0))
                secret.withBytes { parts.bytes($0) }
                parts.string("text/plain")
            }
            arguments.boolean(true)
        } reading: { answer in
            answer.objectPath() == nil ? nil : answer.objectPath()
        }
        try await ask(prompt)
    }

    /// - Parameter body: reads the secret's bytes in the message, which are zeroed afterwards.
    func secret<Value: Sendable>(
        of item: String, _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Value
    ) async throws(KeyringError) -> Value {
        let session = try await openSession()
        return try await call(item, Name.item, "GetSecret") {
            $0.objectPath(session)
        } reading: { answer in
            answer.structure { parts in
                guard parts.objectPath() != nil, parts.secret({ _ in true }) == true else { return nil }
                return parts.secret { body($0) }
            }
        }
    }

    func delete(_ item: String) async throws(KeyringError) {
        let prompt = try await call(item, Name.item, "Delete") { _ in } reading: { $0.objectPath() }
        try await ask(prompt)
    }

    /// A session for secrets; it ends with the connection.
    private func openSession() async throws(KeyringError) -> String {
        try await call(Name.path, Name.interface, "OpenSession") { arguments in
            arguments.string("plain")
            arguments.variant("s") { $0.string("") }
        } reading: { answer in
            // The output of `plain` is an empty text.
            answer.variant { _ in true } == true ? answer.objectPath() : nil
        }
    }

    /// Lets the keyring ask its question, if it has one.
    private func ask(_ prompt: String) async throws(KeyringError) {
        guard prompt != Self.noObject else { return }
        guard manner == .asking else {
            // The service may keep a question until it is dismissed.
            try? await call(prompt, Name.prompt, "Dismiss") { _ in } reading: { _ in () }
            throw .locked
        }
        let match = BusMatch(from: Name.service, path: prompt, interface: Name.prompt, member: "Completed")
        let answers: AsyncStream<Bool>
        do throws(BusError) {
            answers = try await client.signals(match, timeout: timeouts.call, buffer: 1) { $0.boolean() }
        } catch {
            throw KeyringError(error)
        }
        // The argument is the window of the question; there is none.
        try await call(prompt, Name.prompt, "Prompt") { $0.string("") } reading: { _ in () }
        let isDismissed = await withTaskGroup(of: Bool?.self) { group in
            group.addTask {
                for await isDismissed in answers { return isDismissed }
                return nil
            }
            group.addTask { [timeouts] in
                try? await Task.sleep(for: timeouts.question)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let isDismissed else {
            try? await call(prompt, Name.prompt, "Dismiss") { _ in } reading: { _ in () }
            throw .unanswered
        }
        if isDismissed { throw .dismissed }
    }

    private func call<Value: Sendable>(
        _ path: String, _ interface: String, _ member: String,
        _ arguments: @escaping @Sendable (inout BusWriter) -> Void,
        reading: @escaping @Sendable (inout BusReader) -> Value?
    ) async throws(KeyringError) -> Value {
        let call = BusCall(
            to: Name.service, path: path, interface: interface, member: member, startsService: manner == .asking,
            arguments: arguments)
        do throws(BusError) {
            return try await client.untilCancelled { () async throws(BusError) in
                try await client.call(call, timeout: timeouts.call, reading: reading)
            }
        } catch {
            throw KeyringError(error)
        }
    }
}
