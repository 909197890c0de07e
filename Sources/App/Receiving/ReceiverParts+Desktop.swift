import Contacts
import Desktop
import Executors
import HandlerCatalog
import Protection
import Settings
import Sharing
import Streams

extension ReceiverParts {
    /// Shows offers and arrivals on the desktop, if there is one and the settings say so, until the task is cancelled.
    func notify() async {
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
        let locks = vault.changes.watch()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await plan.arrivals.run(
                    on: notifier, lock: SessionLock(), opening: ArrivalOpener { catalog.current.registry },
                    isSealed: { hidesNames }
                ) { peer, name in
                    door.introduction(of: peer, callingItself: name)
                }
            }
            group.addTask { for await _ in locks { plan.arrivals.lockChanged() } }
            group.addTask { await showWaiting(notifier) }
        }
        await notifier.stop()
    }

    /// Says that items wait for the unlock: once for each lock, when a person is there.
    private func showWaiting(_ notifier: DesktopNotifier) async {
        let (locks, waits) = (vault.changes.watch(), waits.watch())
        let (pokes, poke) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in locks { poke.yield() } }
            group.addTask { for await _ in waits { poke.yield() } }
            var ticket: NotificationTicket?
            poke.yield()
            for await _ in pokes {
                let standing = vault.standing
                guard standing.isSetUp, !standing.isDropBox, !standing.isUnlocked else {
                    ticket?.close()
                    ticket = nil
                    continue
                }
                let count = itemsBehindLock
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
            notifier: notifier, offers: plan.consent, pictures: pictures, isSealed: { hidesNames }
        ) { peer, name in
            door.introduction(of: peer, callingItself: name)
        }
        await notifications.run()
        await notifier.stop()
    }
}
