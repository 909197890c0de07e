package import Lines

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
