import PropertyLists
import Sharing

/// Why a bundle cannot be used.
struct BundleError: Error, Hashable, CustomStringConvertible {
    private enum Code: Hashable {
        case notAFolder
        case noInfo
        case infoUnreadable(String)
        case info(PropertyListError)
        case missing(String)
        case wrongKind(String, expected: String, found: String)
        case unfit(String, String)
        case tooMany(String, Int)
        case executable(String, String)
        case writableByEveryone(String)
        case owner(String, UInt32)
        case reserved(BundleIdentifier)
        case file(String, String)
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    static let notAFolder = BundleError(.notAFolder)
    static let noInfo = BundleError(.noInfo)
    static func infoUnreadable(_ reason: String) -> BundleError { BundleError(.infoUnreadable(reason)) }
    static func info(_ fault: PropertyListError) -> BundleError { BundleError(.info(fault)) }
    static func missing(_ key: String) -> BundleError { BundleError(.missing(key)) }
    static func wrongKind(_ key: String, expected: String, found: PropertyList) -> BundleError {
        BundleError(.wrongKind(key, expected: expected, found: found.kind))
    }
    /// - Parameter reason: the fault of the value, after "KEY is not usable: ".
    static func unfit(_ key: String, _ reason: String) -> BundleError { BundleError(.unfit(key, reason)) }
    static func tooMany(_ what: String, _ limit: Int) -> BundleError { BundleError(.tooMany(what, limit)) }
    static func executable(_ name: String, _ reason: String) -> BundleError { BundleError(.executable(name, reason)) }
    static func writableByEveryone(_ name: String) -> BundleError { BundleError(.writableByEveryone(name)) }
    static func owner(_ name: String, _ owner: UInt32) -> BundleError { BundleError(.owner(name, owner)) }
    /// - Parameter reason: the fault, after the name of the file.
    static func file(_ name: String, _ reason: String) -> BundleError { BundleError(.file(name, reason)) }
    static func reserved(_ identifier: BundleIdentifier) -> BundleError { BundleError(.reserved(identifier)) }

    var description: String {
        switch code {
        case .notAFolder: "it is not a folder"
        case .noInfo: "it has no Info.plist"
        case .infoUnreadable(let reason): "its Info.plist cannot be read: \(reason)"
        case .info(let fault): "its Info.plist \(fault)"
        case .missing(let key): "its Info.plist has no \(key)"
        case .wrongKind(let key, let expected, let found): "\(key) should be \(expected), but is \(found)"
        case .unfit(let key, let reason): "\(key) is not usable: \(reason)"
        case .tooMany(let what, let limit): "it has more than \(limit) \(what)"
        case .executable(let name, let reason): "its executable \(name) \(reason)"
        case .writableByEveryone(let name):
            "everyone may write to \(name), so anyone could have programs run as you; chmod o-w may be missing"
        case .owner(let name, let owner):
            "\(name) belongs to user \(owner), who could have programs run as you; it must be yours or root's"
        case .file(let name, let reason): "\(name) \(reason)"
        case .reserved(let identifier): "\(identifier) is the identifier of a built-in handler"
        }
    }
}
