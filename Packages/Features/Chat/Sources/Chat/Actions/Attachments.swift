import Capabilities
import FileKit
import JSON
import Registry

/// Files that go along with a message.
enum Attachments {
    /// Providers take no more than that in one request.
    private static let largest = 20 << 20

    /// A text becomes part of the message, with its name; an image or a PDF is attached.
    static func file(_ given: ReadPath, _ context: ActionContext) throws -> Message.Part {
        let path = try context.path(given)
        let bytes = try path.read(limit: largest)
        let name = AbsolutePath(path.absolute).names.last.map { String(decoding: $0, as: UTF8.self) } ?? given.shown
        if let type = mediaType(bytes) {
            return .attachment(Attachment(name: name, mediaType: type, bytes: bytes))
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
            throw AttachmentError(path: given.shown)
        }
        return .text("\n\nFile \(name):\n\n\(text)\n")
    }

    /// The files of the folder that a command runs in, for a person to choose from; hidden ones are left out.
    static func names(in host: Host) -> [String] {
        do {
            return try Files.list(host.locations.current).filter { !$0.name.hasPrefix(".") && $0.kind == .regular }.map(
                \.name)
        } catch {
            // Then a name has to be typed whole.
            return []
        }
    }

    static func schema(_ given: ReadPath, _ context: ActionContext) throws -> AnswerSchema {
        let (path, bytes) = (given.shown, try context.path(given).read(limit: 1 << 20))
        do {
            let schema = try JSON(parsing: bytes, reading: .json5)
            let title = schema["title"]?.string ?? "answer"
            let name = String(
                title.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.prefix(60))
            if let fault = SchemaCheck(schema).faults.first {
                throw AttachmentError(
                    path: path, why: "\(path) is no JSON Schema: \(PlainText.escape(fault))")
            }
            return AnswerSchema(name: name, schema: schema)
        } catch let error as JSONError {
            throw AttachmentError(path: path, why: error.located(in: path))
        }
    }

    /// By how the file begins, since names lie.
    private static func mediaType(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: "GIF8".utf8) { return "image/gif" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
        if bytes.starts(with: "%PDF-".utf8) { return "application/pdf" }
        return nil
    }
}

/// A file that no model can be sent.
struct AttachmentError: Failure {
    let path: String
    var why: String?

    var code: String { "chat.attachment" }
    var exit: ExitCode { .usage }
    var message: String {
        why
            ?? "\(path) cannot be sent: it is neither text nor an image (PNG, JPEG, GIF, WebP) nor a PDF"
    }
}
