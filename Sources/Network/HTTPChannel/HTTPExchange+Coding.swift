package import NIOHTTP1

extension HTTPExchange {
    /// Why the body is not the contents that it seems to be: headers say that it is a part of them, or that they are
    /// encoded (RFC 9110, 14.5 and 8.4). Such a body must not be stored; nil for all others.
    package var foreignBody: (status: HTTPResponseStatus, message: String)? {
        if head.headers.contains(name: "content-range") {
            return (.badRequest, "a part of a file (Content-Range) is not taken: send the whole file")
        }
        let codings = head.headers[canonicalForm: "content-encoding"]
        guard codings.allSatisfy({ $0.lowercased() == "identity" }) else {
            return (.unsupportedMediaType, "encoded contents (Content-Encoding) are not taken: send the file as it is")
        }
        return nil
    }
}
