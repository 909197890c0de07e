/// The destination of items: a handler, a folder below the Inbox, or the usual place if neither is given.
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

    /// This destination; the other one fills the parts that this one leaves open.
    package func or(_ other: Destination) -> Destination {
        Destination(checked: handler ?? other.handler, folder ?? other.folder)
    }

    private init(checked handler: String?, _ folder: SafeRelativePath?) {
        self.handler = handler
        self.folder = folder
    }
}
