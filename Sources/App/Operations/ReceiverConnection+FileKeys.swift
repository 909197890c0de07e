import Age
import Control
import Executors
import Foundation
package import Inbox
import Secrets
import Synchronization

extension ReceiverConnection {
    /// The keys of sealed files, from the running receiver: a command never has a private key.
    ///
    /// From the first key on no other program of the user can look into this process. Waits for the receiver, on the thread
    /// of the caller.
    package var fileKeys: FileKeys {
        FileKeys { header throws(SealedFileError) in
            ProcessSecrecy.use(true)
            let answer = Mutex<Result<SecretBytes, SealedFileError>>(.failure(Self.noReceiver))
            let isDone = Semaphore(0)
            // Not on the threads of other tasks: the caller may occupy the last one.
            Task(executorPreference: Self.keyThread) {
                let result = await fileKey(of: header)
                answer.withLock { $0 = result }
                isDone.signal()
            }
            isDone.wait()
            return try answer.withLock { $0 }.get()
        }
    }

    private static let keyThread = BlockingExecutor(threads: 1)
    private static let noReceiver = SealedFileError.locked(
        "it is sealed, and no receiver runs that could open it; start waftd first")

    private func fileKey(of header: AgeHeader) async -> Result<SecretBytes, SealedFileError> {
        do throws(WaftError) {
            let text = Data(header.text).base64EncodedString()
            switch try await askIfRunning(.protection(.fileKey(header: text))) {
            case .fileKey(let text):
                guard let key = text.decoded else { break }
                return .success(key)
            case .locked(let reason): return .failure(.locked(reason))
            case .itemFault(_, let reason): return .failure(.foreign(reason))
            case .refused(let reason): return .failure(.closed(reason))
            case nil: return .failure(Self.noReceiver)
            default: break
            }
            return .failure(.closed(WaftError.noAnswer.reason))
        } catch {
            return .failure(.closed(error.reason))
        }
    }
}
