/// A file in an offer.
package struct LocalSendFile: Codable, Hashable, Sendable {
    package var id: String
    /// May contain `/`: folders travel in this way.
    package var fileName: String
    /// Bytes.
    package var size: UInt64
    /// A MIME type, or a word of version 1: `image`, `video`, `pdf`, `text`, `apk`, `other`.
    package var fileType: String
    /// Lower-case hexadecimal digits.
    package var sha256: String?
    /// The text of a message.
    package var preview: String?
    package var metadata: Metadata?

    package struct Metadata: Codable, Hashable, Sendable {
        /// RFC 3339 with an offset: `Timestamp.rfc3339`.
        package var modified: String?

        package init(modified: String?) { self.modified = modified }

        package init(from decoder: any Decoder) throws {
            // The app ignores a time that it cannot read.
            let keys = try? decoder.container(keyedBy: CodingKeys.self)
            modified = try? keys?.decodeIfPresent(String.self, forKey: .modified)
        }
    }

    package init(id: String, fileName: String, size: UInt64, fileType: String) {
        (self.id, self.fileName, self.size, self.fileType) = (id, fileName, size, fileType)
    }

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        id = try keys.decode(String.self, forKey: .id)
        fileName = try keys.decode(String.self, forKey: .fileName)
        size = try keys.decode(UInt64.self, forKey: .size)
        // A missing key costs much less here than an error for each of many thousand files.
        fileType = (try? keys.decodeIfPresent(String.self, forKey: .fileType)) ?? "application/octet-stream"
        // One of another type is no checksum that can be passed by.
        sha256 = try keys.decodeIfPresent(String.self, forKey: .sha256)
        preview = try? keys.decodeIfPresent(String.self, forKey: .preview)
        metadata = try? keys.decodeIfPresent(Metadata.self, forKey: .metadata)
    }
}

/// The question whether files may be sent.
package struct LocalSendQuestion: Codable, Sendable {
    package var info: LocalSendDevice
    /// By their ids.
    package var files: [String: LocalSendFile]

    package init(info: LocalSendDevice, files: [LocalSendFile]) {
        self.info = info
        self.files = Dictionary(files.map { ($0.id, $0) }) { first, _ in first }
    }
}

/// The answer to a question of which something was accepted.
package struct LocalSendSession: Codable, Sendable {
    package var sessionId: String
    /// A token for each accepted file, by the file's id.
    package var files: [String: String]

    package init(sessionId: String, files: [String: String]) {
        (self.sessionId, self.files) = (sessionId, files)
    }
}

/// The body of an answer that is no success.
package struct LocalSendMessage: Codable, Sendable {
    package var message: String

    package init(_ message: String) { self.message = message }
}
