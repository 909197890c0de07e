import ContentCheck
import DBusClient
import Desktop
import Foundation
import Glibc
import HandlerCatalog
import Handlers
import Sharing
import UniformTypes

/// Opens arrivals on the desktop, for the buttons of a notification.
struct ArrivalOpener: ArrivalOpening {
    /// The types that are known here.
    let types: @Sendable () -> TypeRegistry

    func canOpen(_ arrival: Arrival) -> Bool { target(of: arrival) != nil }

    func open(_ arrival: Arrival) async -> String? {
        guard isThere(arrival) else { return gone(arrival) }
        guard let url = target(of: arrival) else { return "\(arrival.stored.name.text) is not opened on the desktop" }
        return await hand(url)
    }

    func canChoose(for arrival: Arrival) async -> Bool {
        guard [.file, .text].contains(arrival.item.kind), !arrival.protection.isSealed else { return false }
        return await ApplicationChooser.isThere()
    }

    func choose(for arrival: Arrival) async -> String? {
        guard isThere(arrival) else { return gone(arrival) }
        do {
            try await ApplicationChooser.open(arrival.stored.path)
            return nil
        } catch {
            return "\(error)"
        }
    }

    func show(_ arrivals: [Arrival]) async -> String? {
        let present = arrivals.filter(isThere)
        guard let first = present.first else { return arrivals.first.map(gone) }
        do throws(BusError) {
            try await FileManagerWindow.show(present.map(\.stored.path))
            return nil
        } catch {
            // No file manager has that interface: the folder alone.
            let folder = URL(fileURLWithPath: first.stored.path).deletingLastPathComponent()
            guard let url = try? URLParts(folder.absoluteString) else { return error.description }
            return await hand(url)
        }
    }

    /// Nil for an item that the desktop may not open, and for a sealed one: `waft inbox open` makes a clear copy.
    private func target(of arrival: Arrival) -> URLParts? {
        guard !arrival.protection.isSealed else { return nil }
        guard arrival.content?.outcome != .lying, !RunByOpening.includes(arrival, types()) else { return nil }
        guard arrival.item.kind == .url else {
            let url = URL(fileURLWithPath: arrival.stored.path, isDirectory: arrival.item.kind == .tree)
            return try? URLParts(url.absoluteString)
        }
        // Any other scheme could do anything.
        let link = ReceivedLink.parts(at: arrival.stored.path)
        return link.flatMap { ["http", "https"].contains($0.scheme.text) ? $0 : nil }
    }

    private func hand(_ url: URLParts) async -> String? {
        guard let opener = SystemOpener() else { return "xdg-open is missing; install xdg-utils" }
        let outcome = await opener.open(url)
        return outcome.answer == .yes ? nil : outcome.reason
    }

    private func isThere(_ arrival: Arrival) -> Bool {
        var status = stat()
        return lstat(arrival.stored.path, &status) == 0
    }

    private func gone(_ arrival: Arrival) -> String { "\(arrival.stored.name.text) is no longer in the Inbox" }
}
