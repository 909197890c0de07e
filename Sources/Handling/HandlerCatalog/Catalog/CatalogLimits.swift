import PropertyLists

/// Limits for the contents of a bundle.
package enum CatalogLimits {
    /// Bytes of an `Info.plist`, and of the file with the user's choices.
    package static let documentBytes = 1 << 20

    /// Bytes of an `InfoPlist.strings`.
    package static let stringsBytes = 64 << 10

    /// Bounds on an `Info.plist` and an `InfoPlist.strings`.
    static let propertyList = PropertyListBounds(
        documentBytes: documentBytes, depth: 32, values: 20_000, textBytes: 4 << 20)

    /// Names in a `CFBundleTypeIconFiles` that are used.
    static let iconFiles = 16

    /// Bytes of a property list in a `Settings.bundle`.
    package static let paneBytes = 256 << 10

    /// Bounds on a property list in a `Settings.bundle`.
    static let pane = PropertyListBounds(documentBytes: paneBytes, depth: 8, values: 10_000, textBytes: 1 << 20)

    /// Property lists of a `Settings.bundle`, and of those within each other, the first included.
    static let panes = 32
    static let paneDepth = 8

    /// Rows of a `Settings.bundle`, those without a key too.
    static let settingRows = 512

    /// Keys of a `Settings.bundle`.
    package static let settingKeys = 128

    /// Bytes of a key of a setting.
    package static let settingKeyBytes = 128

    /// Bytes of the value of a setting.
    package static let settingValueBytes = 4 << 10

    /// Values that one setting can have.
    static let settingChoices = 256

    /// Characters of a title that are kept.
    static let settingTitleCharacters = 256

    /// Bundles in one folder; those after the limit, by name, are left out.
    package static let bundlesInFolder = 1_000

    /// Types and legacy tags that one bundle claims.
    package static let claims = 512

    /// URL schemes that one bundle claims.
    package static let schemes = 64

    /// Activities that one bundle brings.
    package static let activities = 32

    /// Bytes of a URL scheme.
    package static let schemeBytes = 64

    /// Types that one bundle declares.
    package static let declarations = 256

    /// Paths under `WaftReadablePaths`, and as many under `WaftWritablePaths`.
    package static let namedPaths = 64

    /// Bytes of `CFBundleVersion`.
    package static let versionBytes = 128

    /// Seconds under `WaftTimeout`.
    package static let timeoutSeconds = 86_400

    /// Bytes of a URL.
    package static let urlBytes = 8 << 10

    /// Bytes of a program that is copied into a bundle.
    package static let programBytes = 256 << 20
}
