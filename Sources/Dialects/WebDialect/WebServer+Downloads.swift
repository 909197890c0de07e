import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import UniformTypes

/// The downloads of guests.
extension WebServer {
    func send(_ item: SharedItem, _ visit: Visit) async throws {
        if item.isTree { return try await sendZip(of: [item], named: item.fileName, visit) }
        let exchange = visit.exchange
        let download = try FileDownload(item)
        let tag = download.tag(item.number)
        var headers = exchange.answerHeaders
        headers.add(name: "accept-ranges", value: "bytes")
        headers.add(name: "etag", value: tag)
        if let date = download.date { headers.add(name: "last-modified", value: date) }
        var range = ByteRange(exchange.head.headers.first(name: "range"), size: download.size)
        if let condition = exchange.head.headers.first(name: "if-range"), condition != tag, condition != download.date {
            range = .whole
        }
        var (status, length) = (HTTPResponseStatus.ok, download.size)
        switch range {
        case .whole: break
        case .part(let start, let end):
            try download.narrow(to: start, end)
            headers.add(name: "content-range", value: "bytes \(start)-\(end - 1)/\(download.size)")
            (status, length) = (.partialContent, end - start)
        case .unsatisfiable:
            headers.add(name: "content-range", value: "bytes */\(download.size)")
            exchange.answerHeaders = headers
            return try await exchange.respond(.rangeNotSatisfiable, line: "the file has \(download.size) bytes")
        }
        headers.add(name: "content-disposition", value: URLText.attachment(item.fileName))
        exchange.answerHeaders = headers
        let type = host.registry().preferredMIMEType(for: item.source.offered.type) ?? "application/octet-stream"
        try await deliver(item.fileName, visit, status, type, length) { try download.next() }
    }

    func sendAll(_ visit: Visit) async throws {
        let items = visit.session.shared.all
        guard !items.isEmpty else { return try await visit.exchange.refuseUnknown() }
        try await sendZip(of: items, named: "all.zip", visit)
    }

    private func sendZip(of items: [SharedItem], named name: String, _ visit: Visit) async throws {
        let plan: ZipPlan
        do {
            plan = try ZipPlan(items)
        } catch is ZipPlan.TooMany {
            let words = "a ZIP of more than \(WebLimits.zipEntries) files and folders is not made"
            return try await visit.exchange.respond(.payloadTooLarge, line: words, closing: true)
        }
        visit.exchange.answerHeaders.add(name: "accept-ranges", value: "none")
        visit.exchange.answerHeaders.add(name: "content-disposition", value: URLText.attachment(name))
        let body = ZipBody(plan)
        try await deliver(name, visit, .ok, "application/zip", plan.length) { try body.next() }
    }

    private func deliver(
        _ name: String, _ visit: Visit, _ status: HTTPResponseStatus, _ type: String, _ length: UInt64,
        next: () throws -> ByteBuffer?
    ) async throws {
        var isWhole = false
        defer {
            if visit.exchange.head.method == .GET {
                host.observe(
                    .fetched(visit.guest?.peer, at: visit.address, name: name, isWhole: isWhole && status == .ok))
            }
        }
        try await visit.exchange.respond(status, contentType: type, length: length, next: next)
        isWhole = true
    }
}
