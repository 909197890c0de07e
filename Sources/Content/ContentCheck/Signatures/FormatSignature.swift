internal import UniformTypes

/// Recognises the commonest formats by their first bytes, on any machine.
///
/// It overrides the shared MIME database: it compares at offset 0, where a reader looks first, while some of the
/// database's rules search.
struct FormatSignature: Hashable, Sendable {
    /// nil for a form of storage, which does not name the format inside.
    var type: UniformType?
    var storage: Storage?

    init(_ type: UniformType?, _ storage: Storage? = nil) {
        self.type = type
        self.storage = storage
    }

    init?(_ head: UnsafeRawBufferPointer) {
        guard let signature = Self.structured(head) ?? Self.fixed(head) ?? Self.tar(head) else { return nil }
        self = signature
    }

    /// Formats that need more than the comparison of a fixed run of bytes.
    private static func structured(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        switch head.first {
        case UInt8(ascii: "R"): riff(head)
        case UInt8(ascii: "F"): iff(head)
        case 0x1A: matroska(head)
        case UInt8(ascii: "B"): bitmap(head) ?? bzip2(head)
        case 0x1F: gzip(head)
        case UInt8(ascii: "I") where head.starts(with: "ID3".utf8): id3(head)
        case UInt8(ascii: "!") where head.starts(with: "!<arch>\n".utf8): unixArchive(head)
        case UInt8(ascii: "O") where head.starts(with: "OggS".utf8): ogg(head)
        default: isoMedia(head)
        }
    }

    private static func fixed(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        for (bytes, signature) in table where head.starts(with: bytes) { return signature }
        return nil
    }

    /// The byte runs that `fixed` compares.
    private static let table: [([UInt8], FormatSignature)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], FormatSignature(.png)),
        ([0xFF, 0xD8, 0xFF], FormatSignature(.jpeg, .jpeg)),
        (Array("GIF87a".utf8), FormatSignature(.gif)),
        (Array("GIF89a".utf8), FormatSignature(.gif)),
        (Array("%PDF-".utf8), FormatSignature(.pdf, .pdf)),
        ([0x50, 0x4B, 0x03, 0x04], FormatSignature(.zip, .zip)),
        // Without any entry, and in several parts.
        ([0x50, 0x4B, 0x05, 0x06], FormatSignature(.zip, .zip)),
        ([0x50, 0x4B, 0x07, 0x08], FormatSignature(.zip, .zip)),
        ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], FormatSignature(nil, .compoundFile)),
        ([0x49, 0x49, 0x2A, 0x00], FormatSignature(.tiff, .tiff)),
        ([0x4D, 0x4D, 0x00, 0x2A], FormatSignature(.tiff, .tiff)),
        (Array("fLaC".utf8), FormatSignature(.known("org.xiph.flac"))),
        ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], FormatSignature(.known("org.7-zip.7-zip-archive"))),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], FormatSignature(.known("org.tukaani.xz-archive"), .xz)),
        ([0x28, 0xB5, 0x2F, 0xFD], FormatSignature(.known("org.waft.zst"), .zstd)),
        ([0x52, 0x61, 0x72, 0x21, 0x1A, 0x07], FormatSignature(.known("com.rarlab.rar-archive"))),
        (Array("{\\rtf".utf8), FormatSignature(.rtf)),
        (Array("8BPS".utf8), FormatSignature(.known("com.adobe.photoshop-image"), .photoshop)),
        (Array("SQLite format 3\0".utf8), FormatSignature(.known("org.sqlite.sqlite"), .sqlite)),
        (Array("#!AMR\n".utf8), FormatSignature(.known("org.3gpp.adaptive-multi-rate-audio"))),
        (Array("xar!".utf8), FormatSignature(.known("com.apple.xar-archive"), .xar)),
        (Array("%!PS".utf8), FormatSignature(.known("com.adobe.postscript"), .postScript)),
        (Array("MThd".utf8), FormatSignature(.known("public.midi-audio"))),
        ([0xED, 0xAB, 0xEE, 0xDB], FormatSignature(.known("com.redhat.rpm-archive"))),
        (Array("MSCF\0\0\0\0".utf8), FormatSignature(.known("com.microsoft.cab"))),
        (Array("OTTO".utf8), FormatSignature(.known("public.opentype-font"), .sfnt)),
        (Array("ttcf".utf8), FormatSignature(.known("public.truetype-collection-font"), .sfnt)),
        (Array("wOFF".utf8), FormatSignature(.known("org.waft.woff"))),
        (Array("wOF2".utf8), FormatSignature(.known("org.waft.woff2"))),
        (Array("glTF".utf8), FormatSignature(.known("org.waft.glb"))),
        (Array("BLENDER".utf8), FormatSignature(.known("org.waft.blend"))),
        (Array("Kaydara FBX Binary".utf8), FormatSignature(.known("org.waft.fbx"))),
        (Array("bplist00".utf8), FormatSignature(.known("com.apple.binary-property-list"))),
        (Array("PAR1".utf8), FormatSignature(.known("org.waft.parquet"))),
        (
            [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11],
            FormatSignature(.known("com.microsoft.advanced-systems-format"), .asf)
        ),
        ([0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20], FormatSignature(.known("public.jpeg-2000"))),
        ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20], FormatSignature(.known("public.jpeg-xl"))),
    ]

    /// The types that can be found here.
    static var recognizable: Set<UniformType> {
        var types: Set<UniformType> = [
            .known("com.microsoft.waveform-audio"), .known("public.avi"), .webP, .known("public.aifc-audio"),
            .known("com.microsoft.bmp"), .known("public.bzip2-archive"), .gzip, .mp3, .tar,
            .known("org.debian.deb-archive"),
        ]
        types.formUnion(table.compactMap(\.1.type))
        return types
    }
}
