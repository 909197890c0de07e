import Contacts
import Control
import Sharing

extension PairingAcceptance {
    /// Answers a request from the control socket.
    func reply(to request: PairingRequest) async -> ControlReply {
        do throws(PairingEndError) {
            switch request {
            case .open(let opening):
                return .pairing(try open(opening))
            case .follow(let ticket, let seen):
                guard let standing = await follow(ticket, seen: seen) else {
                    return .refused("pairing mode was opened by another command")
                }
                return .pairing(standing)
            case .answer(let ticket, let isSame):
                try await answering(ticket, isSame)
            case .close(let ticket):
                close(ticket)
            // The receiver's own.
            case .permit: return .refused("nothing is let in here")
            case .withdraw(let transfer): TransferID(transfer).map { permits.withdraw($0) }
            }
            return .done
        } catch {
            return .refused(error.reason)
        }
    }

    /// Where the disk may be waited for.
    private func answering(_ ticket: Int, _ isSame: Bool) async throws(PairingEndError) {
        try await withTaskExecutorPreference(blocking) { () async -> Result<Void, PairingEndError> in
            Result { () throws(PairingEndError) in try self.answer(ticket, isSame: isSame) }
        }.get()
    }
}
