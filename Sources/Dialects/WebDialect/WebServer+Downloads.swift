import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import UniformTypes
import WebPages

/// The downloads of guests.
extension WebServer {
    func send(_ item: SharedItem, _ visit: Visit) async throws {
        if item.isTree { return try await sendZip(of: item, named: item.fileName, visit) }
        let exchange = visit.exchange
        let place = try visit.session.downloads.begin(from: visit.visitor.address)
        defer { withExtendedLifetime(place) {} }
        let download = try FileDownload(item.source)
        guard let (status, length) = try await exchange.prepare(download, number: item.number) else { return }
        exchange.answerHeaders.add(name: "content-disposition", value: URLText.attachment(item.fileName))
        let type = host.registry().preferredMIMEType(for: item.source.offered.type) ?? "application/octet-stream"
        try await deliver(item.fileName, visit, status, type, length) { try download.next() }
    }

    func sendAll(_ visit: Visit) async throws {
        guard !visit.session.shared.all.isEmpty else { return try await visit.exchange.refuseUnknown() }
        try await sendZip(of: nil, named: "all.zip", visit)
    }

    /// - Parameter item: nil: all items.
    private func sendZip(of item: SharedItem?, named name: String, _ visit: Visit) async throws {
        let downloads = visit.session.downloads
        let place = try downloads.begin(from: visit.visitor.address)
        defer { withExtendedLifetime(place) {} }
        let plan: ZipPlan
        do {
            plan = try await downloads.plan(of: item)
            try place.hold(plan)
        } catch is ZipPlan.TooMany {
            let words = "a ZIP of more than \(WebLimits.zipEntries) files and folders is not made"
            return try await visit.exchange.respond(.payloadTooLarge, line: words, closing: true)
        }
        visit.exchange.answerHeaders.add(name: "accept-ranges", value: "none")
        visit.exchange.answerHeaders.add(name: "content-disposition", value: URLText.attachment(name))
        let body = ZipBody(plan)
        do {
            try await deliver(name, visit, .ok, "application/zip", plan.length) { try body.next() }
        } catch let fault as SourceError {
            downloads.forget(plan)
            throw fault
        }
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
