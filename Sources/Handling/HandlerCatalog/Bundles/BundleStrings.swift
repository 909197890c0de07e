import Sharing
import SystemCalls

extension BundleFolder {
    /// The texts of a bundle in the user's languages, from `LANGUAGE.lproj/InfoPlist.strings`: by the key
    /// `CFBundleName`, and for other names by the name itself. The first language that has a text counts.
    ///
    /// - Parameter warn: called for each file that cannot be used; the bundle is used all the same.
    func texts(in languages: [String], warn: (String) -> Void) -> [String: String] {
        var texts: [String: String] = [:]
        for language in languages {
            let name = language + ".lproj/InfoPlist.strings"
            do throws(BundleFault) {
                texts.merge(try strings(name)) { first, _ in first }
            } catch {
                warn("\(error)")
            }
        }
        let unfit = texts.filter { (try? SafeName($0.value.replacing("/", with: "-"))) == nil }
        if unfit[HandlerBundle.nameKey] != nil {
            warn("the translation of \(HandlerBundle.nameKey) cannot be shown")
        }
        // Other keys of such files have long texts.
        return texts.filter { unfit[$0.key] == nil }
    }

    /// - Returns: empty if there is no such file.
    private func strings(_ name: String) throws(BundleFault) -> [String: String] {
        let bytes: [UInt8]
        do throws(SmallFile.Fault) {
            bytes = try SmallFile.read(path + "/" + name, limit: CatalogLimits.stringsBytes)
        } catch {
            switch error {
            case .missing: return [:]
            case .link: throw .strings(name, "is a symbolic link")
            case .notRegular: throw .strings(name, "is not a regular file")
            case .tooLarge: throw .strings(name, "is larger than \(CatalogLimits.stringsBytes >> 10) KiB")
            case .system(let error): throw .strings(name, "cannot be read: \(error)")
            }
        }
        guard let folder = Paths.real(path), let real = Paths.real(path + "/" + name),
            PathText.part(of: real, below: folder) != nil
        else { throw .strings(name, "is outside the bundle") }
        try checkTrust(real, shownAs: name)
        do throws(PropertyListFault) {
            return try PropertyList.strings(from: bytes)
        } catch {
            throw .strings(name, "\(error)")
        }
    }
}

extension PropertyList {
    /// Reads a `.strings` file: an XML or binary property list, or old-style text in UTF-8 or UTF-16.
    static func strings(from bytes: [UInt8]) throws(PropertyListFault) -> [String: String] {
        if bytes.starts(with: BinaryPropertyList.magic) { return texts(try dictionary(from: bytes)) }
        guard let text = try decoded(bytes) else { throw .malformed("it is neither UTF-8 nor UTF-16") }
        if text.first(where: { !$0.isWhitespace }) == "<" { return texts(try dictionary(from: Array(text.utf8))) }
        return try StringsText.read(text)
    }

    /// Text in UTF-8, or in UTF-16 with a byte order mark.
    private static func decoded(_ bytes: [UInt8]) throws(PropertyListFault) -> String? {
        let isBigEndian = bytes.starts(with: [0xFE, 0xFF] as [UInt8])
        guard isBigEndian || bytes.starts(with: [0xFF, 0xFE] as [UInt8]) else {
            let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF] as [UInt8])
            return String(validating: bytes.dropFirst(hasMark ? 3 : 0), as: UTF8.self)
        }
        guard bytes.count.isMultiple(of: 2) else { throw .malformed("it is cut short") }
        var units: [UInt16] = []
        for index in stride(from: 2, to: bytes.count, by: 2) {
            let (high, low) = isBigEndian ? (index, index + 1) : (index + 1, index)
            units.append(UInt16(bytes[high]) << 8 | UInt16(bytes[low]))
        }
        return String(validating: units, as: UTF16.self)
    }

    /// The texts among the values.
    private static func texts(_ values: [String: PropertyList]) -> [String: String] {
        values.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
    }
}
