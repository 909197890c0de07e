internal import UniformTypes

extension FormatSignature {
    /// Little-endian; nil beyond the end.
    private static func word(_ head: UnsafeRawBufferPointer, at offset: Int) -> UInt32? {
        guard offset <= head.count - 4 else { return nil }
        return UInt32(littleEndian: head.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Four characters.
    private static func code(_ head: UnsafeRawBufferPointer, at offset: Int) -> String? {
        guard offset <= head.count - 4 else { return nil }
        return String(decoding: head[offset..<offset + 4], as: UTF8.self)
    }

    static func riff(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard let start = code(head, at: 0), start == "RIFF" || start == "RIFX" else { return nil }
        return switch code(head, at: 8) {
        case "WAVE": FormatSignature(.known("com.microsoft.waveform-audio"), .riff)
        case "AVI ": FormatSignature(.known("public.avi"), .riff)
        case "WEBP": FormatSignature(.webP, .riff)
        case "RMID": FormatSignature(.known("org.videolan.rmi"), .riff)
        case "sfbk": FormatSignature(.known("com.soundblaster.soundfont"), .riff)
        case "DLS ": FormatSignature(.known("public.downloadable-sound"), .riff)
        default: FormatSignature(nil, .riff)
        }
    }

    static func iff(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard code(head, at: 0) == "FORM", let kind = code(head, at: 8), kind == "AIFF" || kind == "AIFC" else {
            return nil
        }
        return FormatSignature(kind == "AIFF" ? .known("public.aiff-audio") : .known("public.aifc-audio"), .aiff)
    }

    /// EBML with the document type among its first elements (RFC 8794, RFC 9559).
    static func matroska(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
        let start = Array(head.prefix(64))
        for position in 4..<max(4, start.count - 2) where start[position] == 0x42 && start[position + 1] == 0x82 {
            let length = Int(start[position + 2] & 0x7F)
            let name = String(decoding: start[(position + 3)...].prefix(length), as: UTF8.self)
            if name.hasPrefix("webm") { return FormatSignature(.known("org.webmproject.webm"), .matroska) }
            if name.hasPrefix("matroska") { return FormatSignature(.known("org.matroska.mkv"), .matroska) }
        }
        return FormatSignature(nil, .matroska)
    }

    /// Two letters are not enough: the size of the second header is checked as well.
    static func bitmap(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard head.starts(with: "BM".utf8), let size = word(head, at: 14),
            [12, 16, 40, 52, 56, 64, 108, 124].contains(size)
        else { return nil }
        return FormatSignature(.known("com.microsoft.bmp"))
    }

    static func bzip2(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard head.count >= 10, head.starts(with: "BZh".utf8), (0x31...0x39).contains(head[3]) else { return nil }
        // The first block, or the end of nothing.
        let block = head[4..<10]
        guard
            block.elementsEqual([0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
                || block.elementsEqual([0x17, 0x72, 0x45, 0x38, 0x50, 0x90])
        else { return nil }
        return FormatSignature(.known("public.bzip2-archive"), .bzip2)
    }

    static func gzip(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        // Deflate, and no flag that is reserved (RFC 1952).
        guard head.starts(with: [0x1F, 0x8B, 0x08]), head.count >= 4, head[3] & 0xE0 == 0 else { return nil }
        return FormatSignature(.gzip, .gzip)
    }

    static func id3(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        // A version below 255 and a size in bytes of seven bits (ID3v2.4, 3.1).
        guard head.count >= 10, head[3] != 0xFF, head[4] != 0xFF, head[6..<10].allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        return FormatSignature(.mp3, .id3)
    }

    static func unixArchive(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        let isDebian = head.dropFirst(8).starts(with: "debian-binary".utf8)
        return FormatSignature(isDebian ? .known("org.debian.deb-archive") : nil, .unixArchive)
    }

    /// By the first packet of the first stream.
    static func ogg(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard head.count > 27 else { return FormatSignature(nil, .ogg) }
        let packet = head.dropFirst(27 + Int(head[26]))
        let type: UniformType? =
            if packet.starts(with: "\u{1}vorbis".utf8) || packet.starts(with: "Speex   ".utf8)
                || packet.starts(with: "\u{7F}FLAC".utf8)
            {
                .known("org.xiph.ogg-audio")
            } else if packet.starts(with: "OpusHead".utf8) {
                .known("org.xiph.opus")
            } else if packet.starts(with: [0x80] + Array("theora".utf8)) {
                .known("org.xiph.ogv")
            } else {
                nil
            }
        return FormatSignature(type, .ogg)
    }

    static func tar(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard head.count >= 265 else { return nil }
        let mark = head[257..<265]
        guard mark.starts(with: "ustar\0".utf8) || mark.elementsEqual("ustar  \0".utf8) else { return nil }
        return FormatSignature(.tar, .tar)
    }

    /// A file type box. Its main brand decides; if that brand is generic, the others decide.
    static func isoMedia(_ head: UnsafeRawBufferPointer) -> FormatSignature? {
        guard code(head, at: 4) == "ftyp", let main = code(head, at: 8) else { return nil }
        let size = word(head, at: 0).map { Int($0.byteSwapped) } ?? 0
        let end = min(size, head.count, 256)
        let brands = [main] + stride(from: 16, to: end - 3, by: 4).compactMap { code(head, at: $0) }
        if let signature = brand(main) { return signature }
        let others = brands.compactMap { brand($0) }
        return others.first { $0.storage == .isoAVIF || $0.type == .heic } ?? others.first
            ?? (main.hasPrefix("mif") || main.hasPrefix("msf")
                ? FormatSignature(.known("public.heif"), .isoImage) : FormatSignature(nil, .isoMedia))
    }

    private static func brand(_ brand: String) -> FormatSignature? {
        switch brand {
        case "heic", "heix", "heim", "heis": return FormatSignature(.heic, .isoImage)
        case "hevc", "hevx", "hevm", "hevs": return FormatSignature(.known("public.heics"), .isoImage)
        case "avci": return FormatSignature(.known("public.avci"), .isoImage)
        case "avcs": return FormatSignature(.known("public.avcs"), .isoImage)
        case "avif": return FormatSignature(.known("public.avif"), .isoAVIF)
        case "avis": return FormatSignature(.known("public.avis"), .isoAVIF)
        case "crx ": return FormatSignature(.known("com.canon.cr3-raw-image"), .isoMedia)
        case "qt  ": return FormatSignature(.quickTimeMovie, .isoMovie)
        case "M4A ": return FormatSignature(.known("com.apple.m4a-audio"), .isoMovie)
        case "M4B ": return FormatSignature(.known("com.apple.protected-mpeg-4-audio-b"), .isoMovie)
        case "M4P ": return FormatSignature(.known("com.apple.protected-mpeg-4-audio"), .isoMovie)
        case "M4V ", "M4VH", "M4VP": return FormatSignature(.known("com.apple.m4v-video"), .isoMovie)
        case "aax ": return FormatSignature(.known("com.audible.aax-audiobook"), .isoMovie)
        case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "mp71", "avc1",
            "dash", "MSNV", "f4v ", "F4V ", "F4A ", "hvc1":
            return FormatSignature(.mpeg4Movie, .isoMovie)
        default:
            if brand.hasPrefix("3g2") { return FormatSignature(.known("public.3gpp2"), .isoMovie) }
            if brand.hasPrefix("3g") { return FormatSignature(.known("public.3gpp"), .isoMovie) }
            return nil
        }
    }
}
