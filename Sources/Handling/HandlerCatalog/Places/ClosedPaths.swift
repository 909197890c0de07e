import Glibc
import Sharing

/// Places that no rules of a handler can open: Waft's configuration, state and control socket, and all handlers with
/// their data. Handlers can read the Inbox and move items out of it, but not write in it.
///
/// This check runs when a handler is added and when its bundle is read. The sandbox checks again at each call, because
/// a link may have changed since.
package struct ClosedPaths: Hashable, Sendable {
    /// The access to a path that a handler asks for.
    package enum Access: Hashable, Sendable, CaseIterable {
        case read
        case write
    }

    package struct ClosedPath: Hashable, Sendable {
        /// Absolute; need not exist.
        package let path: String
        /// A noun for messages: `the Inbox`.
        package let name: String

        package init(_ path: String, _ name: String) {
            (self.path, self.name) = (path, name)
        }
    }

    private var places: [ClosedPath]
    private let inbox: ClosedPath?

    /// - Parameters:
    ///   - places: neither read nor written by handlers.
    ///   - inbox: absolute path of the Inbox; nil if none is to be guarded.
    package init(_ places: [ClosedPath] = [], inbox: String? = nil) {
        self.places = places
        self.inbox = inbox.map { ClosedPath($0, "the Inbox") }
    }

    /// Absolute paths of the places that handlers neither read nor write; the sandbox closes them.
    package var paths: [String] { places.map(\.path) }

    mutating func add(_ more: [ClosedPath]) { places += more }

    /// Why a handler may not access a path, with a remedy, in one line; nil if allowed. Quotes the path unchanged.
    package func trouble(_ path: String, _ access: Access) -> String? {
        let real = Paths.resolved(path)
        if access == .write, let inbox, let words = Self.overlap(path, real, inbox) {
            return Self.sentence(words, "where no handler may write")
        }
        for place in places {
            if let words = Self.overlap(path, real, place) {
                return Self.sentence(words, "which is closed to handlers")
            }
        }
        // The bundle need not be installed.
        let isInBundle = PathText.names(in: real).contains { $0.hasSuffix(BundleFolder.suffix) }
        guard isInBundle else { return nil }
        return Self.sentence(.within("\(path) is in a handler's bundle"), "which is closed to handlers")
    }

    private enum Overlap {
        case within(String)
        case around(String)
    }

    private static func overlap(_ path: String, _ real: String, _ place: ClosedPath) -> Overlap? {
        let closed = Paths.resolved(place.path)
        if real == closed { return .within("\(path) is \(place.name)") }
        if Paths.isBeneath(real, closed) { return .within("\(path) is in \(place.name)") }
        if Paths.isBeneath(closed, real) { return .around("\(path) contains \(place.name)") }
        return nil
    }

    private static func sentence(_ overlap: Overlap, _ rule: String) -> String {
        switch overlap {
        case .within(let words): "\(words), \(rule); name a folder elsewhere"
        case .around(let words): "\(words), \(rule); name only the folders beside it"
        }
    }
}

extension Paths {
    /// Whether a path is below a folder. Neither may contain links.
    static func isBeneath(_ path: String, _ folder: String) -> Bool {
        path != folder && path.utf8.starts(with: (folder == "/" ? "/" : folder + "/").utf8)
    }

    /// The absolute path without `.`, `..` and links; the part that does not exist is kept as it is.
    static func resolved(_ path: String) -> String {
        var head = absolute(path, from: "/")
        var tail = ""
        while true {
            if let start = real(head) { return start == "/" && !tail.isEmpty ? tail : start + tail }
            guard head != "/" else { return tail }
            tail = "/" + name(of: head) + tail
            head = folder(of: head)
        }
    }
}
