/// The desktop entry of this user.
package struct DesktopLine: Line {
    package static let event = "desktop"

    /// `installed`, `missing`, or `foreign` for a file that Waft has not written.
    package let state: String
    package let path: String
    /// Absent without an entry of Waft.
    package private(set) var urlSchemes: [String]?
    /// Whether a new entry would be the same; absent without an entry of Waft.
    package private(set) var isCurrent: Bool?
    /// The paths of the entries for sharing; absent without an entry of Waft.
    package private(set) var menus: [String]?
    /// The command that the entry starts.
    @Unsaid package private(set) var command: String?
    /// The schemes of handlers that stay with the desktop.
    @Unsaid package private(set) var leftSchemes: [String]

    /// There is no entry of Waft.
    package init(path: String, isForeign: Bool) {
        (state, self.path, leftSchemes) = (isForeign ? "foreign" : "missing", path, [])
    }

    package init(
        path: String, urlSchemes: [String], isCurrent: Bool, menus: [String], command: String, leftSchemes: [String]
    ) {
        (state, self.path, self.urlSchemes, self.isCurrent) = ("installed", path, urlSchemes, isCurrent)
        (self.menus, self.command, self.leftSchemes) = (menus, command, leftSchemes)
    }
}
