import CToolKit
import FileKit
import Glibc

/// New content for a file. It is written next to it under a temporary name, then put in place in one step.
///
/// The old file is not overwritten but exchanged. If it turns out that another program changed it in the meantime, it
/// is put back, so that no work is lost. A value that is destroyed removes the temporary file.
final class FileReplacement {
    private let place: WritePlace
    private let former: EntryStatus?
    private let temporaryName: [UInt8]
    private var isDone = false
    /// Whether the file under the temporary name is the only remaining copy.
    private var isLast = false
    /// The stamp of the file once it is in place.
    let stamp: FileStamp

    /// Writes the content to the disk. `former` is the existing file, whose mode and owner are kept.
    init(_ content: [UInt8], at place: WritePlace, replacing former: EntryStatus?) throws {
        let name = Array(".~\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp\0".utf8)
        // An existing file may be secret. For a new file the user's umask decides.
        let mode: mode_t = former == nil ? 0o666 : 0o600
        let made = unsafe toolkit_make_file(place.folder.descriptor.rawValue, name, mode)
        guard made >= 0 else { throw WorkspaceError(writing: place.path, -made) }
        do {
            stamp = try Self.write(content, FileDescriptor(owning: made, path: place.path.shown), former)
        } catch {
            Self.remove(name, in: place.folder)
            throw WorkspaceError(writing: place.path, error.errno)
        }
        (self.place, self.former, temporaryName) = (place, former, name)
    }

    deinit {
        if !isLast { Self.remove(temporaryName, in: place.folder) }
    }

    /// Puts the new content in place.
    func commit() throws(WorkspaceError) {
        guard let former else {
            try rename(TOOLKIT_KEEP)
            isDone = true
            return
        }
        try rename(TOOLKIT_EXCHANGE)
        isDone = true
        guard try place.folder.entry(Array(temporaryName.dropLast()), place.path)?.stamp == former.stamp else {
            try undo()
            throw changed
        }
    }

    /// Restores the file from before `commit`.
    func undo() throws(WorkspaceError) {
        guard isDone else { return }
        isDone = false
        let folder = place.folder.descriptor.rawValue
        let result =
            unsafe former == nil
            ? toolkit_rename(folder, place.terminatedName, temporaryName, TOOLKIT_KEEP)
            : toolkit_rename(folder, temporaryName, place.terminatedName, TOOLKIT_EXCHANGE)
        guard result == 0 else {
            isLast = true
            let name = String(decoding: temporaryName.dropLast(), as: UTF8.self)
            throw WorkspaceError(
                .system,
                "cannot restore \(place.path.shown); its old content is next to it in"
                    + " \(name)")
        }
    }

    private func rename(_ how: toolkit_renaming) throws(WorkspaceError) {
        let result = unsafe toolkit_rename(place.folder.descriptor.rawValue, temporaryName, place.terminatedName, how)
        switch result {
        case 0: return
        case -EEXIST, -ENOENT: throw changed
        default: throw WorkspaceError(writing: place.path, -result)
        }
    }

    private var changed: WorkspaceError {
        WorkspaceError(
            .changed,
            "\(place.path.shown) was changed by another program at the same moment, and was not written; read it"
                + " again")
    }

    private struct Refusal: Error {
        let errno: Int32
    }

    private static func write(
        _ content: [UInt8], _ file: consuming FileDescriptor, _ former: EntryStatus?
    ) throws(Refusal) -> FileStamp {
        let descriptor = file.rawValue
        do throws(FileError) { try file.writeAll(content.span) } catch { throw Refusal(errno: error.errno) }
        if let former { try keepRights(of: former, descriptor) }
        var status = stat()
        guard fsync(descriptor) == 0, unsafe fstat(descriptor, &status) == 0 else { throw Refusal(errno: errno) }
        do throws(FileError) { try file.close() } catch { throw Refusal(errno: error.errno) }
        return FileStamp(status)
    }

    private static func keepRights(of former: EntryStatus, _ descriptor: Int32) throws(Refusal) {
        var mode = former.mode
        if former.owner != geteuid() || former.group != getegid(),
            fchown(descriptor, former.owner, former.group) != 0
        {
            // The file belongs to the user now, and must not be setuid or setgid.
            mode &= 0o777
        }
        guard fchmod(descriptor, mode) == 0 else { throw Refusal(errno: errno) }
    }

    private static func remove(_ name: [UInt8], in folder: Folder) {
        // This fails harmlessly if a new file was put in place.
        _ = unsafe unlinkat(folder.descriptor.rawValue, name.map(CChar.init(bitPattern:)), 0)
    }
}
