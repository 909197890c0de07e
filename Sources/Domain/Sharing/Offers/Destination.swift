/// Where things go: to a handler, into a folder below the Inbox, or as usual where nothing is said.
package struct Destination: Hashable, Sendable {
    /// A handler's identifier or name, 1...255 printable bytes; whether there is one is not known here.
    package let handler: String?
    package let folder: SafeRelativePath?

    package static let usual = Destination(handler: nil, folder: nil)

    /// - Parameter handler: a safe name.
    package init(handler: SafeName?, folder: SafeRelativePath?) {
        self.handler = handler?.text
        self.folder = folder
    }

    /// What is said here, and where that leaves something open, what another says.
    package func or(_ other: Destination) -> Destination {
        Destination(checked: handler ?? other.handler, folder ?? other.folder)
    }

    private init(checked handler: String?, _ folder: SafeRelativePath?) {
        self.handler = handler
        self.folder = folder
    }
}
