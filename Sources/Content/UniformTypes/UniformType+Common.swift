/// The types that Waft's own code uses. All are in the system's table.
///
/// Computed, not stored: a literal costs nothing to make, and a stored one would be initialised behind a lock.
extension UniformType {
    // MARK: Roots: the physical kinds of items, and their purposes

    /// Anything in a file system.
    package static var item: UniformType { UniformType(known: "public.item") }

    /// Anything with content to show: documents, pictures, sound.
    package static var content: UniformType { UniformType(known: "public.content") }

    /// Content of several kinds mixed.
    package static var compositeContent: UniformType { UniformType(known: "public.composite-content") }

    /// Any run of bytes; the type of a file with no extension.
    package static var data: UniformType { UniformType(known: "public.data") }

    /// Any directory, packages among them.
    package static var directory: UniformType { UniformType(known: "public.directory") }

    /// A directory that the user looks into.
    package static var folder: UniformType { UniformType(known: "public.folder") }

    /// A directory that the user takes for one file.
    package static var package: UniformType { UniformType(known: "com.apple.package") }

    /// A directory with a known layout.
    package static var bundle: UniformType { UniformType(known: "com.apple.bundle") }

    /// A symbolic link.
    package static var symbolicLink: UniformType { UniformType(known: "public.symlink") }

    /// Anything that runs. Conforms to nothing: it may be a file or a package.
    package static var executable: UniformType { UniformType(known: "public.executable") }

    /// Files in a file.
    package static var archive: UniformType { UniformType(known: "public.archive") }

    // MARK: Text

    /// Any text, marked up or plain.
    package static var text: UniformType { UniformType(known: "public.text") }

    /// Text without markup, of unknown encoding.
    package static var plainText: UniformType { UniformType(known: "public.plain-text") }

    /// Text without markup, in UTF-8.
    package static var utf8PlainText: UniformType { UniformType(known: "public.utf8-plain-text") }

    /// Rich text.
    package static var rtf: UniformType { UniformType(known: "public.rtf") }

    /// A page of HTML. Conforms to `public.text`, not to `public.plain-text`.
    package static var html: UniformType { UniformType(known: "public.html") }

    /// XML. Conforms to `public.text`, not to `public.plain-text`.
    package static var xml: UniformType { UniformType(known: "public.xml") }

    /// JSON. Conforms to `public.text`, not to `public.plain-text`.
    package static var json: UniformType { UniformType(known: "public.json") }

    /// Source code of any language.
    package static var sourceCode: UniformType { UniformType(known: "public.source-code") }

    /// Source code that is run as it is.
    package static var script: UniformType { UniformType(known: "public.script") }

    /// A script for a shell.
    package static var shellScript: UniformType { UniformType(known: "public.shell-script") }

    /// Address cards.
    package static var vCard: UniformType { UniformType(known: "public.vcard") }

    /// Calendar events (iCalendar).
    package static var calendar: UniformType { UniformType(known: "com.apple.ical.ics") }

    // MARK: Places

    /// A URL as data.
    package static var url: UniformType { UniformType(known: "public.url") }

    /// A `file:` URL as data.
    package static var fileURL: UniformType { UniformType(known: "public.file-url") }

    /// A file that holds a URL (Apple's forms).
    package static var internetLocation: UniformType { UniformType(known: "com.apple.internet-location") }

    /// A `.url` file that holds a URL.
    package static var internetShortcut: UniformType { UniformType(known: "com.microsoft.internet-shortcut") }

    // MARK: Pictures, sound, film

    /// Any picture.
    package static var image: UniformType { UniformType(known: "public.image") }

    /// A JPEG picture.
    package static var jpeg: UniformType { UniformType(known: "public.jpeg") }

    /// A PNG picture.
    package static var png: UniformType { UniformType(known: "public.png") }

    /// A GIF picture.
    package static var gif: UniformType { UniformType(known: "com.compuserve.gif") }

    /// A TIFF picture.
    package static var tiff: UniformType { UniformType(known: "public.tiff") }

    /// A picture in HEVC.
    package static var heic: UniformType { UniformType(known: "public.heic") }

    /// A WebP picture.
    package static var webP: UniformType { UniformType(known: "org.webmproject.webp") }

    /// A picture in SVG; also XML.
    package static var svg: UniformType { UniformType(known: "public.svg-image") }

    /// Sound or film.
    package static var audiovisualContent: UniformType { UniformType(known: "public.audiovisual-content") }

    /// Sound without pictures.
    package static var audio: UniformType { UniformType(known: "public.audio") }

    /// MP3 sound.
    package static var mp3: UniformType { UniformType(known: "public.mp3") }

    /// Film, with or without sound.
    package static var movie: UniformType { UniformType(known: "public.movie") }

    /// Film without sound.
    package static var video: UniformType { UniformType(known: "public.video") }

    /// An MPEG-4 film.
    package static var mpeg4Movie: UniformType { UniformType(known: "public.mpeg-4") }

    /// A QuickTime film.
    package static var quickTimeMovie: UniformType { UniformType(known: "com.apple.quicktime-movie") }

    // MARK: Documents and archives

    /// A PDF document.
    package static var pdf: UniformType { UniformType(known: "com.adobe.pdf") }

    /// An EPUB book. Does not conform to `zip`.
    package static var epub: UniformType { UniformType(known: "org.idpf.epub-container") }

    /// A zip archive.
    package static var zip: UniformType { UniformType(known: "public.zip-archive") }

    /// A gzip file.
    package static var gzip: UniformType { UniformType(known: "org.gnu.gnu-zip-archive") }

    /// A tar archive.
    package static var tar: UniformType { UniformType(known: "public.tar-archive") }

    // MARK: Programs

    /// A file that runs.
    package static var unixExecutable: UniformType { UniformType(known: "public.unix-executable") }

    /// An ELF file. Has no tags: it is known by its content alone.
    package static var elfBinary: UniformType { UniformType(known: "public.elf-binary") }

    /// A program for people.
    package static var application: UniformType { UniformType(known: "com.apple.application") }

    /// An `.app` package.
    package static var applicationBundle: UniformType { UniformType(known: "com.apple.application-bundle") }
}
