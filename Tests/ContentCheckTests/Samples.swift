/// Builds contents of all kinds. They are small, and only their first bytes are genuine.
enum Samples {
    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Filled up to a length with bytes that never occur in text.
    static func padded(_ start: [UInt8], to count: Int = 512) -> [UInt8] {
        start + [UInt8](repeating: 0x00, count: max(0, count - start.count - 4)) + [0x01, 0x02, 0x03, 0x80]
    }

    static let elf = padded([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0x3E, 0])
    static let windows = padded([0x4D, 0x5A, 0x90, 0x00, 0x03, 0x00])
    static let machO = padded([0xCF, 0xFA, 0xED, 0xFE, 0x07, 0x00, 0x00, 0x01])
    static let universalMachO = padded([0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2])
    static let javaClass = padded([0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 65])
    static let webAssembly = padded([0x00, 0x61, 0x73, 0x6D, 1, 0, 0, 0])
    static let dex = padded(bytes("dex\n035\0"))
    static let shellScript = bytes("#!/bin/sh\necho hello\n")
    static let markedShellScript = [0xEF, 0xBB, 0xBF] + bytes("#!/bin/sh\necho hello\n")

    static let png = padded([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + bytes("IHDR"))
    static let jpeg = padded([0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + bytes("JFIF\0"))
    static let gif = padded(bytes("GIF89a"))
    static let pdf = padded(bytes("%PDF-1.4\n%\u{E2}\u{E3}"))
    static let tiff = padded([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0])
    static let bitmap = padded(bytes("BM") + [0, 2, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0])
    static let webP = padded(bytes("RIFF") + [0, 2, 0, 0] + bytes("WEBPVP8 "))
    static let wave = padded(bytes("RIFF") + [0, 2, 0, 0] + bytes("WAVEfmt "))
    static let avi = padded(bytes("RIFF") + [0, 2, 0, 0] + bytes("AVI LIST"))
    static let flac = padded(bytes("fLaC"))
    static let mp3 = padded(bytes("ID3") + [4, 0, 0, 0, 0, 2, 1])
    static let gzip = padded([0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 3])
    static let bzip2 = padded(bytes("BZh9") + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
    static let xz = padded([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0])
    static let zstd = padded([0x28, 0xB5, 0x2F, 0xFD])
    static let sevenZip = padded([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C])
    static let tar = [UInt8](repeating: 0x61, count: 8) + [UInt8](repeating: 0, count: 249) + padded(bytes("ustar\0"))
    static let debian = padded(bytes("!<arch>\ndebian-binary   "))
    static let matroska = padded([0x1A, 0x45, 0xDF, 0xA3, 0x8B, 0x42, 0x82, 0x88] + bytes("matroska"))
    static let webM = padded([0x1A, 0x45, 0xDF, 0xA3, 0x87, 0x42, 0x82, 0x84] + bytes("webm"))
    static let amr = padded(bytes("#!AMR\n"))
    static let sqlite = padded(bytes("SQLite format 3\0"))
    static let vorbis = ogg(bytes("\u{1}vorbis"))
    static let opus = ogg(bytes("OpusHead"))
    static let theora = ogg([0x80] + bytes("theora"))
    static let trueType = padded([0, 1, 0, 0, 0, 9, 0, 0x80])
    static let openType = padded(bytes("OTTO"))

    /// A polyglot that a database takes for a document: a kind of ELF header, then a PDF document at offset 57.
    static let polyglot: [UInt8] =
        [0x7F, 0x45, 0x4C, 0x46] + [UInt8](repeating: 0x41, count: 53) + bytes("%PDF-1.4\n1 0 obj\n")

    static func ogg(_ packet: [UInt8]) -> [UInt8] {
        padded(bytes("OggS") + [0, 2] + [UInt8](repeating: 0, count: 20) + [1, UInt8(packet.count)] + packet)
    }

    static func isoMedia(_ brand: String, _ others: String...) -> [UInt8] {
        let brands = bytes(others.joined())
        return padded([0, 0, 0, UInt8(16 + brands.count)] + bytes("ftyp" + brand) + [0, 0, 0, 0] + brands)
    }

    /// A compound file whose root has this class.
    static func compoundFile(_ identifier: [UInt8] = [UInt8](repeating: 0, count: 16)) -> [UInt8] {
        var file = [UInt8](repeating: 0, count: 1536)
        file.replaceSubrange(0..<8, with: [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1])
        file[30] = 9
        file[48] = 1
        file.replaceSubrange(1024 + 80..<1024 + 96, with: identifier)
        return file
    }

    static func officeClass(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> [UInt8] {
        [first, second, third, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46]
    }

    /// A zip archive with uncompressed entries.
    static func zip(_ entries: (name: String, content: String)...) -> [UInt8] { zip(entries) }

    static func zip(_ entries: [(name: String, content: String)]) -> [UInt8] {
        var file: [UInt8] = []
        var directory: [UInt8] = []
        for (name, content) in entries {
            let sizes = word(content.utf8.count) + word(content.utf8.count)
            let common = [20, 0, 0, 0, 0, 0, 0, 0, 0, 0] + word(0) + sizes + short(name.utf8.count) + short(0)
            directory += bytes("PK\u{1}\u{2}") + [20, 0] + common + [UInt8](repeating: 0, count: 10)
            directory += word(file.count) + bytes(name)
            file += bytes("PK\u{3}\u{4}") + common + bytes(name + content)
        }
        let end = bytes("PK\u{5}\u{6}") + [0, 0, 0, 0] + short(entries.count) + short(entries.count)
        return file + directory + end + word(directory.count) + word(file.count) + short(0)
    }

    static func names(_ names: String...) -> [UInt8] { zip(names.map { ($0, "content") }) }

    static func short(_ number: Int) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)] }
    static func word(_ number: Int) -> [UInt8] { short(number & 0xFFFF) + short(number >> 16 & 0xFFFF) }

    static let docx = names("[Content_Types].xml", "_rels/.rels", "word/document.xml")
    static let xlsx = names("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml")
    static let pptx = names("[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml")
    static let docm = names("[Content_Types].xml", "word/document.xml", "word/vbaProject.bin")
    static let jar = names("META-INF/MANIFEST.MF", "org/waft/Main.class")
    static let apk = names("AndroidManifest.xml", "classes.dex", "resources.arsc")
    static let plainZip = names("notes/a.txt", "notes/b.txt")
    static let epub = zip(("mimetype", "application/epub+zip"), ("META-INF/container.xml", "<container/>"))
    static let odt = zip(
        ("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", "<x/>"),
        ("META-INF/manifest.xml", "<x/>"))
}

/// Pseudo-random numbers, the same in each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
