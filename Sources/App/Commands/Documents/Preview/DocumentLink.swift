import Foundation
import HandlerCatalog
import Previews
import PropertyLists
import Sharing
import UniformTypes

/// The URL in a file whose one purpose is to hold it: `.url` and `.webloc`. It is not opened.
struct DocumentLink {
    let url: URLParts

    /// Bytes of such a file that are read.
    private static let fileBytes = 16 << 10
    private static let bounds = PropertyListBounds(
        documentBytes: fileBytes, depth: 8, values: 100, textBytes: fileBytes)

    /// - Parameter file: open for reading; its position does not move.
    /// - Returns: nil for another type, and for a file without a URL.
    init?(_ file: Int32, _ type: UniformType, _ registry: TypeRegistry) {
        let isShortcut = registry.conforms(type, to: .internetShortcut)
        guard isShortcut || registry.conforms(type, to: .internetLocation) else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.fileBytes) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, Self.fileBytes, 0))
        }
        let text =
            isShortcut
            ? InternetShortcut.url(in: bytes)
            : (try? PropertyList.dictionary(from: bytes, within: Self.bounds))?["URL"]?.string
        guard let text, let url = try? URLParts(text) else { return nil }
        self.url = url
    }
}
