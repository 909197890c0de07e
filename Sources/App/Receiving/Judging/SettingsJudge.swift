import Contacts
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import SecureTransport
package import Settings
import Sharing

/// The one judge of settings: `waft config`, the doctor, and the start of a receiver ask it.
///
/// It reads the disk, and opens no port: a port that another program has shows when the receiver listens.
package struct SettingsJudge: Sendable {
    private let home: Home

    package init(_ home: Home) {
        self.home = home
    }

    /// Reads a text of `config.yaml`, and judges it.
    ///
    /// - Parameter hostName: the default of `name`.
    /// - Returns: the settings, as far as they have no faults of form, and all faults in the order of their lines.
    package func read(_ text: ConfigurationText, hostName: String) -> (settings: Settings, faults: [SettingFault]) {
        var settings = Settings(hostName: hostName)
        var faults: [SettingFault] = []
        do throws(Settings.InvalidError) {
            try settings.read(text, dialects: .known, registry: home.typeRegistry())
        } catch {
            faults = SettingFault.all(of: error)
        }
        faults += self.faults(of: settings, in: text.path)
        return (settings, faults.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
    }

    /// The faults of settings that can be read.
    ///
    /// - Parameter path: the file whose lines are named; nil for the `config.yaml` of the home.
    package func faults(of settings: Settings, in path: String? = nil) -> [SettingFault] {
        let path = path ?? home.configurationFile
        func fault(_ kind: SettingFault.Kind, _ names: [String], _ words: String) -> SettingFault {
            SettingFault(
                kind: kind, settings: names, place: settings.places[names[0]],
                line: settings.line(of: names[0], in: path), words: words)
        }
        var faults: [SettingFault] = []
        if let (names, words) = portsFault(settings) { faults.append(fault(.file, names, words)) }
        if let (name, words) = protectionFault(settings) { faults.append(fault(.file, [name], words)) }
        if let (list, reason) = settings.hookRules.trouble(home.handlerCatalog(settings).closed) {
            faults.append(fault(.file, [list.setting], "\(list.setting): \(reason)"))
        }
        for (name, title, path, result) in [
            ("hook", "hook", settings.hook, "items wait for it"),
            ("arbiter", "arbiter", settings.arbiter, "people alone are asked"),
            ("outboxHook", "outbox hook", settings.outboxHook, "nothing is told to it"),
        ] {
            guard let flaw = path.flatMap({ HandlerProgram.flaw(ofProgram: $0) }) else { continue }
            faults.append(fault(.program, [name], "the \(title) \(flaw); \(result)"))
        }
        if settings.hookIsSandboxed {
            for (name, paths) in [("hookReadable", settings.hookReadable), ("hookWritable", settings.hookWritable)] {
                for path in paths where !FileManager.default.fileExists(atPath: path) {
                    let words = "\(name): \(path) does not exist; the hook is not started without it"
                    faults.append(fault(.program, [name], words))
                }
            }
        }
        if let certificate = settings.web.certificate {
            do throws(IdentityError) {
                _ = try Identity.load(certificate: certificate, key: settings.web.key ?? certificate)
            } catch {
                let names = ["web.certificate", "web.key"]
                let advice = settings.web.key == nil ? "; a key in a file of its own is set first, as web.key" : ""
                faults.append(fault(.program, names, "\(error); no page for guests is open without it\(advice)"))
            }
        }
        do throws(RadioFault) { _ = try RadioBackend.find(settings.airdrop.radio) } catch {
            var flaw = fault(.program, ["dialects.airdrop.radio"], "\(error); iPhones do not see this machine")
            // One that is missing may come later, as any program.
            if case .missing = error {} else { flaw.hint = error.hint }
            faults.append(flaw)
        }
        if let folder = settings.airdrop.identity {
            do throws(AppleIdentityFault) { _ = try AppleIdentity(folder) } catch {
                let words = "the Apple identity is not used: \(error); AirDrop goes on without it"
                faults.append(fault(.program, ["dialects.airdrop.identity"], words))
            }
        }
        return faults
    }

    /// One port cannot be listened on twice. A page or LocalSend alone takes another port.
    private func portsFault(_ settings: Settings) -> (names: [String], words: String)? {
        guard let port = settings.port.map(Int.init) else { return nil }
        let others = [
            ("dialects.localsend.port", settings.localsend.isEnabled, settings.localsend.port),
            ("web.port", settings.web.isEnabled, settings.web.port),
        ]
        guard let (name, _, _) = others.first(where: { $1 && $2 == port }) else { return nil }
        return (["port", name], "port and \(name) are both \(port); each needs a port of its own")
    }

    /// Nothing may arrive in the clear that is to be sealed.
    private func protectionFault(_ settings: Settings) -> (name: String, words: String)? {
        let name: String
        if settings.protection.isSealed {
            name = "protection"
        } else if settings.policy.rules.contains(where: { $0.destination.protection?.isSealed == true }) {
            name = "policy"
        } else {
            return nil
        }
        do throws(SealedFileError) {
            if try ItemKeys.areThere(in: home.protection) { return nil }
        } catch {
            return (name, error.description)
        }
        return (name, "data protection has no keys; make them first: waft protection set-up")
    }

    /// The handlers that are installed, and cannot be started now: a line each. Foreign text is in it.
    ///
    /// - Parameter settings: for the rules of their sandbox.
    package func handlerFaults(_ settings: Settings) -> [String] {
        Self.handlerFaults(home.handlerCatalog(settings).load(), settings)
    }

    static func handlerFaults(_ snapshot: CatalogSnapshot, _ settings: Settings) -> [String] {
        let unusable = snapshot.problems.filter { $0.severity == .unusable }
            .map { "the handler \($0.name) cannot be used: \($0.reason)" }
        let absent = snapshot.bundles.filter(snapshot.isEnabled).compactMap { bundle in
            HandlerProgram(
                bundle: bundle, defaultTimeLimit: settings.hookTimeout, requiresSandbox: settings.requiresSandbox
            )?.absence.map { "the handler \(bundle.name) cannot start: \($0); its items wait" }
        }
        return unusable + absent
    }
}
