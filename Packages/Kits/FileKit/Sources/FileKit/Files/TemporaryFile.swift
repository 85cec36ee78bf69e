import Glibc

/// A new file beside the one that it is to replace, locked for as long as somebody works on it.
struct TemporaryFile: ~Copyable {
    let file: FileDescriptor
    let name: String

    /// How many writers of one file may be at work before names are made up at random.
    private static let names = 8

    /// Makes a file beside the target and locks it. The names are few and known, so that what a killed writer left is
    /// met, and removed, by the next one.
    static func make(
        beside name: String, in directory: borrowing FileDescriptor, path: String
    ) throws(FileError) -> TemporaryFile {
        // A name may be as long as the file system allows, which leaves no room for a longer one.
        let stem = name.utf8.count <= 200 ? name : String(name.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) }, radix: 36)
        for number in 1...names {
            let temporary = ".~\(stem)\(number == 1 ? "" : ".\(number)").tmp"
            if let file = try take(temporary, in: directory, path: path) { return file }
            removeStray(temporary, in: directory)
            if let file = try take(temporary, in: directory, path: path) { return file }
        }
        let temporary = ".~\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
        guard let file = try take(temporary, in: directory, path: path) else {
            throw FileError("write", path, errno: EEXIST)
        }
        return file
    }

    /// Makes the file, unless there is one of that name.
    private static func take(
        _ temporary: String, in directory: borrowing FileDescriptor, path: String
    ) throws(FileError) -> TemporaryFile? {
        // Owner-only until the content is complete, whatever the final mode will be.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        do throws(FileError) {
            let file = try FileDescriptor.open(
                temporary, flags, mode: 0o600, in: directory.rawValue, for: "write", naming: path)
            // Says that somebody is at work. Whoever took it for a stray before that has removed it by now, or does so
            // while it holds the lock. A file system without locks has no strays removed.
            if retryingInterrupts({ Int(flock(file.rawValue, LOCK_EX)) }) == 0, !isNamed(file, temporary, in: directory)
            {
                return nil
            }
            return TemporaryFile(file: file, name: temporary)
        } catch {
            guard error.kind == .exists else { throw error }
            return nil
        }
    }

    /// Removes a file that nobody works on any more.
    private static func removeStray(_ temporary: String, in directory: borrowing FileDescriptor) {
        do throws(FileError) {
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
            let file = try FileDescriptor.open(temporary, flags, in: directory.rawValue, for: "remove")
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0, isNamed(file, temporary, in: directory) else { return }
            _ = unsafe unlinkat(directory.rawValue, temporary, 0)
        } catch {
            // Gone meanwhile, or somebody else's: then another name is taken.
        }
    }

    /// Whether the name still means this file.
    private static func isNamed(
        _ file: borrowing FileDescriptor, _ temporary: String, in directory: borrowing FileDescriptor
    ) -> Bool {
        var (open, named) = (stat(), stat())
        guard unsafe fstat(file.rawValue, &open) == 0,
            unsafe fstatat(directory.rawValue, temporary, &named, AT_SYMLINK_NOFOLLOW) == 0
        else { return false }
        return open.st_ino == named.st_ino && open.st_dev == named.st_dev
    }
}
