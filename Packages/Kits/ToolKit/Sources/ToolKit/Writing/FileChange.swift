import Capabilities
import FileKit
import Glibc
import Synchronization

/// A file that is going to be written, checked and not yet touched.
struct FileChange: Sendable {
    let path: EntryPath
    /// Nil where folders have to be made first.
    let place: WritePlace?
    let former: ExistingFile?
    let content: [UInt8]
    /// What is changed, as a model sees the text: without byte order marks, and with line breaks of one kind.
    let diff: UnifiedDiff
    var notes: [String] = []

    /// Whether it is as it should be already.
    var isNothing: Bool { former?.content == content }
}

extension FileChange {
    /// Writes all of them or none, and tells how those that were written are then.
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
            // From here on nothing needs space on the disk, and a stop comes too late.
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
    /// A file whose whole content is given. The encoding and the line ends of one that is there are kept.
    init(
        _ path: EntryPath, content text: String, makingFolders: Bool, _ seen: SeenFiles, in workspace: Workspace
    ) throws {
        self.path = path
        let given = Array(text.utf8)
        guard given.count <= ExistingFile.largest else {
            throw WorkspaceError(
                .input, "the content for \(path.shown) is larger than \(ExistingFile.largest >> 20) MiB; write less")
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
                "\(path.shown) was changed since it was read (it was \(before.words), and is"
                    + " \(former.status.stamp.words)); read it again before it is replaced")
        }
        switch FileFormat(whole: former.content) {
        case .binary(let kind):
            content = given
            diff = UnifiedDiff(oldName: path.shown, newName: path.shown, hunks: [])
            notes = ["it was no text before: \(kind)"]
        default:
            let document = try TextDocument(former.content, path)
            let mark = Array("\u{FEFF}".utf8)
            let plain = document.format.markLength > 0 && given.starts(with: mark) ? Array(given.dropFirst(3)) : given
            let (unified, windowsEndings) = TextDocument.unified(plain)
            // Who writes CR LF means it; LF is also what a model sees of a file that has CR LF.
            content = windowsEndings.isEmpty ? document.content(with: plain) : document.encoded(plain)
            diff = UnifiedDiff(from: document.text, to: unified, named: path.shown)
            notes = [windowsEndings.isEmpty ? document.note : nil].compactMap { $0 }
        }
    }

    /// Nil where folders have to be made first, and may be.
    private static func place(
        _ path: EntryPath, _ makingFolders: Bool, in workspace: Workspace
    ) throws(WorkspaceError) -> WritePlace? {
        do throws(WorkspaceError) {
            return try WritePlace(path, in: workspace)
        } catch {
            guard error.kind == .notFound else { throw error }
            guard makingFolders else {
                throw WorkspaceError(
                    .notFound, error.message + "; set create_folders to have the folders above the file made")
            }
            try NewFolders.check(path, in: workspace)
            return nil
        }
    }

    /// A text file that is there, and what becomes of its text.
    init(
        editing path: EntryPath, _ seen: SeenFiles, in workspace: Workspace,
        _ edit: ([UInt8]) throws -> (text: [UInt8], notes: [String])
    ) throws {
        self.path = path
        let place = try workspace.hinting(path) { () throws(WorkspaceError) in try WritePlace(path, in: workspace) }
        guard let former = try ExistingFile(place) else {
            _ = try workspace.file(path)
            throw WorkspaceError(.notFound, "there is no \(path.shown)")
        }
        let document = try TextDocument(former.content, path)
        let (text, notes) = try edit(document.text)
        (self.place, self.former) = (place, former)
        content = text == document.text ? former.content : document.content(with: text)
        diff = UnifiedDiff(from: document.text, to: text, named: path.shown)
        self.notes = notes + [document.note].compactMap { $0 }
        if let before = seen.former(path, now: former.status.stamp) {
            self.notes.append("it was changed by somebody else since it was read: it was \(before.words) then")
        }
    }
}

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

/// How files were when a tool last read or wrote them, so that a later one can tell whether somebody else was there.
final class SeenFiles: Sendable {
    /// Nobody reads more in one conversation; without a bound a long one would collect for ever.
    private static let largestCount = 10_000

    private let stamps = Mutex<[EntryPath: FileStamp]>([:])

    func note(_ path: EntryPath, _ stamp: FileStamp) {
        stamps.withLock { stamps in
            if stamps.count >= Self.largestCount { stamps.removeAll() }
            stamps[Self.key(path)] = stamp
        }
    }

    /// How the file was, if it was seen and is another one now.
    func former(_ path: EntryPath, now: FileStamp) -> FileStamp? {
        let former = stamps.withLock { $0[Self.key(path)] }
        return former == now ? nil : former
    }

    private static func key(_ path: EntryPath) -> EntryPath {
        EntryPath(bytes: Array(path.parts.joined(separator: [Byte.slash])))
    }
}
