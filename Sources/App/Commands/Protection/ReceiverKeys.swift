import Age
import Control
import Executors
import Foundation
import Inbox
import Protection
import Secrets
import Synchronization

/// The keys of sealed files, from the running receiver: a command never has a private key.
///
/// From the first key on no other program of the user can look into the command.
enum ReceiverKeys {
    /// Waits for the receiver, on the thread of the caller.
    static let keys = FileKeys { header throws(VaultError) in
        ProcessSecrecy.use(true)
        let answer = Mutex<Result<SecretBytes, VaultError>>(.failure(noReceiver))
        let isDone = Semaphore(0)
        // Not on the threads of other tasks: the caller may occupy the last one.
        Task(executorPreference: thread) {
            let result = await ask(header)
            answer.withLock { $0 = result }
            isDone.signal()
        }
        isDone.wait()
        return try answer.withLock { $0 }.get()
    }

    private static let thread = BlockingExecutor(threads: 1)
    private static let noReceiver = VaultError(
        .locked, "it is sealed, and no receiver runs that could open it; start waftd first")

    private static func ask(_ header: AgeHeader) async -> Result<SecretBytes, VaultError> {
        do throws(CommandError) {
            let request = ControlRequest.protection(.fileKey(header: Base64Text.text(header.text)))
            switch try await Daemon.askIfRunning(request) {
            case .fileKey(let text):
                guard let key = text.decoded else { break }
                return .success(key)
            case .locked(let reason): return .failure(VaultError(.locked, reason))
            case .itemFault(_, let reason): return .failure(VaultError(.foreign, reason))
            case .refused(let reason): return .failure(VaultError(.storage, reason))
            case nil: return .failure(noReceiver)
            default: break
            }
            return .failure(VaultError(.storage, "the receiver gave no answer"))
        } catch {
            return .failure(VaultError(.storage, error.message))
        }
    }
}
