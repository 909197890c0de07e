import Age
package import Protection
import Sharing
package import SystemCalls

/// Why a sealed file cannot be read.
package enum SealedFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No key here opens it, now or ever.
    case closed(VaultError)
    /// Its bytes were changed, cut off or added since it was sealed.
    case damaged(String)
    case system(SystemError)

    package var description: String {
        switch self {
        case .closed(let error): error.description
        case .damaged(let reason): "it was changed since it was sealed: \(reason)"
        case .system(let error): error.description
        }
    }

    init(_ error: AgeError) {
        self = .damaged("\(error)")
    }
}
