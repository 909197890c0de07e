import Discovery
import Settings
import Sharing

/// How far an announcement has come.
enum AnnouncementState: Sendable {
    /// Discovery is off.
    case off
    case beginning
    /// With the name of the instance.
    case published(String)
    case failed(any Error)
}

extension SharedDirectory {
    /// How long an old record stays beside its successor: those who watch find the new one before the old one goes, also
    /// if they miss the first announcement, which is repeated after one second (RFC 6762, 8.3).
    private static let overlap: Duration = .seconds(2)
    /// How long a network has to settle: its addresses come one by one.
    private static let settling: Duration = .seconds(1)

    /// The facts with which a record goes: its successor has other names, and nobody can follow this machine by them.
    private struct Facts: Hashable {
        var isOn: Bool
        var presence: Presence
        var links: [LocalLink]

        init(_ host: ReceivingHost, _ settings: Settings) {
            isOn = settings.discovery
            presence = host.presence
            // The addresses without ports.
            links = LocalLink.current(port: 1).filter { !settings.denied.contains($0.interface.name) }
        }
    }

    /// Announces a service whenever discovery is on, until the task is cancelled. When the facts about the receiver, its
    /// contacts or its network change, the service is announced anew, and those who watch ask it again. Nothing is
    /// renewed by the clock. Connections are not affected: the port stays.
    ///
    /// - Parameters:
    ///   - describe: the service, with names that have not been used before.
    ///   - told: called for each state.
    func announce(
        _ describe: () -> ServiceDescription, for host: ReceivingHost, _ told: (AnnouncementState) -> Void
    ) async {
        await withDiscardingTaskGroup { farewells in
            var present: (any Publication)?
            while !Task.isCancelled {
                // Before the facts: a change that comes meanwhile is not missed.
                let (links, pairing) = (LinkChanges(), host.pairing?.changes())
                let facts = Facts(host, settings.current)
                if let directory = current {
                    if present == nil { told(.beginning) }
                    let service = describe()
                    do {
                        let next = try await directory.get().publish(service)
                        if let old = present {
                            farewells.addTask {
                                try? await Task.sleep(for: Self.overlap)
                                await old.withdraw()
                            }
                        }
                        present = next
                        told(.published(service.instance))
                    } catch is CancellationError {
                        break
                    } catch {
                        // The old record leads here too.
                        if present == nil { told(.failed(error)) }
                    }
                } else {
                    await present?.withdraw()
                    present = nil
                    told(.off)
                }
                await host.visibility.run(until: { _ in Facts(host, self.settings.current) != facts }) {
                    await self.change(of: facts, host, links, pairing)
                }
            }
            await present?.withdraw()
        }
    }

    /// Returns when the facts are others because of the network or of pairing mode, or the task is cancelled.
    private func change(
        of facts: Facts, _ host: ReceivingHost, _ links: LinkChanges?, _ pairing: AsyncStream<Void>?
    ) async {
        let (news, feed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { group in
            if let links {
                group.addTask {
                    for await _ in links.stream {
                        try? await Task.sleep(for: Self.settling)
                        feed.yield()
                    }
                }
            }
            if let pairing {
                group.addTask { for await _ in pairing { feed.yield() } }
            }
            for await _ in news where Facts(host, settings.current) != facts { break }
            group.cancelAll()
        }
    }
}
