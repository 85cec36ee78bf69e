import Capabilities
import JSON

/// A picture that an action hands to whoever can show it, as an event of the action.
///
/// ```swift
/// try await context.emit(Picture.kind.event(Picture("plan.png", "image/png", bytes, saving: "--save FILE writes it")))
/// ```
///
/// Others go on without it, or say how it is saved.
public struct Picture: Sendable, Hashable {
    /// Its name, such as that of a file.
    public let name: String
    /// What its bytes are, such as `image/png`.
    public let mediaType: String
    /// The picture.
    public let bytes: [UInt8]
    /// How the person saves it to a file, in a few words.
    public let saving: String

    /// A picture; the bytes are not looked at.
    public init(_ name: String, _ mediaType: String, _ bytes: [UInt8], saving: String) {
        (self.name, self.mediaType, self.bytes, self.saving) = (name, mediaType, bytes, saving)
    }

    /// The picture of an event; nil for other events.
    public init?(_ event: ActionEvent) {
        guard event.type == Self.kind.declaration.type, let name = event.fields["name"]?.string,
            let mediaType = event.fields["media_type"]?.string, let saving = event.fields["saving"]?.string,
            let bytes = event.fields["data"]?.string.flatMap(Base64.decode)
        else { return nil }
        self.init(name, mediaType, bytes, saving: saving)
    }

    /// The events that carry pictures.
    public static let kind = EventKind<Picture>(
        "picture", "A picture to be shown",
        [
            Field("name", "Its name") { $0.name },
            Field("media_type", "What it is, such as image/png") { $0.mediaType },
            Field("saving", "How it is saved to a file") { $0.saving },
            Field("data", "The picture in Base64") { Base64.encode($0.bytes) },
        ])
}
