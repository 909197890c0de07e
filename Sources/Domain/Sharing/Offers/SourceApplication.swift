/// The application that sends something: a courtesy for handlers, by the sender's word, which proves nothing.
///
/// A reverse-DNS name of 1...255 letters, digits, hyphens and dots: `org.waft.send`, `com.apple.finder`.
package enum SourceApplication {
    /// Its place in `Offer.annotation`.
    package static let key = "sourceApplication"

    /// What `waft send` is.
    package static let send = "org.waft.send"
    /// That of `waft share`.
    package static let share = "org.waft.share"
    /// What `waft open` is.
    package static let open = "org.waft.open"

    /// The variable that tells a handler which application it is when it sends something itself.
    package static let variable = "WAFT_SOURCE_APPLICATION_ID"

    private static let maximumBytes = 255

    /// The application in an annotation. An older version stored annotations without looking at it.
    package static func named(in annotation: [String: String]) -> String? { valid(annotation[key]) }

    /// An annotation without the application.
    package static func removed(from annotation: [String: String]) -> [String: String] {
        annotation.filter { $0.key != key }
    }

    /// - Returns: nil for a text that is no such name.
    package static func valid(_ text: String?) -> String? {
        guard let text, (1...maximumBytes).contains(text.utf8.count) else { return nil }
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isName ? text : nil
    }
}
