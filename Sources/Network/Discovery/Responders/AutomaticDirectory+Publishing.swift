internal import Logging
internal import Synchronization

extension AutomaticDirectory {
    func publish(_ service: ServiceDescription) async throws -> any Publication {
        beginnings += 1
        defer {
            beginnings -= 1
            releaseIfUnused()
        }
        await use()
        while let target = side {
            do {
                let publication = try await directory(target).publish(service)
                return await adopt(publication, of: service, at: target)
            } catch let error as DiscoveryError where error.code == .responderUnavailable {
                // A caller waits for this publication: the code does not wait for a daemon that went.
                if target == .daemon { choose(.embedded) }
                if side == target { throw error }
            }
        }
        throw CancellationError()
    }

    private func adopt(
        _ publication: any Publication,
        of service: ServiceDescription,
        at home: Side
    ) async -> any Publication {
        let identifier = makeIdentifier()
        publications[identifier] = Moving(description: service, current: publication, home: home)
        // The side may have changed while the publication was made.
        move(identifier)
        return await MovingPublication(directory: self, identifier: identifier, name: publication.instance)
    }

    /// Moves a publication to the chosen side, unless it is there or moving.
    func move(_ identifier: UInt64) {
        guard let item = publications[identifier], item.home != side, item.mover == nil else { return }
        publications[identifier]?.mover = Task { await carry(identifier) }
    }

    private func carry(_ identifier: UInt64) async {
        while let item = publications[identifier], let target = side, item.home != target {
            publications[identifier]?.current = nil
            publications[identifier]?.home = nil
            // The farewell comes first: two responders with the same name on one machine would fight over it.
            await item.current?.withdraw()
            do {
                let publication = try await directory(target).publish(item.description)
                guard publications[identifier] != nil else { return await publication.withdraw() }
                publications[identifier]?.current = publication
                publications[identifier]?.home = target
            } catch {
                guard publications[identifier] != nil else { return }
                logger.warning("service could not be announced", metadata: ["error": "\(error)"])
                try? await sleep(timeout.retry)
            }
        }
        publications[identifier]?.mover = nil
    }

    func name(of identifier: UInt64) async -> String? {
        await publications[identifier]?.current?.instance
    }

    func withdraw(_ identifier: UInt64) async {
        guard let item = publications.removeValue(forKey: identifier) else { return }
        item.mover?.cancel()
        await item.mover?.value
        await item.current?.withdraw()
        releaseIfUnused()
    }
}

private final class MovingPublication: Publication {
    private let directory: AutomaticDirectory
    private let identifier: UInt64
    /// The last name that was read: it remains available during a move and after the withdrawal.
    private let lastName: Mutex<String>

    init(directory: AutomaticDirectory, identifier: UInt64, name: String) {
        self.directory = directory
        self.identifier = identifier
        lastName = Mutex(name)
    }

    deinit {
        let (directory, identifier) = (directory, identifier)
        Task { await directory.withdraw(identifier) }
    }

    var instance: String {
        get async {
            let name = await directory.name(of: identifier)
            return lastName.withLock {
                if let name { $0 = name }
                return $0
            }
        }
    }

    func withdraw() async {
        await directory.withdraw(identifier)
    }
}
