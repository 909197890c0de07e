package import Contacts
import Control
package import Lines
import Settings

extension Waft {
    /// The peers that can see this machine.
    package var visibility: VisibilityControl { VisibilityControl(waft: self) }

    var visibilityFile: VisibilityFile {
        VisibilityFile(path: home.visibilityPath, clocks: .init(wall: now, steady: { .now }))
    }
}

/// The peers that can see this machine, and offer items to it.
package struct VisibilityControl: Sendable {
    package typealias Choice = Visibility

    fileprivate let waft: Waft

    /// - Returns: the visibility now, and whether a receiver is running.
    /// - Throws: `WaftError` if the stored choice cannot be read.
    package func current() async throws(WaftError) -> (line: VisibilityLine, hasReceiver: Bool) {
        // The visibility of a running receiver may differ from the file.
        let reply = try? await waft.receiver.ask(.status)
        guard case .status(let status)? = reply else { return (try line(waft.visibilityFile), reply != nil) }
        let stored = status.visibilityStored
        var line =
            if let stored { VisibilityLine(status.visibility, over: stored) } else { try line(waft.visibilityFile) }
        line.take(status.radio)
        return (line, true)
    }

    /// - Parameter length: nil for a lasting choice.
    /// - Returns: the visibility now, and whether a receiver is running.
    /// - Throws: `WaftError`: `usage` for a time that is too long.
    package func choose(
        _ choice: Choice, for length: Duration? = nil
    ) async throws(WaftError) -> (line: VisibilityLine, hasReceiver: Bool) {
        let file = waft.visibilityFile
        try AddressBook.doing { () throws(ContactError) in try file.choose(choice, for: length) }
        var line = try line(file)
        let hasReceiver = await waft.lookAgain()
        if hasReceiver { line.take(await radio()) }
        return (line, hasReceiver)
    }

    /// How long a radio backend may take before the answer says that its window is being opened or closed.
    private static let opening: Duration = .seconds(4)

    /// - Returns: nil without a radio backend.
    private func radio() async -> StatusLine.Radio? {
        let end = ContinuousClock.now + Self.opening
        while case .status(let status)? = try? await waft.receiver.ask(.status), let radio = status.radio {
            guard radio.opening || radio.closing, ContinuousClock.now < end,
                (try? await Task.sleep(for: .milliseconds(50))) != nil
            else { return radio }
        }
        return nil
    }

    private func line(_ file: VisibilityFile) throws(WaftError) -> VisibilityLine {
        do throws(ContactError) {
            return VisibilityLine(try file.state(), at: waft.now())
        } catch {
            throw WaftError(error, hint: "until the file is fixed, contacts applies")
        }
    }
}
