import Foundation
import HTTPChannel
package import Lines
import NIOCore
import NIOHTTP1
package import Operations
import Sharing
import Synchronization
package import UniformTypes
import WebPages

/// Serves the windows of the desk: its pages, and their calls. One for all connections.
package final class DeskServer: Sendable {
    /// The desk's surroundings.
    package struct Host: Sendable {
        package var program: OwnProgram
        /// The Waft with the settings as they are now. It throws for settings with faults.
        package var strict: @Sendable () throws(WaftError) -> Waft
        /// The same, where settings with faults have their defaults.
        package var forgiving: @Sendable () throws(WaftError) -> Waft
        /// All settings, with rules in words.
        package var settings: @Sendable (Waft) -> [SettingLine]
        package var door: DeskDoor
        package var windows: DeskWindows
        /// The values of `Host` that are this desk's: loopback with its port.
        package var authorities: Set<String>
        /// The origin of the previews.
        package var previews: String
        /// The name of this machine.
        package var name: String
        package var version: String
        /// Absolute paths that are to be shared.
        package var shared: [String]
        /// All types that are known. Blocks on the disk.
        package var types: @Sendable () -> TypeRegistry
        package init(
            program: OwnProgram, strict: @escaping @Sendable () throws(WaftError) -> Waft,
            forgiving: @escaping @Sendable () throws(WaftError) -> Waft,
            settings: @escaping @Sendable (Waft) -> [SettingLine], door: DeskDoor, windows: DeskWindows,
            authorities: Set<String>, previews: String, name: String, version: String, shared: [String],
            types: @escaping @Sendable () -> TypeRegistry
        ) {
            (self.program, self.strict, self.forgiving, self.settings) = (program, strict, forgiving, settings)
            (self.door, self.windows) = (door, windows)
            (self.authorities, self.previews, self.name) = (authorities, previews, name)
            (self.version, self.shared, self.types) = (version, shared, types)
        }
    }

    /// The header with the token of a window.
    static let header = "waft-token"

    let host: Host
    let sendings: BrowserSendings
    let questions = DeskQuestions()

    package init(_ host: Host) {
        self.host = host
        sendings = BrowserSendings(host)
    }

    /// Serves one connection until it is closed.
    func serve(_ visit: LoopbackPages.Visit) async {
        await HTTPServer.serve(
            visit.connection, idle: .seconds(60), silence: Limits.silence, interim: .seconds(86_400),
            isIdle: visit.setIdle
        ) { exchange in
            RequestGuard.add(
                to: &exchange.answerHeaders,
                policy:
                    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' blob: \(host.previews); "
                    + "media-src \(host.previews); frame-src \(host.previews); connect-src 'self'; form-action 'none'")
            try await respond(to: exchange, visit.enter)
        }
    }

    private func respond(to exchange: HTTPExchange, _ hasEntered: @Sendable () -> Void) async throws {
        guard RequestGuard.isForThisHost(exchange.head, host.authorities) else {
            return try await exchange.respond(.misdirectedRequest, line: "this is another host", closing: true)
        }
        guard let names = RequestTarget(exchange.head.uri).names else { return try await exchange.refuseUnknown() }
        if exchange.head.method == .GET, names.count == 1, let file = DeskPage.file(names[0]) {
            exchange.answerHeaders.add(name: "vary", value: "accept-language")
            return try await exchange.respond(static: file.bytes, file.type)
        }
        guard RequestGuard.isOfThisOrigin(exchange.head, isPlain: true) else {
            return try await exchange.refuse(.forbidden, "this comes from another page")
        }
        if exchange.head.method == .POST, names == ["enter"] { return try await enter(exchange) }
        guard let pass = host.door.pass(of: exchange.head.headers.first(name: Self.header)) else {
            return try await exchange.refuse(.forbidden, "open a window with: waft desk")
        }
        hasEntered()
        try await answer(exchange, names, pass)
    }

    private func answer(_ exchange: HTTPExchange, _ names: [String], _ pass: DeskDoor.Pass) async throws {
        switch (exchange.head.method, names.first, names.count) {
        case (.GET, "facts", 1):
            try await exchange.respond(
                .ok,
                json: DeskFacts(
                    name: host.name, previews: host.previews + "/" + pass.previews, shared: host.shared,
                    version: host.version, families: TypeFamily.table(host.types())))
        case (.GET, "window", 1): try await openWindow(exchange, pass)
        case (.DELETE, "windows", 4) where names[2] == "calls": try await cancelCall(exchange, names[1], names[3])
        case (.POST, "calls", 2): try await answerCall(exchange, names[1])
        case (.POST, "qr", 1): try await makeCode(exchange)
        case (.POST, "sendings", 1): try await beginSending(exchange)
        case (.GET, "sendings", 2): try await followSending(exchange, names[1])
        case (.GET, "sendings", 3) where names[2] == "activities": try await listActivities(exchange, names[1])
        case (.DELETE, "sendings", 2): try await cancelSending(exchange, names[1])
        case (.PUT, "sendings", 4) where names[2] == "items": try await takeItem(exchange, names[1], names[3])
        case (.POST, _, _):
            guard let call = DeskCall.all[names.joined(separator: "/")] else {
                return try await exchange.refuseUnknown()
            }
            try await make(call, exchange)
        default: try await exchange.refuseUnknown()
        }
    }

    private struct Entry: Decodable {
        var secret: String
    }

    private struct Entered: Encodable {
        var token: String
    }

    /// Exchanges the secret of a window for its token.
    private func enter(_ exchange: HTTPExchange) async throws {
        guard let entry = try await document(Entry.self, of: exchange, upTo: 1 << 10) else { return }
        guard let pass = host.door.enter(entry.secret) else {
            return try await exchange.refuse(
                .forbidden, "this key opens no window, or is spent; open one with: waft desk")
        }
        try await exchange.respond(.ok, json: Entered(token: pass.token))
    }

    /// The JSON document in the body of a request.
    /// - Returns: nil if this has refused the request.
    func document<Value: Decodable>(
        _ type: Value.Type, of exchange: HTTPExchange, upTo limit: Int
    ) async throws -> Value? {
        guard let body = try await document(of: exchange, upTo: limit) else { return nil }
        guard let value = try? JSONDecoder().decode(type, from: body) else {
            try await exchange.refuse(.badRequest, "the request has another form")
            return nil
        }
        return value
    }

    /// The bytes of a JSON document in the body of a request, which are not checked.
    /// - Returns: as above.
    func document(of exchange: HTTPExchange, upTo limit: Int) async throws -> Data? {
        // Pages of others cannot send this type without asking first.
        let form = exchange.head.headers.first(name: "content-type") ?? ""
        guard form.lowercased().split(separator: ";").first == "application/json" else {
            try await exchange.refuse(.unsupportedMediaType, "a request is JSON")
            return nil
        }
        return Data(try await exchange.body(upTo: limit).readableBytesView)
    }
}

/// The answer to `GET /facts`.
private struct DeskFacts: Encodable {
    var name: String
    var previews: String
    var shared: [String]
    var version: String
    /// The types of each family, by the names of `TypeFamily`.
    var families: [String: [String]]
}

/// The people's word for a type. The icons, the filters and the pictures of the pages go by it.
enum TypeFamily: String, CaseIterable, Sendable {
    // In this order: a type is of the first family that it conforms to.
    case link, image, movie, sound, pdf, document, program, archive, folder, text

    /// The types to one of which all types of the family conform.
    private var roots: [String] {
        switch self {
        case .link: ["public.url", "com.apple.internet-location"]
        case .image: ["public.image"]
        case .movie: ["public.movie", "public.video"]
        case .sound: ["public.audio"]
        case .pdf: ["com.adobe.pdf"]
        case .document:
            [
                "public.composite-content", "public.presentation", "public.spreadsheet", "public.html", "public.rtf",
                "org.openxmlformats.openxml", "org.oasis-open.opendocument",
            ]
        case .program: ["public.executable", "public.script", "org.debian.deb-archive", "com.redhat.rpm-archive"]
        case .archive: ["public.archive"]
        case .folder: ["public.directory"]
        case .text: ["public.text"]
        }
    }

    /// - Returns: nil for a type of no family.
    init?(_ type: UniformType, in registry: TypeRegistry) {
        let family = Self.allCases.first { family in
            family.roots.contains { root in UniformType(root).map { registry.conforms(type, to: $0) } ?? false }
        }
        guard let family else { return nil }
        self = family
    }

    /// The families with the identifiers of their types.
    static func table(_ registry: TypeRegistry) -> [String: [String]] {
        var table: [String: [String]] = [:]
        for type in registry.types {
            if let family = Self(type, in: registry) { table[family.rawValue, default: []].append(type.identifier) }
        }
        return table
    }
}
