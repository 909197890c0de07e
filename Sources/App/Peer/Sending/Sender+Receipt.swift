import HTTPChannel
import Sharing
import WaftDialect

extension Sender {
    /// Asks a peer what it has of a transfer that was offered to it before.
    ///
    /// - Parameter offer: with the number and as many items as it had.
    /// - Returns: nil where the peer knows of no such transfer, or nothing of it has ended.
    /// - Throws: `SendFailure`.
    func receipt(
        of offer: Offer, from reference: PeerReference, options: SendOptions
    ) async throws(SendFailure) -> Receipt? {
        let target = try await network.resolve(reference, within: options.finding)
        // AirDrop knows no receipts.
        if target.airdrop != nil { return nil }
        let connection = try await network.connect(to: target, within: options.finding)
        do {
            return try await HTTPClient.run(connection.http) { http in
                try await WaftClient(http).receipt(
                    of: offer, answered: options.wait == .opened, patience: options.silence,
                    maximum: options.handlerWait(items: offer.items.count))
            }
        } catch let fault as TransferFault where fault.code == .notAccepted {
            return nil
        } catch {
            throw SendJob.failure(error, to: reference.description)
        }
    }
}
