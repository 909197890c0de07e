/// The disk space that items take. Empty files and folders count too, because they are not free.
package struct Footprint: Hashable, Sendable {
    /// Bytes of contents, and `Limits.entryBytes` for each file, folder and link; saturates instead of overflowing.
    package let bytes: UInt64

    /// - Parameter entries: files, folders and links.
    package init(bytes: UInt64, entries: UInt64) {
        let (held, isMuch) = entries.multipliedReportingOverflow(by: Limits.entryBytes)
        let (sum, overflow) = bytes.addingReportingOverflow(isMuch ? .max : held)
        self.bytes = overflow ? .max : sum
    }
}
