import Contacts
import Desktop
import Executors
import HandlerCatalog
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
        await plan.arrivals.run(
            on: notifier, lock: SessionLock(), opening: ArrivalDesk { catalog.current.registry }
        ) { peer in
            door.contactName(of: peer).map { .contact(name: $0) } ?? .stranger
        }
        await notifier.stop()
    }

    private func showOffers(_ pictures: PictureFolder) async {
        let notifier = DesktopNotifier(logger: plan.logger, surplus: OfferNotice.surplus)
        let door = self.door
        let notifications = OfferNotifications(notifier: notifier, offers: plan.consent, pictures: pictures) { peer in
            door.contactName(of: peer).map { .contact(name: $0) } ?? .stranger
        }
        await notifications.run()
        await notifier.stop()
    }
}
