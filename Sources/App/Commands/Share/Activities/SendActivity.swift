import ArgumentParser
import Sharing

/// Sends the items to a peer, now or when the peer is reachable: as `waft send`.
struct SendActivity: Activity {
    /// Whether the daemon sends them.
    let isQueued: Bool

    var type: String { isQueued ? ActivityType.queue : ActivityType.airdrop }
    var title: String { isQueued ? "Send Later" : "Send" }
    let category = ActivityCategory.share

    func obstacle(_ items: ShareItems) -> String? { nil }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        guard var send = try WaftCommand.parseAsRoot([SendCommand._commandName]) as? SendCommand else { return [] }
        (send.items, send.text, send.url, send.source) = (items.paths, items.texts, items.urls, items.programs)
        (send.subject, send.json, send.queue.queue) = (items.subject, scene.json, isQueued)
        send.to = scene.peer.map { [$0] } ?? []
        send.delivery = scene.delivery
        try await SendCommand.$application.withValue(SourceApplication.share) { [send] in
            var send = send
            try await send.run()
        }
        return []
    }
}
