import CGioShims

/// An application of the desktop: a `.desktop` file that the system knows.
package struct Application: Hashable, Sendable {
    /// The name of its file below `applications/`: `org.gnome.Evince.desktop`.
    package let identifier: String
    /// For people, in their language. Foreign text.
    package let name: String
    /// Whether it needs a terminal, not a display.
    package let runsInTerminal: Bool
    /// Whether the user or the desktop has made it the default for the type.
    package let isDefault: Bool
    /// Absolute path of its file.
    let file: String

    /// The applications that open files of these MIME types: the default first, then by the order of the types and that
    /// of the system (`mimeapps.list`, `mimeinfo.cache`). The disk is read.
    ///
    /// - Parameter mimeTypes: the nearest first.
    /// - Returns: nil if there is no libgio.
    package static func all(for mimeTypes: [String]) -> [Application]? {
        guard let gio = GioLibrary.functions else { return nil }
        let standard = mimeTypes.lazy.compactMap { Self.standard(for: $0, gio) }.first
        var found: [Application] = []
        var seen: Set<String> = []
        for mimeType in mimeTypes {
            let list = gio.g_app_info_get_all_for_type(mimeType)
            defer { gio.g_list_free(list) }
            var node = list
            while let current = node {
                node = current.pointee.next
                guard let data = current.pointee.data else { continue }
                defer { gio.g_object_unref(data) }
                guard let application = Application(OpaquePointer(data), standard: standard, gio),
                    seen.insert(application.identifier).inserted
                else { continue }
                found.append(application)
            }
        }
        return found.filter(\.isDefault) + found.filter { !$0.isDefault }
    }

    /// - Parameter standard: the identifier of the default.
    private init?(_ info: OpaquePointer, standard: String?, _ gio: CGioShims_Functions) {
        guard let identifier = gio.g_app_info_get_id(info), let file = gio.g_desktop_app_info_get_filename(info) else {
            return nil
        }
        self.identifier = String(cString: identifier)
        self.file = String(cString: file)
        name = gio.g_app_info_get_display_name(info).map { String(cString: $0) } ?? self.identifier
        runsInTerminal = gio.g_desktop_app_info_get_boolean(info, "Terminal") != 0
        isDefault = self.identifier == standard
    }

    /// The identifier of the default for a type.
    private static func standard(for mimeType: String, _ gio: CGioShims_Functions) -> String? {
        guard let info = gio.g_app_info_get_default_for_type(mimeType, 0) else { return nil }
        defer { gio.g_object_unref(UnsafeMutableRawPointer(info)) }
        return gio.g_app_info_get_id(info).map { String(cString: $0) }
    }
}
