internal import Streams

/// Questions to the link besides Avahi's own.
///
/// The first is answered at once, and to this program alone: see ``LinkQuestion``.
///
/// The later ones are for this: a machine that asks names the answers that it knows already, and gets none of them for the
/// next 0.7 s. Responders tell machines apart by the address (Avahi 0.8). Two programs of one machine that begin to look at
/// nearly the same time repeat their questions after the same pauses: the later one may never hear what the earlier one
/// knows. avahi-daemon asks for all programs. Without it each browse also asks at random times.
extension AvahiDirectory {
    /// Pauses before the later questions, one after the other, in seconds.
    private static let pauses = [1.2...2.5, 2.0...4.0, 4.0...8.0, 8.0...16.0]

    /// Asks at once, and then at random times. The questions end with the session of the browse.
    func keepAsking(_ browse: ActiveBrowse) {
        guard let snapshot = network?.snapshot else { return }
        let identifier = ObjectIdentifier(browse.mailbox)
        browse.session.question = LinkQuestion(browse.type, snapshot, denied: denied, loop: loop) {
            [unowned self] service in assumeIsolated { $0.answered(identifier, service) }
        }
        browse.session.asking = Task { [weak self, type = browse.type, backend] in
            for pause in Self.pauses {
                await Patience.wait(for: .seconds(Double.random(in: pause)))
                guard !Task.isCancelled else { return }
                if backend == .embedded { await self?.ask(type) }
            }
            await self?.endQuestion(identifier)
        }
    }

    private func ask(_ type: String) {
        guard let snapshot = network?.snapshot else { return }
        for group in LinkQuestion.groups {
            let addresses = LinkQuestion.places(in: snapshot, denied: denied, group)
            guard !addresses.isEmpty, let socket = try? MulticastSocket(group: group, port: LinkQuestion.port) else {
                continue
            }
            _ = socket.join(exactly: addresses)
            _ = socket.send(LinkQuestion.message(type))
        }
    }
}
