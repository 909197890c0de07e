import Age
import Control
import Foundation
import Inbox
import Lines
import Protection
import Secrets
import Sharing

/// Answers the requests about protected items.
struct LockReplies: Sendable {
    let standing: LockStanding
    /// Locks and unlocks.
    let locks: LockControl
    let resealing: ItemResealing

    /// Answers a request from the control socket. Nothing of a request is logged.
    func reply(to request: ProtectionRequest) async -> ControlReply {
        do throws(VaultError) {
            switch request {
            case .status:
                break
            case .unlock(let lines):
                let waiting = try await locks.unlock(try VaultIdentities(lines: lines.map(\.bytes)))
                var line = standing.line
                line.waitingItems = max(line.waitingItems ?? 0, waiting)
                return .protection(line)
            case .lock(let all):
                await locks.lock(all: all, because: .command)
            case .fileKey(let header):
                return .fileKey(SecretText(encoding: try standing.vault.fileKey(of: try Self.header(header))))
            case .reload:
                try standing.vault.reload()
            case .reseal(let number, let protection, let now):
                return await resealing.reply(ArrivalNumber(number), as: protection, now: now)
            }
            return .protection(standing.line)
        } catch {
            switch error.code {
            case .locked, .noIdentity: return .locked(error.description)
            case .foreign: return .itemFault(code: LeavingError.Code.mismatch.rawValue, reason: error.description)
            default: return .refused(error.description)
            }
        }
    }

    private static func header(_ text: String) throws(VaultError) -> AgeHeader {
        guard let bytes = Data(base64Encoded: text) else {
            throw VaultError(.damaged, "the header of the sealed file is not base64")
        }
        do throws(AgeError) {
            return try AgeHeader(parsing: Array(bytes))
        } catch {
            throw VaultError(.damaged, "the header of the sealed file cannot be used: \(error)")
        }
    }
}
