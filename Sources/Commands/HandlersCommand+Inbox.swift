import Foundation

/// Handlers read, remove and move out what is in the Inbox, and never write there: the sandbox starts none that may write
/// to a folder in it, or around it.
enum InboxBorder {
    /// Why a folder cannot be writable, in words that are escaped; nil where it can.
    static func trouble(_ path: String, inbox: String) -> String? {
        let (real, realInbox) = (resolved(path), resolved(inbox))
        let shown = HandlerText.path(path)
        if real == realInbox { return "\(shown) is the Inbox, where no handler may write" }
        if real.hasPrefix(realInbox + "/") { return "\(shown) is in the Inbox, where no handler may write" }
        if real == "/" || realInbox.hasPrefix(real + "/") {
            return "\(shown) contains the Inbox, where no handler may write; name the folders beside it that are meant"
        }
        return nil
    }

    /// The path without links, as far as there is something.
    private static func resolved(_ path: String) -> String {
        var head = URL(fileURLWithPath: path).standardizedFileURL.path
        var tail = ""
        while true {
            if let real = realpath(head, nil) {
                defer { free(real) }
                let start = String(cString: real)
                return start == "/" && !tail.isEmpty ? tail : start + tail
            }
            guard let slash = head.lastIndex(of: "/"), slash != head.startIndex else { return head + tail }
            tail = head[slash...] + tail
            head = String(head[..<slash])
        }
    }
}
