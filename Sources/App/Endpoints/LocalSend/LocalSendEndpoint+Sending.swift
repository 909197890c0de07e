import LocalSendDialect
import SecureTransport
import Settings
import Sharing

extension LocalSendEndpoint {
    package func send(_ request: SendRequest) async throws(SendError) -> SendReport {
        let name = request.target.name ?? request.peerText
        guard options.isEnabled else { throw SendError(.unreachable, "LocalSend is switched off here") }
        // Exit code 0 would say that it was opened.
        guard request.options.wait != .opened else {
            throw SendError(.unfit, "\(name) is reached by LocalSend, which does not tell whether anything was opened")
        }
        do {
            return try await withTaskExecutorPreference(blocking) {
                try await LocalSendSendJob(self, request, peerText: name).run()
            }
        } catch let fault as SourceError {
            throw SendError(.refused(fault.code == .changed ? .changed : .unreadable), fault.message)
        } catch let fault as TransferError {
            throw SendError(.refused(fault.code), fault.message)
        } catch let error as DialError where [.notTLS, .closed].contains(error.kind) {
            throw SendError(
                .unreachable,
                "\(error); if \(name) does not encrypt, --plain sends all the same: others can read it then")
        } catch let error as DialError {
            throw SendError(.unreachable, "\(error)")
        } catch {
            throw SendError(error, to: name)
        }
    }
}
