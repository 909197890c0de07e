internal import UniformTypes

/// How formats are stored: a form that several of them share, so that finding it says less than finding a format.
///
/// A docx *is stored in* a zip archive and does not conform to one; it is no lie that it looks like one.
enum Storage: CaseIterable, Hashable, Sendable {
    case zip
    /// OLE2, structured storage: Office until 2003, and Office's encrypted documents today.
    case compoundFile
    /// Boxes with a file type box first (ISO 14496-12), of an unknown brand.
    case isoMedia
    /// Films and sound in it, whose brands say little.
    case isoMovie
    case isoImage
    case isoAVIF
    case riff
    case riffMovie
    case matroska
    case ogg
    case asf
    case tiff
    case jpeg
    case gzip
    case bzip2
    case xz
    case zstd
    /// The archives of `ar`.
    case unixArchive
    case tar
    case pdf
    case postScript
    /// Databases of Palm OS.
    case palmDatabase
    case mpegStream
    /// An ID3 tag, which sound of any kind may follow.
    case id3
    case aiff
    case sfnt
    case xar
    case photoshop
    case sqlite
    case xml

    /// The types that name only this form of storage.
    var plain: [UniformType] {
        switch self {
        case .zip: [.zip, .known("com.pkware.zip-archive")]
        case .tiff: [.tiff]
        case .jpeg: [.jpeg]
        case .gzip: [.gzip]
        case .bzip2: [.known("public.bzip2-archive")]
        case .xz: [.known("org.tukaani.xz-archive")]
        case .zstd: [.known("org.waft.zst")]
        case .tar: [.tar, .known("org.gnu.gnu-tar-archive")]
        case .pdf: [.pdf]
        case .postScript: [.known("com.adobe.postscript")]
        case .asf: [.known("com.microsoft.advanced-systems-format")]
        case .xar: [.known("com.apple.xar-archive")]
        case .sqlite: [.known("org.sqlite.sqlite")]
        case .xml: [.xml]
        default: []
        }
    }

    /// The MIME type of this form in the shared MIME database.
    var plainMIMEType: String? {
        switch self {
        case .zip: "application/zip"
        case .compoundFile: "application/x-ole-storage"
        case .riff: "application/x-riff"
        case .matroska: "application/x-matroska"
        case .ogg: "application/ogg"
        case .gzip: "application/gzip"
        case .bzip2: "application/x-bzip"
        case .xz: "application/x-xz"
        case .zstd: "application/zstd"
        case .unixArchive: "application/x-archive"
        case .tar: "application/x-tar"
        case .tiff: "image/tiff"
        case .pdf: "application/pdf"
        case .asf: "application/vnd.ms-asf"
        case .sqlite: "application/vnd.sqlite3"
        case .xml: "application/xml"
        default: nil
        }
    }

    /// Whether each format in this form may have the type of any other: the signatures, or people, do not distinguish
    /// them.
    var isLoose: Bool {
        switch self {
        case .isoMovie, .isoImage, .isoAVIF, .riffMovie, .matroska, .ogg, .asf, .tiff, .palmDatabase, .mpegStream, .id3,
            .aiff, .sfnt, .photoshop, .jpeg:
            true
        default: false
        }
    }

    /// Whether formats of all kinds are stored in this form, also those of unknown programs.
    var isGeneral: Bool {
        switch self {
        case .zip, .compoundFile, .isoMedia, .riff, .matroska, .ogg, .tiff, .gzip, .bzip2, .xz, .zstd, .unixArchive,
            .tar, .sqlite, .xml:
            true
        default: false
        }
    }

    /// In words, for "stored as …".
    var words: String {
        switch self {
        case .zip: "a zip archive"
        case .compoundFile: "an OLE2 compound file"
        case .isoMedia, .isoMovie, .isoImage, .isoAVIF: "an ISO media file"
        case .riff, .riffMovie: "a RIFF file"
        case .matroska: "a Matroska file"
        case .ogg: "an Ogg file"
        case .asf: "an ASF file"
        case .tiff: "a TIFF file"
        case .jpeg: "a JPEG file"
        case .gzip: "gzip data"
        case .bzip2: "bzip2 data"
        case .xz: "xz data"
        case .zstd: "Zstandard data"
        case .unixArchive: "an ar archive"
        case .tar: "a tar archive"
        case .pdf: "a PDF document"
        case .postScript: "a PostScript document"
        case .palmDatabase: "a Palm database"
        case .mpegStream: "an MPEG stream"
        case .id3: "sound with an ID3 tag"
        case .aiff: "an AIFF file"
        case .sfnt: "a font"
        case .xar: "a xar archive"
        case .photoshop: "a Photoshop document"
        case .sqlite: "a SQLite database"
        case .xml: "XML"
        }
    }
}
