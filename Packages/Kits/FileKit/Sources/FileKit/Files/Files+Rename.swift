import CFileKit
import Glibc

extension Files {
    /// Gives a file another name in one step, and throws `.exists` where something has that name already. When this
    /// returns, a loss of power does not take the name back.
    public static func rename(_ path: String, toNew name: String) throws(FileError) {
        try FileError.refuseZero(path, "rename")
        try FileError.refuseZero(name, "rename")
        if unsafe filekit_rename_new(path, name) != 0 {
            guard errno == EINVAL || errno == ENOSYS else { throw FileError("rename", name, errno: errno) }
            // Some file systems cannot promise it; a link makes the second name or fails, too.
            guard unsafe link(path, name) == 0, unsafe unlink(path) == 0 else {
                throw FileError("rename", name, errno: errno)
            }
        }
        let directory = try FileDescriptor.open(
            PathParts(name).directory, O_RDONLY | O_DIRECTORY, for: "rename", naming: name)
        // Some network file systems cannot sync a directory and say so with EINVAL; the rename has happened anyway.
        if fsync(directory.rawValue) != 0, errno != EINVAL { throw FileError("rename", name, errno: errno) }
    }
}
