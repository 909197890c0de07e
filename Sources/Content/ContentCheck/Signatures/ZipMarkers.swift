internal import UniformTypes

/// The identifying names that a zip archive has.
struct ZipMarkers: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    static let contentTypes = ZipMarkers(rawValue: 1 << 0)
    static let word = ZipMarkers(rawValue: 1 << 1)
    static let excel = ZipMarkers(rawValue: 1 << 2)
    static let powerPoint = ZipMarkers(rawValue: 1 << 3)
    static let macros = ZipMarkers(rawValue: 1 << 4)
    static let openDocument = ZipMarkers(rawValue: 1 << 5)
    static let epub = ZipMarkers(rawValue: 1 << 6)
    static let javaManifest = ZipMarkers(rawValue: 1 << 7)
    static let javaClasses = ZipMarkers(rawValue: 1 << 8)
    static let webApplication = ZipMarkers(rawValue: 1 << 9)
    static let androidManifest = ZipMarkers(rawValue: 1 << 10)
    static let phoneApplication = ZipMarkers(rawValue: 1 << 11)
    static let pass = ZipMarkers(rawValue: 1 << 12)
    static let iWork = ZipMarkers(rawValue: 1 << 13)
    static let scene = ZipMarkers(rawValue: 1 << 14)
    static let fixedDocument = ZipMarkers(rawValue: 1 << 15)

    init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The markers of one name. Case is ignored, because systems that run such a file ignore it.
    init(name: some Collection<UInt8>) {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        self = []
        switch text {
        case "[content_types].xml": insert(.contentTypes)
        case "meta-inf/manifest.xml": insert(.openDocument)
        case "meta-inf/container.xml": insert(.epub)
        case "meta-inf/manifest.mf": insert(.javaManifest)
        case "androidmanifest.xml": insert(.androidManifest)
        case "pass.json": insert(.pass)
        case "index.zip", "index.xml", "index.apxl", "index.xml.gz", "index.apxl.gz": insert(.iWork)
        case "ofd.xml": insert(.fixedDocument)
        default: break
        }
        if text.hasPrefix("word/") { insert(.word) }
        if text.hasPrefix("xl/") { insert(.excel) }
        if text.hasPrefix("ppt/") { insert(.powerPoint) }
        if text.hasPrefix("index/") { insert(.iWork) }
        if text.hasPrefix("web-inf/") { insert(.webApplication) }
        if text.hasPrefix("payload/"), text.contains(".app/") { insert(.phoneApplication) }
        if text.hasSuffix("vbaproject.bin") { insert(.macros) }
        if text.hasSuffix(".class") || text == "classes.dex" { insert(.javaClasses) }
        if text.hasSuffix(".usdc") || text.hasSuffix(".usda") || text.hasSuffix(".usd") { insert(.scene) }
    }
}

/// A kind of zip archive that its names identify.
enum ZipFamily: CaseIterable, Hashable, Sendable {
    // Families of programs come first: the first matching family names the archive.
    case phoneApplication
    case androidApplication
    case webApplication
    case javaArchive
    case word
    case excel
    case powerPoint
    case openDocument
    case epub
    case pass
    case iWork
    case scene
    case fixedDocument

    /// Whether an archive with these names in it can be read as one of the family.
    func holds(_ markers: ZipMarkers) -> Bool {
        switch self {
        case .word: markers.isSuperset(of: [.contentTypes, .word])
        case .excel: markers.isSuperset(of: [.contentTypes, .excel])
        case .powerPoint: markers.isSuperset(of: [.contentTypes, .powerPoint])
        case .openDocument: markers.contains(.openDocument)
        case .epub: markers.contains(.epub)
        case .javaArchive: markers.isSuperset(of: [.javaManifest, .javaClasses])
        case .webApplication: markers.contains(.webApplication)
        case .androidApplication: markers.contains(.androidManifest)
        case .phoneApplication: markers.contains(.phoneApplication)
        case .pass: markers.contains(.pass)
        case .iWork: markers.contains(.iWork)
        case .scene: markers.contains(.scene)
        case .fixedDocument: markers.contains(.fixedDocument)
        }
    }

    /// Whether its members are programs. Not all of their types conform to a program's type.
    var runs: Bool {
        switch self {
        case .javaArchive, .webApplication, .androidApplication, .phoneApplication: true
        default: false
        }
    }

    /// The type of an archive of the family. iWork's names are alike, so it is the best known type of that family.
    func type(_ markers: ZipMarkers) -> UniformType {
        let macros = markers.contains(.macros)
        return switch self {
        case .word:
            macros
                ? .known("org.openxmlformats.wordprocessingml.document.macroenabled")
                : .known("org.openxmlformats.wordprocessingml.document")
        case .excel:
            macros
                ? .known("org.openxmlformats.spreadsheetml.sheet.macroenabled")
                : .known("org.openxmlformats.spreadsheetml.sheet")
        case .powerPoint:
            macros
                ? .known("org.openxmlformats.presentationml.presentation.macroenabled")
                : .known("org.openxmlformats.presentationml.presentation")
        case .openDocument: .known("org.oasis-open.opendocument")
        case .epub: .epub
        case .javaArchive: .known("com.sun.java-archive")
        case .webApplication: .known("com.sun.web-application-archive")
        case .androidApplication: .known("vnd.android.package-archive")
        case .phoneApplication: .known("com.apple.itunes.ipa")
        case .pass: .known("com.apple.pkpass-data")
        case .iWork: .known("com.apple.iWork.Pages.sffpages")
        case .scene: .known("com.pixar.universal-scene-description-mobile")
        case .fixedDocument: .known("public.ofd")
        }
    }

    /// The types that an archive of the family may rightly have.
    var members: [UniformType] {
        switch self {
        case .word:
            [
                .known("org.openxmlformats.wordprocessingml.document"),
                .known("org.openxmlformats.wordprocessingml.document.macroenabled"),
                .known("org.openxmlformats.wordprocessingml.template"),
                .known("org.openxmlformats.wordprocessingml.template.macroenabled"),
            ]
        case .excel:
            [
                .known("org.openxmlformats.spreadsheetml.sheet"),
                .known("org.openxmlformats.spreadsheetml.sheet.macroenabled"),
                .known("org.openxmlformats.spreadsheetml.template"),
                .known("org.openxmlformats.spreadsheetml.template.macroenabled"),
                .known("com.microsoft.excel.sheet.binary.macroenabled"),
                .known("com.microsoft.excel.openxml.addin"),
            ]
        case .powerPoint:
            [
                .known("org.openxmlformats.presentationml.presentation"),
                .known("org.openxmlformats.presentationml.presentation.macroenabled"),
                .known("org.openxmlformats.presentationml.slideshow"),
                .known("org.openxmlformats.presentationml.slideshow.macroenabled"),
                .known("org.openxmlformats.presentationml.template"),
                .known("org.openxmlformats.presentationml.template.macroenabled"),
                .known("com.microsoft.powerpoint.ppam"),
            ]
        case .openDocument:
            [
                .known("org.oasis-open.opendocument"), .known("org.oasis-open.opendocument.database"),
                .known("org.openoffice.formula"), .known("org.openoffice.graphics"),
                .known("org.openoffice.graphics-template"), .known("org.openoffice.presentation"),
                .known("org.openoffice.presentation-template"), .known("org.openoffice.spreadsheet"),
                .known("org.openoffice.spreadsheet-template"), .known("org.openoffice.text"),
                .known("org.openoffice.text-master"), .known("org.openoffice.text-template"),
            ]
        case .epub: [.epub, .known("com.apple.ibooks-container")]
        case .javaArchive: [.known("com.sun.java-archive")]
        case .webApplication: [.known("com.sun.web-application-archive")]
        case .androidApplication: [.known("vnd.android.package-archive")]
        case .phoneApplication: [.known("com.apple.itunes.ipa"), .known("com.apple.iphone.package-archive")]
        case .pass: [.known("com.apple.pkpass-data")]
        case .iWork:
            [
                .known("com.apple.iWork.Keynote.sffkey"), .known("com.apple.iWork.Keynote.sffkth"),
                .known("com.apple.iWork.Numbers.sffnumbers"), .known("com.apple.iWork.Numbers.sfftemplate"),
                .known("com.apple.iWork.Pages.sffpages"), .known("com.apple.iWork.Pages.sfftemplate"),
            ]
        case .scene: [.known("com.pixar.universal-scene-description-mobile")]
        case .fixedDocument: [.known("public.ofd")]
        }
    }

    /// The family of archives for a type; nil if names do not identify it.
    static func of(_ lineage: some Sequence<UniformType>) -> ZipFamily? {
        lineage.lazy.compactMap { byMember[$0] }.first
    }

    private static let byMember: [UniformType: ZipFamily] = Dictionary(
        allCases.flatMap { family in family.members.map { ($0, family) } },
        uniquingKeysWith: { first, _ in first }
    )
}
