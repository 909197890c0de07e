// The page for guests over the control socket. A command opens a page, follows it, and closes it.

/// A command's request about the page for guests.
package enum PageRequest: Codable, Sendable, Equatable {
    /// Opens a page. With nothing but the defaults, the page that the settings keep open is meant, if there is one.
    case open(PageOpening)
    /// Wants the standing, as soon as its revision is another than `seen`, or after a few seconds. A command that does not
    /// ask again for half a minute is taken to be gone, and its page is closed.
    case follow(ticket: Int, seen: Int)
    /// Closes the page. One that the settings keep open stays.
    case close(ticket: Int)
}

/// A page that is to be opened.
package struct PageOpening: Codable, Sendable, Equatable {
    /// Absolute paths of the files and folders that guests can fetch.
    package var items: [String] = []
    /// How long it is open; nil for as long as the command follows it.
    package var seconds: Double?
    /// Whether guests can send something.
    package var takes = true
    /// Whether it is for one guest, until a transfer of that guest has ended.
    package var isOnce = false
    /// Whether it is without encryption.
    package var isPlain = false

    package init() {}
}
