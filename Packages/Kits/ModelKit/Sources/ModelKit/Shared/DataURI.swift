package import Capabilities
import Cryptography

/// Bytes within a URI, `data:image/png;base64,…`, which is how images and files go along with a message.
package enum DataURI {
    package static func encode(_ attachment: Attachment) -> String {
        "data:\(attachment.mediaType);base64,\(Base64.encode(attachment.bytes))"
    }

    /// Nil where the text is no such URI.
    package static func decode(_ text: String) -> (mediaType: String, bytes: [UInt8])? {
        guard text.hasPrefix("data:"), let comma = text.firstIndex(of: ",") else { return nil }
        let head = text[text.index(text.startIndex, offsetBy: 5)..<comma].split(separator: ";")
        guard let type = head.first, type.contains("/"), head.last == "base64",
            let bytes = Base64.decode(text[text.index(after: comma)...])
        else { return nil }
        return (String(type), bytes)
    }
}
