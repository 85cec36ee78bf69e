/// A part of a document that can be drawn without the rest: one block of the document's own, or a piece of a large one.
struct MarkdownSegment: Sendable {
    var text: [UInt8]
    /// Whether it goes on with the block of the segment before it.
    var continues: Bool
}
