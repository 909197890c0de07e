internal import COpenSSL
import DBusClient
import Secrets

/// One conversation with the Secret Service (the specification "Secret Service API Draft", 0.2).
///
/// Secrets cross the bus encrypted, or as they are if the service knows nothing else. Programs of the same user can read the
/// keyring in any case.
struct SecretService: Sendable {
    enum Name {
        static let service = "org.freedesktop.secrets"
        static let path = "/org/freedesktop/secrets"
        static let interface = "org.freedesktop.Secret.Service"
        static let collection = "org.freedesktop.Secret.Collection"
        static let item = "org.freedesktop.Secret.Item"
        static let prompt = "org.freedesktop.Secret.Prompt"
    }

    /// Maximum number of objects in an answer.
    private static let mostObjects = 64
    private static let limits = BusLimits(messageBytes: 1 << 20)

    let client: BusClient
    let manner: KeyringManner
    let timeouts: KeyringTimeouts

    /// - Throws: `KeyringError.noService`.
    static func connect(
        to bus: BusAddress?, _ manner: KeyringManner, _ timeouts: KeyringTimeouts
    ) async throws(KeyringError) -> SecretService {
        guard let bus else { throw .noService }
        do throws(BusError) {
            let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeouts.call)
            return SecretService(client: client, manner: manner, timeouts: timeouts)
        } catch {
            throw error == .silent ? .failed(error) : .noService
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
        let path = try await call(Name.path, Name.interface, "ReadAlias") { arguments in
            arguments.string("default")
        } reading: { answer in
            answer.objectPath()
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
        in collection: String, label: String, _ attributes: [String: String], _ secret: SecretBytes
    ) async throws(KeyringError) {
        let session = try await openSession()
        let (parameters, value) = try KeyringError.converting { () throws(SecretsError) in try session.seal(secret) }
        let prompt = try await call(collection, Name.collection, "CreateItem") { arguments in
            arguments.array(of: "{sv}") { properties in
                properties.entry(Name.item + ".Label", "s") { $0.string(label) }
                properties.entry(Name.item + ".Attributes", "a{ss}") { value in
                    value.array(of: "{ss}") { for (key, value) in attributes { $0.pair(key, value) } }
                }
            }
            // The session, its parameters, the value, its type.
            arguments.structure { parts in
                parts.objectPath(session.path)
                parameters.withUnsafeBytes { parts.bytes($0) }
                value.withBytes { parts.bytes($0) }
                parts.string("text/plain")
            }
            arguments.boolean(true)
        } reading: { answer in
            answer.objectPath() == nil ? nil : answer.objectPath()
        }
        try await ask(prompt)
    }

    func secret(of item: String) async throws(KeyringError) -> SecretBytes {
        let session = try await openSession()
        return try await call(item, Name.item, "GetSecret") {
            $0.objectPath(session.path)
        } reading: { answer in
            answer.structure { parts in
                guard parts.objectPath() != nil, let parameters = parts.secret({ Array($0) }) else { return nil }
                return parts.secret { session.open(parameters, $0) }
            }
        }
    }

    func delete(_ item: String) async throws(KeyringError) {
        let prompt = try await call(item, Name.item, "Delete", { _ in }, reading: { $0.objectPath() })
        try await ask(prompt)
    }

    /// A session for secrets; it ends with the connection.
    func openSession() async throws(KeyringError) -> SecretSession {
        let agreement = try KeyringError.converting { () throws(SecretsError) in try KeyAgreement() }
        do throws(KeyringError) {
            return try await call(Name.path, Name.interface, "OpenSession") { arguments in
                arguments.string(SecretSession.encrypted)
                arguments.variant("ay") { value in agreement.publicKey.withUnsafeBytes { value.bytes($0) } }
            } reading: { answer in
                let shared = answer.variant { $0.secret { agreement.shared(with: $0) } }
                guard let shared, let cipher = try? SessionCipher(shared: shared) else { return nil }
                return answer.objectPath().map { SecretSession(path: $0, cipher: cipher) }
            }
        } catch {
            guard case .failed(let reason) = error, reason.isRefusal else { throw error }
        }
        return try await call(Name.path, Name.interface, "OpenSession") { arguments in
            arguments.string(SecretSession.plain)
            arguments.variant("s") { $0.string("") }
        } reading: { answer in
            // The output of `plain` is an empty text.
            guard answer.variant({ _ in true }) == true else { return nil }
            return answer.objectPath().map { SecretSession(path: $0, cipher: nil) }
        }
    }

    /// Calls a method of the service, within the timeout.
    func call<Value: Sendable>(
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

/// One side of a Diffie-Hellman key agreement in the group of 1,024 bits that the Secret Service prescribes (RFC 2409,
/// "Second Oakley Group").
struct KeyAgreement: Sendable {
    private static let groupBytes = 128
    /// Bytes of the exponent: twice the strength of the group is enough.
    private static let exponentBytes = 32

    /// For the peer; big-endian.
    let publicKey: [UInt8]
    private let exponent: SecretBytes

    init() throws(SecretsError) {
        exponent = SecretBytes.random(Self.exponentBytes)
        let two: [UInt8] = [2]
        guard let key = two.withUnsafeBytes({ [exponent] in Self.power($0, exponent) }) else {
            throw .noCryptography("a public key")
        }
        publicKey = key.revealed
    }

    /// - Returns: the shared secret; nil if the peer's key is out of range.
    func shared(with peer: UnsafeRawBufferPointer) -> SecretBytes? { Self.power(peer, exponent) }

    /// - Returns: `base` to the power of `exponent`, with leading zeros; nil unless 1 < `base` < p - 1.
    private static func power(_ base: UnsafeRawBufferPointer, _ exponent: SecretBytes) -> SecretBytes? {
        guard base.count <= groupBytes, let context = BN_CTX_new() else { return nil }
        defer { BN_CTX_free(context) }
        guard let prime = BN_get_rfc2409_prime_1024(nil) else { return nil }
        defer { BN_free(prime) }
        let bytes = base.bindMemory(to: UInt8.self)
        guard let number = BN_bin2bn(bytes.baseAddress, Int32(bytes.count), nil) else { return nil }
        defer { BN_free(number) }
        let power = exponent.withBytes {
            BN_bin2bn($0.bindMemory(to: UInt8.self).baseAddress, Int32($0.count), nil)
        }
        guard let power, let result = BN_new(), let last = BN_dup(prime) else { return nil }
        defer {
            BN_clear_free(power)
            BN_clear_free(result)
            BN_free(last)
        }
        guard BN_sub_word(last, 1) == 1, BN_is_zero(number) == 0, BN_is_one(number) == 0, BN_cmp(number, last) < 0,
            BN_mod_exp_mont_consttime(result, number, power, prime, context, nil) == 1
        else { return nil }
        var isWhole = false
        let secret = SecretBytes(count: groupBytes) { room in
            isWhole = BN_bn2binpad(result, room.bindMemory(to: UInt8.self).baseAddress, Int32(groupBytes)) > 0
        }
        return isWhole ? secret : nil
    }
}

/// A session of the Secret Service: the form in which secrets cross the bus.
struct SecretSession: Sendable {
    static let plain = "plain"
    static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// The path of its object.
    let path: String
    /// Nil if secrets cross the bus as they are.
    let cipher: SessionCipher?

    func seal(_ secret: SecretBytes) throws(SecretsError) -> (parameters: [UInt8], value: SecretBytes) {
        guard let cipher else { return ([], secret) }
        return try cipher.seal(secret)
    }

    /// - Returns: nil if the value was not made for this session.
    func open(_ parameters: [UInt8], _ value: UnsafeRawBufferPointer) -> SecretBytes? {
        guard let cipher else { return SecretBytes(value) }
        return cipher.open(parameters, value)
    }
}
