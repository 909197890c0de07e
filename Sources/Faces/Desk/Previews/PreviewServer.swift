import Foundation
import HTTPChannel
import Lines
import NIOCore
import NIOHTTP1
import Operations
import Sharing
import Synchronization
import UniformTypes
import WebPages

/// Serves the contents of received items to the pages of the desk, from an origin of its own: no item can
/// reach the desk, of any kind. Nothing of it runs: the policy is a sandbox without scripts, and only types that browsers show as pictures,
/// sound, film or plain text are served.
package final class PreviewServer: Sendable {
    /// Bytes of a text that is shown.
    private static let textBytes: UInt64 = 1 << 20
    /// Bytes of a picture that a program of the system makes.
    private static let pictureBytes = 8 << 20
    /// Width and height of the pictures in the list, and of pages, at most.
    private static let thumbnailPixels = 256
    private static let pagePixels = 1_400

    /// Each path has the secret of a window, and ends with that window.
    private let host: DeskServer.Host
    private let authorities: Set<String>

    /// - Parameter authorities: the values of `Host` that are the previews'.
    package init(_ host: DeskServer.Host, authorities: Set<String>) {
        (self.host, self.authorities) = (host, authorities)
    }

    /// Serves one connection until it is closed.
    func serve(_ visit: LoopbackPages.Visit) async {
        await HTTPServer.serve(
            visit.connection, idle: .seconds(30), silence: Limits.silence, interim: .seconds(86_400),
            isIdle: visit.setIdle
        ) { exchange in
            exchange.answerHeaders.add(
                name: "content-security-policy",
                value: "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'")
            for (name, value) in [
                ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
                ("cache-control", "no-store"), ("cross-origin-resource-policy", "cross-origin"),
            ] { exchange.answerHeaders.add(name: name, value: value) }
            do {
                try await respond(to: exchange, visit.enter)
            } catch let fault as SourceError {
                guard !exchange.hasAnswered else { throw fault }
                try await exchange.refuse(.conflict, "the item has changed, or is gone")
            }
        }
    }

    private func respond(to exchange: HTTPExchange, _ hasEntered: @Sendable () -> Void) async throws {
        guard RequestGuard.isForThisHost(exchange.head, authorities), [.GET, .HEAD].contains(exchange.head.method),
            let names = RequestTarget(exchange.head.uri).names, let given = names.first,
            host.windows.show(given)
        else { return try await exchange.refuseUnknown() }
        hasEntered()
        switch (names.count, names.dropFirst().first) {
        case (3, "items"): try await showItem(exchange, names[2], isThumbnail: false)
        case (4, "items") where names[3] == "thumb": try await showThumbnail(exchange, names[2])
        case (4, "items") where names[3] == "player": try await showPlayer(exchange, names[2])
        case (4, "items") where names[3] == "file": try await give(exchange, names[2])
        case (5, "items"): try await showPage(exchange, names[2], names[4])
        case (4, "offers"): try await showOffer(exchange, names[2], names[3])
        default: try await exchange.refuseUnknown()
        }
    }

    /// A small picture; the whole one if no program of the system makes a small one.
    private func showThumbnail(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let number = Int64(name), number > 0 else { return try await exchange.refuseUnknown() }
        guard let picture = await picture(of: number, ["--pixels", "\(Self.thumbnailPixels)"]) else {
            return try await showItem(exchange, name, isThumbnail: true)
        }
        try await show(picture, exchange)
    }

    /// A page of a PDF document, as a picture.
    private func showPage(_ exchange: HTTPExchange, _ name: String, _ page: String) async throws {
        guard let number = Int64(name), number > 0, let page = Int(page), page > 0,
            let picture = await picture(of: number, ["--pixels", "\(Self.pagePixels)", "--page", "\(page)"])
        else { return try await exchange.refuseUnknown() }
        try await show(picture, exchange)
    }

    private func picture(of number: Int64, _ words: [String]) async -> Data? {
        let words = ["inbox", "preview", "\(number)", "--out", "-"] + words
        return await host.program.output(words, limit: Self.pictureBytes)
    }

    private func show(_ picture: Data, _ exchange: HTTPExchange) async throws {
        let isJPEG = picture.starts(with: [0xFF, 0xD8])
        try await exchange.respond(
            .ok, contentType: isJPEG ? "image/jpeg" : "image/png", body: ByteBuffer(bytes: picture))
    }

    /// An item that is shown.
    private struct Item {
        var number: Int64
        var path: String
        /// Its MIME type.
        var form: String
        var isSealed: Bool
        /// `video` or `audio`; nil for all else.
        var player: String? { ["video", "audio"].first { form.hasPrefix($0 + "/") } }
    }

    /// - Returns: nil if there is no such item, or it is not shown.
    private func item(_ name: String, isThumbnail: Bool = false) async -> Item? {
        guard let number = Int64(name), number > 0,
            let arrival = try? await arrival(name),
            let type = UniformType(arrival.type), let form = Self.form(of: type, isThumbnail: isThumbnail)
        else { return nil }
        return Item(number: number, path: arrival.path, form: form, isSealed: arrival.protection != nil)
    }

    private func arrival(_ name: String) async throws -> JournalLine {
        try await withTaskExecutorPreference(Waft.executor) {
            let inbox = try host.forgiving().inbox
            await inbox.followRenames()
            return try inbox.show(name)
        }
    }

    /// A page with a film or a sound: browsers save some types as files that they play in a page.
    private func showPlayer(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let item = await item(name), let player = item.player else { return try await exchange.refuseUnknown() }
        let style = "html,body{margin:0;height:100%}\(player){display:block;width:100%;height:100%}"
        let page = """
            <!doctype html><meta charset="utf-8"><title>Waft</title><style>\(style)</style>
            <\(player) controls src="../\(item.number)"></\(player)>

            """
        try await exchange.respond(.ok, contentType: "text/html; charset=utf-8", body: ByteBuffer(string: page))
    }

    private func showItem(_ exchange: HTTPExchange, _ name: String, isThumbnail: Bool) async throws {
        guard let item = await item(name, isThumbnail: isThumbnail) else { return try await exchange.refuseUnknown() }
        let (number, path, form) = (item.number, item.path, item.form)
        if item.isSealed { return try await showSealed(item, exchange) }
        guard let source = try? SendSources(paths: [path]).make().first, source.offered.kind == .file else {
            return try await exchange.refuseUnknown()
        }
        let download = try FileDownload(source)
        if form.hasPrefix("text/"), download.size > Self.textBytes {
            try download.narrow(to: 0, Self.textBytes)
            return try await exchange.respond(.ok, contentType: form, length: Self.textBytes) { try download.next() }
        }
        guard let (status, length) = try await exchange.prepare(download, number: Int(number)) else { return }
        try await exchange.respond(status, contentType: form, length: length) { try download.next() }
    }

    /// The whole bytes of a file that is not sealed, to be saved: no browser shows them, and no other page can read them.
    private func give(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let number = Int64(name), number > 0, let arrival = try? await arrival(name), arrival.protection == nil,
            let source = try? SendSources(paths: [arrival.path]).make().first, source.offered.kind == .file
        else { return try await exchange.refuseUnknown() }
        let download = try FileDownload(source)
        exchange.answerHeaders.replaceOrAdd(name: "cross-origin-resource-policy", value: "same-origin")
        guard let (status, length) = try await exchange.prepare(download, number: Int(number)) else { return }
        let file = arrival.path.split(separator: "/").last.map(String.init) ?? name
        exchange.answerHeaders.add(name: "content-disposition", value: URLText.attachment(file))
        try await exchange.respond(status, contentType: "application/octet-stream", length: length) {
            try download.next()
        }
    }

    /// The small form of a picture; a film or a sound as it is opened, from its beginning on. A text is shown by the desk.
    private func showSealed(_ item: Item, _ exchange: HTTPExchange) async throws {
        if item.form.hasPrefix("image/"),
            let picture = await picture(of: item.number, ["--pixels", "\(Self.pagePixels)"])
        {
            return try await show(picture, exchange)
        }
        guard item.player != nil, exchange.head.method == .GET else { return try await exchange.refuseUnknown() }
        try await exchange.respond(
            .ok, contentType: item.form,
            streaming: { [host] send in
                _ = await host.program.run(["inbox", "cat", "\(item.number)"]) { try await send(ByteBuffer(bytes: $0)) }
            })
    }

    /// The MIME type as which a type is shown; nil for one that is not.
    static func form(of type: UniformType, isThumbnail: Bool) -> String? {
        let registry = TypeRegistry.system
        // A picture of this kind is a document with scripts.
        guard type.identifier != "public.svg-image" else { return nil }
        let shown: [(parent: UniformType?, isPicture: Bool)] = [
            (UniformType("public.image"), true), (UniformType("public.audiovisual-content"), false),
        ]
        for (parent, isPicture) in shown where isPicture || !isThumbnail {
            guard let parent, registry.conforms(type, to: parent), let mime = registry.preferredMIMEType(for: type),
                ["image/", "audio/", "video/"].contains(where: mime.hasPrefix), !mime.contains("svg")
            else { continue }
            return mime
        }
        guard !isThumbnail, let text = UniformType("public.text"), registry.conforms(type, to: text) else { return nil }
        return "text/plain; charset=utf-8"
    }

    /// The picture of an item of a waiting offer.
    private func showOffer(_ exchange: HTTPExchange, _ offer: String, _ item: String) async throws {
        guard let offer = Int(offer), let item = Int(item), item > 0,
            let preview = try? await withTaskExecutorPreference(
                Waft.executor,
                operation: {
                    try await host.forgiving().offers.preview(offer, item: item - 1)
                })
        else { return try await exchange.refuseUnknown() }
        try await show(preview.data, exchange)
    }
}
