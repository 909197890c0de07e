import ContentCheck
import Foundation
import Glibc
import Lines
import Previews
import Sending
import Sharing
import SystemCalls
import UniformTypes

/// A picture of a document, which a program of the system makes in the sandbox: poppler for a page of a PDF document, a
/// thumbnailer for all else.
struct DocumentPicture {
    /// The picture that a user wants, and its place.
    struct Request {
        /// The path of a new file; nil for standard output.
        var path: String?
        /// Its width and height, at most.
        var pixels: Int
        /// Of a PDF document, from 1.
        var page: Int
    }

    /// The facts of the line of `--json`.
    struct Facts: Encodable {
        /// Of the document.
        var type: String
        /// `image/png` or `image/jpeg`.
        var mediaType: String
        var pixelWidth: UInt32
        var pixelHeight: UInt32
        /// The file that was written.
        var picture: String
    }

    struct Fields: FieldGroups {
        var subject: EventLine.Subject
        var facts: Facts

        var groups: [any Encodable] { [subject, facts] }
    }

    let image: StillImage
    let bytes: [UInt8]

    /// - Parameter bytes: the output of such a program.
    /// - Returns: nil if it is no whole picture.
    init?(_ bytes: [UInt8]?) {
        guard let bytes, let image = StillImage(bytes) else { return nil }
        (self.image, self.bytes) = (image, bytes)
    }
}

extension Previewing {
    /// Writes a picture of a file or an item.
    ///
    /// - Throws: `CommandError`: `ineligible` if no program makes one, `inputMissing` if the subject cannot be read, `usage` if
    ///   the file for the picture is there already.
    func draw(_ subject: DocumentSubject, _ request: DocumentPicture.Request) async throws(CommandError) {
        let (type, picture) = try await picture(of: subject, request)
        guard let path = request.path.map({ URL(fileURLWithPath: $0).standardizedFileURL.path }) else {
            do throws(SystemError) {
                return try SmallFile.write(picture.bytes, to: STDOUT_FILENO)
            } catch {
                throw CommandError(.unexpected, "the picture cannot be written (\(error))")
            }
        }
        try NewFile.write(picture.bytes, to: path)
        let (form, pixels) = (picture.image.form.rawValue, picture.image.pixels)
        if json {
            return EventLine.picture(
                DocumentPicture.Fields(
                    subject: subject.event,
                    facts: DocumentPicture.Facts(
                        type: type.identifier, mediaType: form, pixelWidth: pixels.width, pixelHeight: pixels.height,
                        picture: path))
            ).print()
        }
        let size = ByteCount.text(UInt64(picture.bytes.count))
        Console.shared.result("\(subject.head): \(form), \(pixels.width) by \(pixels.height) pixels, \(size)")
        Console.shared.result("  written to \(TerminalText.escaped(path, limit: 4_096))")
    }

    private func picture(
        of subject: DocumentSubject, _ request: DocumentPicture.Request
    ) async throws(CommandError) -> (UniformType, DocumentPicture) {
        guard !subject.isFolder else {
            throw CommandError(.ineligible, "\(subject.head): a folder has no picture", hint: "leave --out away")
        }
        let (file, size) = try subject.open()
        defer { close(file) }
        let finding = finding(in: PreviewSource(descriptor: file, size: size), subject)
        // A mislabelled file may be made for the program that would show it.
        guard finding.verdict.outcome == .consistent else {
            throw CommandError(
                .ineligible, "\(subject.head): it is not what its name says, so no picture of it is made",
                hint: "leave --out away to see what it is")
        }
        let output =
            if finding.type == .pdf {
                await PreviewPrograms(context).page(request.page, of: file, pixels: request.pixels)
            } else {
                await PreviewMaker(home: context.home, settings: context.settings, logger: context.logger("waft"))
                    .picture(of: file, subject.form, pixels: request.pixels)
            }
        guard let picture = DocumentPicture(output) else { throw none(subject, finding.type) }
        return (finding.type, picture)
    }

    private func none(_ subject: DocumentSubject, _ type: UniformType) -> CommandError {
        CommandError(
            .ineligible, "\(subject.head): no picture of \(TerminalText.escaped(type.identifier)) could be made",
            hint: type == .pdf
                ? "pdftocairo makes them, if the page is there; it is in poppler-utils"
                : "thumbnailers make them, such as those of libgdk-pixbuf2.0-bin and ffmpegthumbnailer")
    }
}
