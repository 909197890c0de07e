extension TypeRegistry {
    /// The names of kinds of icons, the nearest first (Icon Naming Specification, freedesktop.org).
    private static let kinds: [(type: String, icon: String)] = [
        ("public.image", "image-x-generic"), ("public.movie", "video-x-generic"), ("public.audio", "audio-x-generic"),
        ("public.font", "font-x-generic"), ("public.archive", "package-x-generic"),
        ("public.vcard", "x-office-address-book"), ("com.apple.ical.ics", "x-office-calendar"),
        ("public.spreadsheet", "x-office-spreadsheet"), ("public.presentation", "x-office-presentation"),
        ("public.script", "text-x-script"), ("public.executable", "application-x-executable"),
        ("public.html", "text-html"), ("public.text", "text-x-generic"),
        ("public.composite-content", "x-office-document"),
    ]

    /// The name of the icon of a type by its MIME type: `image-jpeg`.
    package func iconName(of type: UniformType, kind: FileKind) -> String {
        // Parameters, such as `;charset=utf-8`, are no part of an icon's name.
        MIMEType.withoutParameters(mimeTypes(of: [type], kind: kind)[0]).replacing("/", with: "-")
    }

    /// The name of an icon that every theme has: `image-x-generic`.
    package func genericIconName(of type: UniformType, kind: FileKind) -> String {
        guard kind == .regularFile else { return "folder" }
        let known = Self.kinds.first { kind in UniformType(kind.type).map { conforms(type, to: $0) } == true }
        if let known { return known.icon }
        let mimeType = mimeTypes(of: [type], kind: kind)[0]
        return "\(mimeType.prefix { $0 != "/" })-x-generic"
    }
}
