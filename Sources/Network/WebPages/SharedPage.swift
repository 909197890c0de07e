/// The files that all pages share: the look, the icon, figures, and the walk through dropped folders.
package enum SharedPage {
    /// Waft's icon: an SVG document.
    package static let icon = String(decoding: PackageResources.icon_svg, as: UTF8.self)

    /// - Parameter name: the last part of a path.
    /// - Returns: the contents and their MIME type; nil for a name that no file has.
    package static func file(_ name: String) -> (bytes: [UInt8], type: String)? {
        switch name {
        case "icon.svg": (PackageResources.icon_svg, "image/svg+xml")
        case "tokens.css": (tokens, "text/css")
        case "figures.js": (figures, "text/javascript")
        case "walk.js": (walk, "text/javascript")
        default: nil
        }
    }

    private static let tokens = PageFile.lean(PackageResources.tokens_css)
    private static let figures = PageFile.lean(PackageResources.figures_js)
    private static let walk = PageFile.lean(PackageResources.walk_js)
}
