import PropertyLists
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
            do throws(BundleError) {
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

    /// The texts of `LANGUAGE.lproj/TABLE.strings` below a part of the bundle. Files that cannot be used are passed over.
    ///
    /// - Parameter table: foreign text.
    func texts(named table: String, under part: String, in languages: [String]) -> [String: String] {
        guard (try? SafeName(table)) != nil else { return [:] }
        var texts: [String: String] = [:]
        for language in languages {
            let found = try? strings("\(part)/\(language).lproj/\(table).strings")
            texts.merge(found ?? [:]) { first, _ in first }
        }
        return texts
    }

    /// - Returns: empty if there is no such file.
    private func strings(_ name: String) throws(BundleError) -> [String: String] {
        guard let bytes = try contents(of: name, limit: CatalogLimits.stringsBytes) else { return [:] }
        do throws(PropertyListError) {
            return try PropertyList.strings(from: bytes, within: CatalogLimits.propertyList)
        } catch {
            throw .file(name, "\(error)")
        }
    }

    /// The bytes of a file in the bundle, which no other user can change; nil if there is none.
    ///
    /// - Parameters:
    ///   - name: its path in the bundle.
    ///   - limit: maximum size in bytes, some KiB.
    func contents(of name: String, limit: Int) throws(BundleError) -> [UInt8]? {
        let bytes: [UInt8]
        do throws(SmallFile.AccessError) {
            bytes = try SmallFile.read(path + "/" + name, limit: limit)
        } catch {
            switch error {
            case .missing: return nil
            case .link: throw .file(name, "is a symbolic link")
            case .notRegular: throw .file(name, "is not a regular file")
            case .tooLarge: throw .file(name, "is larger than \(limit >> 10) KiB")
            case .system(let error): throw .file(name, "cannot be read: \(error)")
            }
        }
        guard let folder = Paths.real(path), let real = Paths.real(path + "/" + name),
            PathText.part(of: real, below: folder) != nil
        else { throw .file(name, "is outside the bundle") }
        try checkTrust(real, shownAs: name)
        return bytes
    }
}
