import Age
import Protection
import Sharing
package import SystemCalls

/// Why a sealed file cannot be read.
package enum SealedFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its key is not in memory.
    case locked(String)
    /// No key of Waft opens it, now or ever.
    case foreign(String)
    /// The keys cannot be used.
    case closed(String)
    /// Its bytes were changed, cut off or added since it was sealed.
    case damaged(String)
    case system(SystemError)

    package var description: String {
        switch self {
        case .locked(let reason), .foreign(let reason), .closed(let reason): reason
        case .damaged(let reason): "it was changed since it was sealed: \(reason)"
        case .system(let error): error.description
        }
    }

    init(_ error: AgeError) {
        self = .damaged("\(error)")
    }

    init(_ error: VaultError) {
        self =
            switch error.code {
            case .locked: .locked(error.description)
            case .foreign: .foreign(error.description)
            default: .closed(error.description)
            }
    }
}
