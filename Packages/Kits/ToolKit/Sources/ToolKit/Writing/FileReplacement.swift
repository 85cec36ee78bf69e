import CToolKit
import FileKit
import Glibc

/// New content for a file: written beside it under another name, then put in its place in one step.
///
/// The former file is not overwritten but exchanged. If it turns out to be another one than was looked at, because
/// somebody was faster, it is put back, so that nobody's work is lost. A value that goes away removes what is left.
final class FileReplacement {
    private let place: WritePlace
    private let former: EntryStatus?
    private let temporaryName: [UInt8]
    private var isDone = false
    /// Whether what is there under the other name is all that is left of a file.
    private var isLast = false
    /// How the file is once it is in place.
    let stamp: FileStamp

    /// Writes the content to the disk; `former` is the file that is there now, whose mode and owner are kept.
    init(_ content: [UInt8], at place: WritePlace, replacing former: EntryStatus?) throws {
        let name = Array(".~\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp\0".utf8)
        // What is there already may be secret. For a new file the user's mask decides.
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

    /// Puts back what was there before a `commit`.
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
                "\(place.path.shown) could not be put back to how it was; its former content is beside it in"
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
            "\(place.path.shown) was changed by somebody else at this moment, and was left as it is; read it"
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
            // It is the user's own now, and must not run in another's name.
            mode &= 0o777
        }
        guard fchmod(descriptor, mode) == 0 else { throw Refusal(errno: errno) }
    }

    private static func remove(_ name: [UInt8], in folder: Folder) {
        // Fails harmlessly where a new file was put in place under its own name.
        _ = unsafe unlinkat(folder.descriptor.rawValue, name.map(CChar.init(bitPattern:)), 0)
    }
}
