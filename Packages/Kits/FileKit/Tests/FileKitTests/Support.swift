import FileKit
import Glibc

/// A copy of the descriptor that is open on the file, such as a child has before it starts its program; nil if there is none.
func copyOfDescriptor(on path: String) throws -> Int32? {
    for entry in try Files.list("/proc/self/fd") {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe readlink("/proc/self/fd/\(entry.name)", &target, target.count)
        guard let number = Int32(entry.name), length == path.utf8.count,
            target.prefix(length).elementsEqual(path.utf8.map { CChar(bitPattern: $0) })
        else { continue }
        return fcntl(number, F_DUPFD_CLOEXEC, 0)
    }
    return nil
}

/// The code of the `FileError` that the body throws, or nil when it throws none.
func failure(_ body: () throws(FileError) -> Void) -> FileError.Kind? {
    do throws(FileError) {
        try body()
        return nil
    } catch {
        return error.kind
    }
}
