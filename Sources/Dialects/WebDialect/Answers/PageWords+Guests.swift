import WebPages

extension PageWords {
    static let all = [PageWords("en", PackageResources.en_json), PageWords("de", PackageResources.de_json)]

    /// The words for a guest, by the value of `Accept-Language`.
    static func accepted(_ header: String?) -> PageWords { accepted(header, of: all) }
}
