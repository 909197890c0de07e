package import ContentCheck

/// The part of a file or folder that is shown for the whole. Its texts are the file's own: escape them for a terminal.
package enum Preview: Hashable, Sendable {
    /// The first lines of a text; source code, address cards and calendars are texts too.
    case text(TextPreview)
    /// The size of an image, by its header.
    case image(PixelSize)
    /// A PDF document: only other programs show more of it.
    case document
    /// The names in an archive. Nothing is unpacked.
    case archive(ArchiveListing)
    /// The names in a folder.
    case folder(FolderTree)
}

/// The bounds of previews. The claims of a file do not move them.
package enum PreviewBounds {
    /// Lines of a text that are shown unless the user asks for another number.
    package static let lines = 40
    /// Maximum number of lines that the user can ask for.
    package static let maximumLines = 10_000
    /// Bytes of a text that are read.
    package static let textBytes = 1 << 20
    /// Bytes of a line that are kept.
    package static let lineBytes = 4_096
    /// Maximum number of names of an archive.
    package static let members = 1_000
    /// Bytes of a name in an archive that are kept.
    package static let memberNameBytes = 1_024
    /// Bytes of an archive that are read for its names.
    package static let archiveBytes = 256 << 20
    /// Time to read the names of an archive.
    package static let archiveTime: Duration = .seconds(5)
    /// Levels of a folder.
    package static let levels = 3
    /// Names of a folder in all, and of one folder in it.
    package static let folderNames = 500
    package static let namesOfOneFolder = 100
    /// Names of one folder that are read; the others are not counted.
    package static let namesRead = 10_000
    /// Pixels of an image that another program may draw. A header can claim any number.
    package static let drawnPixels: UInt64 = 64 << 20
}

extension PixelSize {
    /// Whether it is small enough for a program that draws it.
    package var isDrawable: Bool { UInt64(width) * UInt64(height) <= PreviewBounds.drawnPixels }
}
