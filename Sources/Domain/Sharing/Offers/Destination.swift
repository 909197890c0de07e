/// The destination of items: a handler, a folder below the Inbox, a protection; each in the usual way if it is not
/// given.
package struct Destination: Hashable, Sendable {
    /// A handler's identifier or name, 1...255 printable bytes; whether there is one is not known here.
    package let handler: String?
    package let folder: SafeRelativePath?
    /// How the item is sealed on the disk.
    package let protection: ProtectionClass?

    package static let usual = Destination(handler: nil, folder: nil)

    /// - Parameter handler: a safe name.
    package init(handler: SafeName?, folder: SafeRelativePath?, protection: ProtectionClass? = nil) {
        self.init(checked: handler?.text, folder, protection)
    }

    /// This destination; the other one fills the parts that this one leaves open.
    package func or(_ other: Destination) -> Destination {
        Destination(checked: handler ?? other.handler, folder ?? other.folder, protection ?? other.protection)
    }

    /// The same place under a protection, unless this destination names one.
    package func protected(as usual: ProtectionClass) -> Destination {
        Destination(checked: handler, folder, protection ?? usual)
    }

    private init(checked handler: String?, _ folder: SafeRelativePath?, _ protection: ProtectionClass?) {
        (self.handler, self.folder, self.protection) = (handler, folder, protection)
    }
}
