import Capabilities
import FileKit
import Glibc
import Synchronization

/// A planned write: checked, but nothing is written yet.
struct FileChange: Sendable {
    let path: EntryPath
    /// Nil if folders must be created first.
    let place: WritePlace?
    let former: ExistingFile?
    let content: [UInt8]
    /// The change as a model sees the text: without byte order marks, and with uniform line breaks.
    let diff: UnifiedDiff
    var notes: [String] = []

    /// Whether the file already has this content.
    var isNothing: Bool { former?.content == content }

    /// The real location, with all links followed.
    func location(in workspace: Workspace) -> AbsolutePath {
        guard let place else { return AbsolutePath(bytes: workspace.root.location + [Byte.slash] + path.bytes) }
        return AbsolutePath(bytes: place.folder.location + [Byte.slash] + place.name)
    }
}

extension FileChange {
    /// Writes all changes or none. Returns the new stamps of the written files.
    static func write(
        _ changes: [FileChange], in workspace: Workspace, _ cancellation: Cancellation
    ) throws -> [(path: EntryPath, stamp: FileStamp)] {
        let folders = NewFolders()
        var done: [FileReplacement] = []
        do {
            var replacements: [(path: EntryPath, replacement: FileReplacement)] = []
            for change in changes where !change.isNothing {
                try cancellation.check()
                if change.place == nil { try folders.make(for: change.path, in: workspace) }
                let place = try change.place ?? WritePlace(change.path, in: workspace)
                let replacement = try FileReplacement(change.content, at: place, replacing: change.former?.status)
                replacements.append((change.path, replacement))
            }
            // From here on no disk space is needed, and a cancellation comes too late.
            for (_, replacement) in replacements {
                try replacement.commit()
                done.append(replacement)
            }
            return replacements.map { ($0.path, $0.replacement.stamp) }
        } catch {
            for replacement in done.reversed() { try replacement.undo() }
            folders.removeEmpty()
            throw error
        }
    }
}

extension FileChange {
    /// Replaces the whole content. The encoding and the line endings of an existing file are kept.
    init(
        _ path: EntryPath, content text: String, makingFolders: Bool, _ seen: SeenFiles, in workspace: Workspace
    ) throws {
        self.path = path
        let given = Array(text.utf8)
        guard given.count <= ExistingFile.largest else {
            throw WorkspaceError(
                .input, "the content for \(path.shown) is larger than the limit of \(ExistingFile.largest >> 20) MiB")
        }
        place = try Self.place(path, makingFolders, in: workspace)
        former = try place.flatMap { try ExistingFile($0) }
        guard let former else {
            content = given
            diff = UnifiedDiff(from: nil, to: given, named: path.shown)
            return
        }
        if let before = seen.former(path, now: former.status.stamp) {
            throw WorkspaceError(
                .changed,
                "\(path.shown) has changed since it was read (was \(before.words), now"
                    + " \(former.status.stamp.words)); read it again before you replace it")
        }
        switch FileFormat(whole: former.content) {
        case .binary(let kind):
            content = given
            diff = UnifiedDiff(oldName: path.shown, newName: path.shown, hunks: [])
            notes = ["the old content was not text: \(kind)"]
        default:
            let document = try TextDocument(former.content, path)
            let mark = Array("\u{FEFF}".utf8)
            let plain = document.format.markLength > 0 && given.starts(with: mark) ? Array(given.dropFirst(3)) : given
            let (unified, windowsEndings) = TextDocument.unified(plain)
            // CR LF in the given text is intended. LF is also what a model sees of a file with CR LF.
            content = windowsEndings.isEmpty ? document.content(with: plain) : document.encoded(plain)
            diff = UnifiedDiff(from: document.text, to: unified, named: path.shown)
            notes = [windowsEndings.isEmpty ? document.note : nil].compactMap { $0 }
        }
    }

    /// Nil if folders must be created first, and that is allowed.
    private static func place(
        _ path: EntryPath, _ makingFolders: Bool, in workspace: Workspace
    ) throws(WorkspaceError) -> WritePlace? {
        do throws(WorkspaceError) {
            return try WritePlace(path, in: workspace)
        } catch {
            guard error.kind == .notFound else { throw error }
            guard makingFolders else {
                throw WorkspaceError(
                    .notFound, error.message + "; set create_folders to create the missing folders")
            }
            try NewFolders.check(path, in: workspace)
            return nil
        }
    }

    /// Changes the text of an existing text file.
    init(
        editing path: EntryPath, _ seen: SeenFiles, in workspace: Workspace,
        _ edit: ([UInt8]) throws -> (text: [UInt8], notes: [String])
    ) throws {
        self.path = path
        let place = try workspace.hinting(path) { () throws(WorkspaceError) in try WritePlace(path, in: workspace) }
        guard let former = try ExistingFile(place) else {
            _ = try workspace.file(path)
            throw WorkspaceError(.notFound, "\(path.shown) does not exist")
        }
        let document = try TextDocument(former.content, path)
        let (text, notes) = try edit(document.text)
        (self.place, self.former) = (place, former)
        content = text == document.text ? former.content : document.content(with: text)
        diff = UnifiedDiff(from: document.text, to: text, named: path.shown)
        self.notes = notes + [document.note].compactMap { $0 }
        if let before = seen.former(path, now: former.status.stamp) {
            self.notes.append("another program has changed it since it was read: it was \(before.words) then")
        }
    }
}

extension FileChange {
    /// A file with the given bytes, text or not.
    init(_ path: EntryPath, bytes: [UInt8], in workspace: Workspace) throws {
        let place: WritePlace?
        do throws(WorkspaceError) {
            place = try WritePlace(path, in: workspace)
        } catch {
            guard error.kind == .notFound else { throw error }
            try NewFolders.check(path, in: workspace)
            place = nil
        }
        self.init(
            path: path, place: place, former: try place.flatMap { try ExistingFile($0) }, content: bytes,
            diff: UnifiedDiff(oldName: nil, newName: nil, hunks: []))
    }
}

/// A file that will be replaced.
struct ExistingFile: Sendable {
    /// Larger files cannot be written with the tools.
    static let largest = 16 << 20

    let content: [UInt8]
    let status: EntryStatus

    /// Nil if the file does not exist.
    init?(_ place: WritePlace) throws {
        guard let found = try place.status() else { return nil }
        switch found.kind {
        case .regular: break
        case .directory: throw WorkspaceError(EISDIR, place.path)
        default:
            throw WorkspaceError(
                .notFile, "\(place.path.shown) is \(found.kind.words), not a regular file")
        }
        guard found.size <= Self.largest else { throw Self.tooLarge(place.path) }
        // A read-only file could still be replaced by another one, which would ignore its mode.
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
        WorkspaceError(.input, "\(path.shown) is larger than \(largest >> 20) MiB; use a command to change it")
    }
}

/// The stamps of files when a tool last read or wrote them, to notice changes by other programs.
final class SeenFiles: Sendable {
    /// A limit, so that a long conversation does not collect entries forever.
    private static let largestCount = 10_000

    private let stamps = Mutex<[EntryPath: FileStamp]>([:])

    func note(_ path: EntryPath, _ stamp: FileStamp) {
        stamps.withLock { stamps in
            if stamps.count >= Self.largestCount { stamps.removeAll() }
            stamps[Self.key(path)] = stamp
        }
    }

    /// The earlier stamp of the file, if it was seen and has changed since.
    func former(_ path: EntryPath, now: FileStamp) -> FileStamp? {
        let former = stamps.withLock { $0[Self.key(path)] }
        return former == now ? nil : former
    }

    private static func key(_ path: EntryPath) -> EntryPath {
        EntryPath(bytes: Array(path.parts.joined(separator: [Byte.slash])))
    }
}
