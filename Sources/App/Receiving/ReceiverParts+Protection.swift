import Age
import Control
import Foundation
import Handlers
import Inbox
import Journal
import Logging
import Protection
import Secrets
import Settings
import Sharing
import Streams

extension ReceiverParts {
    /// How protected items stand.
    var protectionReport: ProtectionReport { report(vault.standing) }

    private func report(_ standing: VaultStanding) -> ProtectionReport {
        var report = ProtectionReport(
            protection: plan.settings.protection.rawValue, isSetUp: standing.isSetUp, isDropBox: standing.isDropBox,
            isUnlocked: standing.isUnlocked, wasUnlocked: standing.wasUnlocked, since: standing.since.milliseconds,
            mode: standing.mode?.rawValue, waitingItems: itemsBehindLock)
        do throws(VaultError) { try vault.check() } catch { report.fault = error.description }
        return report
    }

    /// Items that wait for the unlock.
    var itemsBehindLock: Int {
        let waiting = (try? journal.waitingSealed()) ?? [:]
        return waiting.reduce(0) { $0 + (vault.canOpen($1.key) ? 0 : $1.value) }
    }

    /// Takes private keys into memory.
    ///
    /// - Throws: as `Vault.unlock`.
    func unlock(_ identities: VaultIdentities, from origin: VaultMode? = nil) throws(VaultError) {
        try vault.unlock(identities, from: origin)
        plan.logger.notice("unlocked")
    }

    /// Locks: wipes the key pair L, and with `all` U too.
    func lock(all: Bool) async {
        guard vault.standing.isUnlocked || (all && vault.standing.wasUnlocked) else { return }
        vault.lock(all: all)
        plan.logger.notice("locked", metadata: all ? ["all": "true"] : [:])
    }

    /// Answers a request from the control socket. Nothing of a request is logged.
    func reply(to request: ProtectionRequest) async -> ControlReply {
        do throws(VaultError) {
            switch request {
            case .status:
                break
            case .unlock(let lines):
                try unlock(try VaultIdentities(lines: lines.map(\.bytes)))
            case .lock(let all):
                await lock(all: all)
            case .fileKey(let header):
                return .fileKey(SecretText(encoding: try vault.fileKey(of: try Self.header(header))))
            case .reload:
                try vault.reload()
            }
            return .protection(protectionReport)
        } catch {
            return [.locked, .noIdentity].contains(error.code)
                ? .locked(error.description) : .refused(error.description)
        }
    }

    private static func header(_ text: String) throws(VaultError) -> AgeHeader {
        guard let bytes = Data(base64Encoded: text) else {
            throw VaultError(.damaged, "the header of the sealed file is not base64")
        }
        do throws(AgeError) {
            return try AgeHeader(parsing: Array(bytes))
        } catch {
            throw VaultError(.damaged, "the header of the sealed file cannot be used: \(error)")
        }
    }

    // MARK: Running

    /// Tells of each lock and unlock, and locks when the time is up, until the task is cancelled.
    func protect() async {
        await withDiscardingTaskGroup { group in
            let changes = vault.changes.watch()
            group.addTask {
                for await standing in changes {
                    plan.observe(.protection(report(standing)))
                    engine.lockChanged()
                }
            }
            group.addTask { await IdleLock(vault, settings: plan.live, changes: news).run { await lock(all: false) } }
            group.addTask { await withTaskExecutorPreference(blocking) { await useCredential() } }
        }
        copies.end()
    }

    /// Opens the class until first unlock with the keys that the service manager passes.
    private func useCredential() async {
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], PathText.isAbsolute(folder),
            vault.standing.isSetUp
        else { return }
        do throws(VaultError) {
            guard let identities = try VaultIdentities.credential(in: folder) else { return }
            try unlock(identities.only(.sinceFirstUnlock), from: .credential)
        } catch {
            plan.logger.error(
                "the credential for protected items is not used", metadata: ["reason": "\(error.description)"])
        }
    }
}
