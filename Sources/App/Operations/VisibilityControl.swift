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
        if case .status(let status)? = reply, let stored = status.visibilityStored {
            return (VisibilityLine(status.visibility, over: stored), true)
        }
        return (try line(waft.visibilityFile), reply != nil)
    }

    /// - Parameter length: nil for a lasting choice.
    /// - Returns: the visibility now, and whether a receiver is running.
    /// - Throws: `WaftError`: `usage` for a time that is too long.
    package func choose(
        _ choice: Choice, for length: Duration? = nil
    ) async throws(WaftError) -> (line: VisibilityLine, hasReceiver: Bool) {
        let file = waft.visibilityFile
        try AddressBook.doing { () throws(ContactError) in try file.choose(choice, for: length) }
        let line = try line(file)
        return (line, await waft.lookAgain())
    }

    private func line(_ file: VisibilityFile) throws(WaftError) -> VisibilityLine {
        do throws(ContactError) {
            return VisibilityLine(try file.state(), at: waft.now())
        } catch {
            throw WaftError(error, hint: "until the file is fixed, contacts applies")
        }
    }
}
