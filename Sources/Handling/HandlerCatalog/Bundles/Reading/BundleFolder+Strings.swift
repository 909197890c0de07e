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

    /// - Returns: empty if there is no such file.
    private func strings(_ name: String) throws(BundleError) -> [String: String] {
        let bytes: [UInt8]
        do throws(SmallFile.AccessError) {
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
        do throws(PropertyListError) {
            return try PropertyList.strings(from: bytes, within: CatalogLimits.propertyList)
        } catch {
            throw .strings(name, "\(error)")
        }
    }
}
