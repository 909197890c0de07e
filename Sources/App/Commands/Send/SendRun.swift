import ArgumentParser
import Desktop
import Endpoints
import ItemSources
import Lines
import Sending
import Settings
import Sharing
import UniformTypes

/// One sending to one peer, shown, as an exit code.
enum SendRun {
    static func run(
        _ sender: Sender,
        _ sources: [any ItemSource],
        to reference: PeerReference,
        _ options: SendOptions,
        _ cancellation: Cancellation,
        _ rendering: SendRendering,
        previews: OfferPreviews? = nil
    ) async -> WaftExit {
        let peer = reference.description
        do throws(SendError) {
            let report = try await sender.send(
                sources, to: reference, options: options, previews: previews, cancellation: cancellation
            ) { rendering.show($0, to: peer) }
            return rendering.show(report, to: peer, sources: sources, wait: options.wait)
        } catch {
            let exit = exit(error)
            if !cancellation.isRequested { rendering.fail(error, exit, to: peer) }
            return exit
        }
    }

    private static func exit(_ failure: SendError) -> WaftExit {
        switch failure.code {
        case .notFound: .peerNotFound
        case .ambiguous, .unfit: .usage
        case .unreachable: .unreachable
        case .noAnswer: .noAnswer
        case .refused(let code): WaftExit(code)
        case .cancelled: .interrupted
        }
    }
}
