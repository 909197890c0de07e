import Contacts
import Desktop
import Executors
import HandlerCatalog
import Settings
import Sharing
import Streams

/// Shows offers and arrivals on the desktop.
struct DesktopNotices: Sendable {
    let plan: ReceiverPlan
    let door: VisibilityController
    let catalog: CatalogWatch
    let standing: LockStanding
    /// The settings have changed.
    let news: Broadcast<Void>
    let blocking: BlockingExecutor

    /// Shows them if there is a desktop and the settings say so, until the task is cancelled.
    func run() async {
        // Also without notifications: an earlier process may have left pictures.
        let pictures = PictureFolder(path: plan.home.run + "/pictures")
        await withDiscardingTaskGroup { group in
            group.addTask(executorPreference: blocking) { await showArrivals() }
            group.addTask { await showOffersAsWanted(pictures) }
        }
    }

    private func showOffersAsWanted(_ pictures: PictureFolder) async {
        let changes = news.watch()
        while !Task.isCancelled {
            let isOn = plan.settings.notifications.includesOffers
            await withDiscardingTaskGroup { group in
                if isOn { group.addTask { await showOffers(pictures) } }
                for await _ in changes where plan.settings.notifications.includesOffers != isOn { break }
                group.cancelAll()
            }
        }
    }

    private func showArrivals() async {
        let notifier = DesktopNotifier(logger: plan.logger, surplus: ArrivalNotifications.surplus)
        let (door, catalog) = (self.door, self.catalog)
        let locks = standing.changes()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await plan.listeners.arrivals.run(
                    on: notifier, lock: SessionLock(), opening: ArrivalOpener { catalog.current.registry },
                    isSealed: { standing.hidesNames }
                ) { peer, name in
                    door.introduction(of: peer, callingItself: name)
                }
            }
            group.addTask { for await _ in locks { plan.listeners.arrivals.lockChanged() } }
            group.addTask { await showWaiting(notifier) }
        }
        await notifier.stop()
    }

    /// Says that items wait for the unlock: once for each lock, when a person is there.
    private func showWaiting(_ notifier: DesktopNotifier) async {
        let (locks, waits) = (standing.changes(), plan.listeners.waits.news.watch())
        let (pokes, poke) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in locks { poke.yield() } }
            group.addTask { for await _ in waits { poke.yield() } }
            var ticket: NotificationTicket?
            poke.yield()
            for await _ in pokes {
                guard standing.isLocked else {
                    ticket?.close()
                    ticket = nil
                    continue
                }
                let count = standing.waitingItems
                guard ticket == nil, count > 0, plan.settings.notifications.includesArrivals,
                    await !SessionLock().isLocked()
                else { continue }
                ticket = notifier.show(ArrivalNotice.waiting(count))
            }
            group.cancelAll()
        }
    }

    private func showOffers(_ pictures: PictureFolder) async {
        let notifier = DesktopNotifier(logger: plan.logger, surplus: OfferNotice.surplus)
        let door = self.door
        let notifications = OfferNotifications(
            notifier: notifier, offers: plan.listeners.consent, pictures: pictures, isSealed: { standing.hidesNames },
            relay: { [plan] in plan.settings.relay }
        ) { peer, name in
            door.introduction(of: peer, callingItself: name)
        }
        await notifications.run()
        await notifier.stop()
    }
}
