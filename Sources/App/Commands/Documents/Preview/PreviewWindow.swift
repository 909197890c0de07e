import DBusClient
import Desktop
import Foundation
import Lines
import Settings

/// Shows a document in a window of the desktop: in GNOME's previewer, or else in the default application.
struct PreviewWindow {
    private let context: CommandContext
    private let json: Bool

    init(_ context: CommandContext, json: Bool) {
        (self.context, self.json) = (context, json)
    }

    /// - Throws: `CommandError` `ineligible` if nothing shows it, or if it is not what it claims to be, or would be run;
    ///   `unexpected` without a desktop.
    func show(_ subject: DocumentSubject) async throws {
        guard DesktopSession.hasDisplay() else {
            throw CommandError(
                .unexpected, "there is no desktop here: DISPLAY and WAYLAND_DISPLAY are not set",
                hint: "leave out --window")
        }
        let opening = OpenIn(context, json: json)
        // Before any other program gets it.
        let list: OpenInList
        do throws(CommandError) {
            list = try opening.list(for: subject)
        } catch {
            throw CommandError(error.exit, error.message, hint: error.exit == .ineligible ? "leave out --window" : nil)
        }
        do throws(BusError) {
            try await PreviewerWindow.show(URL(fileURLWithPath: subject.path).standardizedFileURL.path)
        } catch {
            guard let application = list.applications.first else { throw list.nothing }
            return try await opening.run(subject, app: application.identifier)
        }
        if json {
            return EventLine.opened(.inApplication(subject.event, application: PreviewerWindow.name)).print()
        }
        Console.shared.result("\(subject.head): shown in a window")
    }
}
