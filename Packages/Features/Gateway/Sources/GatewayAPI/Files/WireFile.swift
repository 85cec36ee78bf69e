import Capabilities
import ToolKit

/// An entry of a project's folder.
struct WireFile: Record {
    let entry: Workspace.Entry

    static let fields: [Field<WireFile>] = [
        Field("path", "From the project's folder on", .name) { $0.entry.path },
        Field("name", "The last part of the path") { $0.entry.name },
        Field("kind", "file, folder, link or other", .state) { $0.entry.kind },
        Field("size", "In bytes, of a file") { $0.entry.kind == .file ? $0.entry.size : nil },
        Field("modified_at", "When it was last changed") { $0.entry.modified },
        Field("etag", "Changes with the content; for If-Match") { $0.entry.kind == .file ? $0.entry.etag : nil },
    ]
}

/// What is in a folder.
struct WireListing: Record {
    let files: [WireFile]
    let isCut: Bool

    static let fields: [Field<WireListing>] = [
        Field("object", "Always list") { _ in "list" },
        Field("data", "The entries") { $0.files },
        Field("truncated", "Whether there is more") { $0.isCut },
    ]
}

/// Lines that fit a pattern.
struct WireHits: Record {
    let hits: [WireHit]
    let isCut: Bool

    static let fields: [Field<WireHits>] = [
        Field("object", "Always list") { _ in "list" },
        Field("data", "The lines, file by file") { $0.hits },
        Field("truncated", "Whether there is more") { $0.isCut },
    ]
}

/// One line that fits.
struct WireHit: Record {
    let hit: Workspace.Hit

    static let fields: [Field<WireHit>] = [
        Field("path", "The file, from the project's folder on", .name) { $0.hit.path },
        Field("line", "The number of the line, from 1") { $0.hit.line },
        Field("text", "The line") { $0.hit.text },
    ]
}
