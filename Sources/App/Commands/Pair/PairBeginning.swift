import Contacts
import Control
import Endpoints
import Lines
import Pairing
import Sending
import Settings
import Sharing

/// Pairs with a peer that is in pairing mode.
struct PairBeginning: Sendable {
    let peer: PeerReference
    let name: ContactName?
    /// How long to look for it.
    let timeout: Duration?
    let rendering: PairRendering

    /// - Parameter code: nil where people compare.
    func run(code: PairingCode?) async throws -> PairRendering.End {
        let context = try CommandContext()
        let finder = try CommandFinder.make(context)
        let initiator = PairingInitiator(
            own: try context.home.ownID(), finder: finder, contacts: context.home.contactBook(),
            ownName: context.settings.name)
        let cancellation = Cancellation()
        let end = try await Interruption.watching(cancellation, goodbye: .zero) {
            await pair(initiator, code.map { .code($0) } ?? .compare)
        }
        return cancellation.isRequested ? .failed(.interrupted, "interrupted") : end
    }

    private func pair(_ initiator: PairingInitiator, _ method: PairingMethod) async -> PairRendering.End {
        let rendering = self.rendering
        do throws(PairingStartError) {
            let contact = try await initiator.pair(
                with: peer, method, name: name, finding: timeout ?? .seconds(5)
            ) { question in
                let shown = question.introduction
                rendering.came(
                    PairingProgress.Peer(
                        id: question.peer.text, key: question.peer.short, name: shown.name, isContact: shown.isContact,
                        warning: shown.warning))
                rendering.compare(digits: question.string.digits, words: question.string.words)
                return await rendering.isSame()
            } confirmed: {
                rendering.confirmed()
            }
            return .paired(id: contact.id.text, key: contact.id.short, contact: contact.name.text)
        } catch {
            return PairRendering.End(error)
        }
    }
}
