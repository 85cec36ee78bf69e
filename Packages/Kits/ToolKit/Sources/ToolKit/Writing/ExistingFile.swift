import FileKit
import Glibc

/// A file that is about to be replaced.
struct ExistingFile: Sendable {
    /// Larger ones are left to other programs.
    static let largest = 16 << 20

    let content: [UInt8]
    let status: EntryStatus

    /// Nil where there is none yet.
    init?(_ place: WritePlace) throws {
        guard let found = try place.status() else { return nil }
        switch found.kind {
        case .regular: break
        case .directory: throw WorkspaceError(EISDIR, place.path)
        default:
            throw WorkspaceError(
                .notFile, "\(place.path.shown) is \(found.kind.words); only regular files can be written")
        }
        guard found.size <= Self.largest else { throw Self.tooLarge(place.path) }
        // A file that may not be written could still be replaced by another one, which is not what its mode says.
        let name = place.terminatedName.map(CChar.init(bitPattern:))
        guard unsafe faccessat(place.folder.descriptor.rawValue, name, W_OK, AT_EACCESS) == 0 else {
            throw WorkspaceError(writing: place.path, errno)
        }
        let file = try place.open()
        status = try EntryStatus(of: file)
        try Folder.requireRegular(status, place.path)
        var content: [UInt8] = []
        content.reserveCapacity(status.size)
        while case let piece = try file.read(upTo: 1 << 20), !piece.isEmpty {
            content += piece
            guard content.count <= Self.largest else { throw Self.tooLarge(place.path) }
        }
        self.content = content
    }

    private static func tooLarge(_ path: EntryPath) -> WorkspaceError {
        WorkspaceError(.input, "\(path.shown) is larger than \(largest >> 20) MiB; change it by a command")
    }
}
