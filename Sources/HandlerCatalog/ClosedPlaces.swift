import Glibc
import Sharing

/// Places that no handler can be given by a rule of its own: Waft's configuration, state and control socket, and all
/// handlers with what they have written. The Inbox can be read, and is emptied by handlers, but never written.
///
/// This is what is said when a handler is added or its bundle is read. The sandbox looks again at each call: links can
/// lead elsewhere by then.
package struct ClosedPlaces: Hashable, Sendable {
    /// What a handler wants to do at a path.
    package enum Access: Hashable, Sendable, CaseIterable {
        case read
        case write
    }

    package struct Place: Hashable, Sendable {
        /// Absolute; need not exist.
        package let path: String
        /// What is there, as it is called within a sentence: `the Inbox`.
        package let name: String

        package init(_ path: String, _ name: String) {
            (self.path, self.name) = (path, name)
        }
    }

    private var places: [Place]
    private let inbox: Place?

    /// - Parameters:
    ///   - places: that are neither read nor written.
    ///   - inbox: absolute path of the Inbox; nil if none is to be guarded.
    package init(_ places: [Place] = [], inbox: String? = nil) {
        self.places = places
        self.inbox = inbox.map { Place($0, "the Inbox") }
    }

    /// Absolute paths of all that is neither read nor written: what the sandbox closes.
    package var paths: [String] { places.map(\.path) }

    /// Closes more.
    mutating func add(_ more: [Place]) { places += more }

    /// Why a handler cannot be given a path, and what would do, in one line; nil if it can. Quotes the path as it is.
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
        // Also of a bundle that is not installed, or not yet.
        let isInBundle = PathText.names(in: real).contains { $0.hasSuffix(BundleFolder.suffix) }
        guard isInBundle else { return nil }
        return Self.sentence(.within("\(path) is in a handler's bundle"), "which is closed to handlers")
    }

    private enum Overlap {
        case within(String)
        case around(String)
    }

    private static func overlap(_ path: String, _ real: String, _ place: Place) -> Overlap? {
        let closed = Paths.resolved(place.path)
        if real == closed { return .within("\(path) is \(place.name)") }
        if Paths.isBeneath(real, closed) { return .within("\(path) is in \(place.name)") }
        if Paths.isBeneath(closed, real) { return .around("\(path) contains \(place.name)") }
        return nil
    }

    private static func sentence(_ overlap: Overlap, _ rule: String) -> String {
        switch overlap {
        case .within(let words): "\(words), \(rule); name a folder elsewhere"
        case .around(let words): "\(words), \(rule); name the folders beside it that are meant"
        }
    }
}

extension Paths {
    /// Whether a path without links lies in a folder.
    static func isBeneath(_ path: String, _ folder: String) -> Bool {
        path != folder && path.utf8.starts(with: (folder == "/" ? "/" : folder + "/").utf8)
    }

    /// The absolute path without links, `.` and `..`, as far as there is something.
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
