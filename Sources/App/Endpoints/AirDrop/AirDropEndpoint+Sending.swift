import AirDropDialect
import HTTPChannel
import Logging
import SecureTransport
import Settings
import Sharing
import SystemCalls

extension AirDropEndpoint {
    package func send(_ request: SendRequest) async throws(SendError) -> SendReport {
        let (target, offer) = (request.target, request.offer)
        let name = target.airDropName
        let wasOnRadio = target.isOnRadio
        guard options.isEnabled else { throw SendError(.unreachable, "AirDrop is switched off here") }
        // Exit code 0 would say that it was opened.
        guard request.options.wait != .opened else {
            throw SendError(.unfit, "\(name) is reached by AirDrop, which does not tell whether anything was opened")
        }
        if !target.takesFolders, let folder = request.sources.first(where: { $0.offered.kind == .tree }) {
            throw SendError(
                .unfit, "\(name) is reached on a radio link of Apple's, and a phone cannot open a folder",
                advice: [Self.packing(folder, for: request.peerText)])
        }
        do {
            let plan = try SendingPlan(offer, request.sources, to: target.airDropFlags)
            let (items, moved) = try await send(plan, request)
            return SendReport(peer: target.airDropID, name: target.name, offer: offer, items: items, movedBytes: moved)
        } catch let fault as SourceError {
            throw SendError(.refused(fault.code == .changed ? .changed : .unreadable), fault.message)
        } catch let fault as TransferError {
            throw SendError(.refused(fault.code), fault.message)
        } catch let error as DialError {
            throw SendError(.unreachable, "\(error)")
        } catch {
            guard wasOnRadio, !target.isOnRadio, !(error is CancellationError) else { throw SendError(error, to: name) }
            throw SendError(
                .unreachable, "the radio link to \(name) is gone: \(RadioBackend.interface) has ended",
                advice: ["open it again, and send once more: waft visible everyone --for 10m"])
        }
    }

    /// How a folder is sent to a peer that takes none.
    static func packing(_ folder: any ItemSource, for peer: String) -> String {
        func word(_ text: String) -> String { ShellWord.quoted(ShownText.line(text, limit: 400)) }
        let archive = word(folder.offered.name.text + ".zip")
        return
            "send an archive of it: zip -r \(archive) \(word(folder.origin)); then: waft send \(archive) --to \(word(peer))"
    }

    /// Asks and sends, in the form that the receiver announces. A receiver that does not take that form is asked once more,
    /// and gets the other one: an answer with a question before it holds for one connection.
    private func send(
        _ plan: SendingPlan, _ request: SendRequest
    ) async throws -> (items: [SendResult.Item], moved: UInt64) {
        do {
            return try await attempt(plan, request, request.target.airDropFlags, isFirst: true)
        } catch is BodyFormError {
            logger.debug("the receiver refused the form of the contents, and is asked again for the other form")
        }
        do {
            return try await attempt(plan, request, request.target.airDropFlags.inOtherForm, isFirst: false)
        } catch let refusal as BodyFormError {
            throw refusal.fault
        }
    }

    /// A peer on the radio link listens in short bursts: it is called again.
    private func dialPatiently(_ peer: PeerTarget, within limit: Duration) async throws -> HTTPClient.Connection {
        let end = ContinuousClock.now + limit
        while true {
            do {
                let connection = try await dial(peer, within: peer.isOnRadio ? min(limit, .seconds(5)) : limit)
                return connection
            } catch let error as DialError {
                guard peer.isOnRadio, ContinuousClock.now < end else { throw error }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func attempt(
        _ plan: SendingPlan, _ request: SendRequest, _ flags: AirDropFlags, isFirst: Bool
    ) async throws -> (items: [SendResult.Item], moved: UInt64) {
        let (peer, options, observe) = (request.target, request.options, request.observe)
        let connection = try await dialPatiently(peer, within: options.finding)
        if isFirst { observe(.connected(peer.airDropID, name: peer.name)) }
        return try await withTaskExecutorPreference(blocking) {
            try await connection.channelBelow.onRadioToo {
                try await HTTPClient.converse(connection) { http in
                    let client = AirDropClient(http, card: side.card, instance: side.instance)
                    if isFirst { observe(.offered(plan.offer)) }
                    let verdict: Verdict
                    do {
                        let offered = await request.offered(peer.airDropID)
                        let icon = offered.items.lazy.compactMap(\.preview).first(where: \.isJPEG)
                        verdict = try await client.ask(plan, icon: icon, timeout: options.answer)
                    } catch let fault as HTTPError where fault == .silence {
                        throw SendError.unanswered(peer.airDropName, within: options.answer)
                    }
                    if isFirst { observe(.answered(verdict)) }
                    var moved: UInt64 = 0
                    guard verdict.acceptsAnything else {
                        return (SendResult(verdict).items, moved)
                    }
                    let total = plan.offer.knownSize
                    let outcome = try await client.upload(
                        plan, to: flags, timeout: options.silence, stall: options.stall,
                        cancellation: request.cancellation
                    ) { bytes in
                        moved = bytes
                        observe(.progressed(bytes, of: total, moved: bytes))
                    }
                    observe(.settled)
                    return (outcome.items, moved)
                }
            }
        }
    }
}
