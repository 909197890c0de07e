internal import UniformTypes

extension Storage {
    /// The types that are stored in this form, besides those that conform to them.
    var formats: [UniformType] {
        switch self {
        case .zip: Self.zipFormats
        case .compoundFile: Self.compoundFileFormats
        case .isoMedia: Self.isoMovie.formats + Self.isoImage.formats + Self.isoAVIF.formats + Self.otherISOFormats
        case .isoMovie: Self.isoMovieFormats
        case .isoImage:
            [
                .heic, .known("public.heics"), .known("public.heif"), .known("public.heifs"), .known("public.avci"),
                .known("public.avcs"),
            ]
        case .isoAVIF: [.known("public.avif"), .known("public.avis")]
        case .riff:
            [
                .known("com.microsoft.waveform-audio"), .webP, .known("org.videolan.rmi"),
                .known("com.soundblaster.soundfont"), .known("public.downloadable-sound"),
            ] + Self.riffMovie.formats
        case .riffMovie: [.known("public.avi"), .known("org.videolan.divx")]
        case .matroska:
            [.known("org.matroska.mkv"), .known("org.matroska.mka"), .known("org.webmproject.webm")]
        case .ogg:
            [
                .known("org.xiph.ogg-audio"), .known("org.xiph.ogv"), .known("org.xiph.opus"),
                .known("org.videolan.axa"), .known("org.videolan.axv"),
                // The type of `.spx`: in all likelihood Speex.
                .known("com.apple.systemprofiler.document"),
            ]
        case .asf: [.known("com.microsoft.advanced-systems-format"), .known("org.videolan.xesc")]
        case .tiff: [.known("public.camera-raw-image")]
        case .jpeg: [.known("public.mpo-image")]
        case .gzip:
            [
                .svg, .known("org.waft.blend"), .known("com.apple.scenekit.scene"),
                .known("com.apple.bom-compressed-cpio"), .known("gov.nih.nifti-1"), .known("public.xfd"),
            ]
        // Disk images begin with the first of their compressed blocks.
        case .bzip2: [.known("com.apple.bom-compressed-cpio"), .known("com.apple.disk-image")]
        case .xz: [.known("org.tukaani.tar-xz-archive"), .known("com.apple.disk-image")]
        case .zstd: [.known("org.waft.blend")]
        case .unixArchive: [.known("org.debian.deb-archive")]
        case .tar: []
        case .pdf, .postScript: [.known("com.adobe.illustrator.ai-image")]
        case .palmDatabase: [.known("org.waft.mobi"), .known("org.waft.azw3")]
        case .mpegStream: Self.mpegStreamFormats
        case .id3:
            [
                .mp3, .known("public.mp2"), .known("public.aac-audio"), .known("org.xiph.flac"),
                .known("org.videolan.tta"), .known("org.videolan.ape"), .known("org.videolan.mpc"),
            ]
        case .aiff: [.known("public.aifc-audio")]
        case .sfnt: [.known("public.opentype-font"), .known("public.truetype-font")]
        case .xar: [.known("com.apple.installer-package-archive")]
        case .photoshop: [.known("com.adobe.photoshop-image"), .known("com.adobe.photoshop-large-image")]
        case .sqlite: []
        case .xml: Self.writtenAsText
        }
    }

    private static var zipFormats: [UniformType] {
        [
            .known("org.openxmlformats.openxml"), .known("com.microsoft.excel.sheet.binary.macroenabled"),
            .known("com.microsoft.excel.openxml.addin"), .known("com.microsoft.powerpoint.ppam"),
            .known("com.microsoft.office.openxml.theme"), .known("org.oasis-open.opendocument"),
            .known("org.oasis-open.opendocument.database"), .known("org.openoffice.formula"),
            .known("org.openoffice.graphics"), .known("org.openoffice.graphics-template"),
            .known("org.openoffice.presentation"), .known("org.openoffice.presentation-template"),
            .known("org.openoffice.spreadsheet"), .known("org.openoffice.spreadsheet-template"),
            .known("org.openoffice.text"), .known("org.openoffice.text-master"),
            .known("org.openoffice.text-template"), .epub, .known("vnd.android.package-archive"),
            .known("com.apple.itunes.ipa"), .known("com.apple.itunes.ipsw"),
            .known("com.apple.iphone.package-archive"), .known("com.sun.java-archive"),
            .known("com.macitbetter.cbz-archive"), .known("com.apple.pkpass-data"),
            .known("com.apple.pkpasses-data"), .known("com.pixar.universal-scene-description-mobile"),
            .known("com.apple.reality"), .known("com.apple.iWork.Keynote.sffkey"),
            .known("com.apple.iWork.Keynote.sffkth"), .known("com.apple.iWork.Numbers.sffnumbers"),
            .known("com.apple.iWork.Numbers.sfftemplate"), .known("com.apple.iWork.Pages.sffpages"),
            .known("com.apple.iWork.Pages.sfftemplate"), .known("com.apple.iwork.keynote.kpdc"),
            .known("com.apple.ibooks-container"), .known("com.apple.ibooksauthor.book"), .known("public.ofd"),
            .known("com.apple.watchface"), .known("com.google.earth.kml"),
        ]
    }

    private static var compoundFileFormats: [UniformType] {
        [
            .known("com.microsoft.word.doc"), .known("com.microsoft.word.dot"), .known("com.microsoft.excel.xls"),
            .known("com.microsoft.excel.xla"), .known("com.microsoft.excel.xlb"), .known("com.microsoft.excel.xld"),
            .known("com.microsoft.excel.xlm"), .known("com.microsoft.excel.xlt"), .known("com.microsoft.excel.xlw"),
            .known("com.microsoft.powerpoint.ppt"), .known("com.microsoft.powerpoint.pps"),
            .known("com.microsoft.powerpoint.pot"), .known("com.microsoft.powerpoint.ppa"), .known("org.waft.msg"),
            .known("com.microsoft.outlook.template"), .known("org.waft.msi"), .known("com.kodak.flashpix-image"),
            .known("org.aafassociation.advanced-authoring-format"), .known("org.openoffice.text"),
            .known("org.openoffice.spreadsheet"), .known("org.openoffice.presentation"),
            .known("org.openoffice.graphics"), .known("org.openoffice.formula"),
            // Encrypted.
            .known("org.openxmlformats.openxml"), .known("com.microsoft.excel.sheet.binary.macroenabled"),
        ]
    }

    private static var isoMovieFormats: [UniformType] {
        [
            .mpeg4Movie, .quickTimeMovie, .known("public.mpeg-4-audio"), .known("com.apple.protected-mpeg-4-audio"),
            .known("com.apple.protected-mpeg-4-video"), .known("com.apple.immersive-video"), .known("public.3gpp"),
            .known("public.3gpp2"), .known("com.adobe.flash.video"), .known("com.audible.aa-audio"),
        ]
    }

    private static var otherISOFormats: [UniformType] { [.known("com.canon.cr3-raw-image")] }

    private static var mpegStreamFormats: [UniformType] {
        [
            .known("public.mpeg"), .known("public.mpeg-2-video"), .known("public.mpeg-2-transport-stream"),
            .known("org.videolan.mpeg-stream"), .known("org.videolan.vob"), .known("org.videolan.vro"),
            .known("org.videolan.tod"), .known("org.videolan.rec"), .known("org.videolan.mod"),
        ]
    }

    /// Types that do not conform to `public.text` and are, or may be, written as text.
    private static var writtenAsText: [UniformType] {
        [
            .known("com.apple.property-list"), .known("com.apple.internet-location"),
            .known("com.apple.mail.email"), .known("com.apple.mail.emlx"), .known("public.email-message"),
            .known("com.c-command.mbox"), .known("com.microsoft.word.mhtml"), .known("public.stored-url"),
            .known("com.microsoft.internet-shortcut"), .known("com.microsoft.excel.slk"),
            .known("com.microsoft.word.dictionary"), .known("com.adobe.postscript"),
            .known("com.adobe.postscript-font"), .known("com.adobe.xfdf"), .known("com.adobe.fdf"),
            .known("com.adobe.etd"), .known("com.autodesk.dxf"), .known("public.x509-certificate"),
            .known("public.log"), .known("public.uuencoded-archive"), .known("com.apple.binhex-archive"),
            .known("public.playlist"), .known("org.videolan.vlc"), .known("public.xbitmap-image"),
            .known("public.pbm"), .known("public.polygon-file-format"),
            .known("public.standard-tesselated-geometry-format"), .known("com.pixar.universal-scene-description"),
            .known("org.waft.step"), .known("org.waft.fbx"), .known("com.apple.webarchive"),
            .known("com.apple.finder.smart-folder"), .known("com.apple.terminal.session"),
            .known("com.apple.photos.apple-adjustment-envelope"), .known("com.apple.itunes.podcast"),
            .known("com.apple.scenekit.scene"), .known("vnd.oasis.opendocument.text-flat-xml"),
            .known("vnd.oasis.opendocument.spreadsheet-flat-xml"),
            .known("vnd.oasis.opendocument.presentation-flat-xml"),
            .known("vnd.oasis.opendocument.graphics-flat-xml"),
        ]
    }
}

extension Storage {
    /// The forms of storage by the types that are stored in them, and by the types that name only a form of storage.
    private static let byFormat: [UniformType: [Storage]] = Dictionary(
        grouping: allCases.flatMap { storage in storage.formats.map { ($0, storage) } },
        by: \.0
    ).mapValues { $0.map(\.1) }

    private static let byPlainType: [UniformType: Storage] = Dictionary(
        allCases.flatMap { storage in storage.plain.map { ($0, storage) } },
        uniquingKeysWith: { first, _ in first }
    )

    private static let byMIMEType: [String: Storage] = Dictionary(
        allCases.compactMap { storage in storage.plainMIMEType.map { ($0, storage) } },
        uniquingKeysWith: { first, _ in first }
    )

    /// The forms in which a type is stored. `lineage` is the type and all its supertypes.
    static func of(_ lineage: some Sequence<UniformType>) -> Set<Storage> {
        Set(lineage.flatMap { byFormat[$0] ?? [] })
    }

    /// The form of storage that a type names, if the type names nothing more.
    init?(plain type: UniformType) {
        guard let storage = Self.byPlainType[type] else { return nil }
        self = storage
    }

    init?(plainMIMEType: String) {
        guard let storage = Self.byMIMEType[plainMIMEType] else { return nil }
        self = storage
    }
}
