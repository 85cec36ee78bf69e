import FileKit

/// Something that is hidden in a sandbox, or shown in it.
struct SandboxPlace {
    /// Where it is, without links: bubblewrap mounts on nothing else.
    let path: String
    private let isFolder: Bool

    /// Nil for what is not there, and for the root, without which nothing could run.
    init?(_ path: String) {
        do throws(FileError) {
            self.path = try Files.canonical(path)
            isFolder = try Files.info(self.path).kind == .directory
        } catch {
            return nil
        }
        if self.path == "/" { return nil }
    }

    /// An empty folder or file in its place.
    var hiding: [String] { isFolder ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path] }

    var showing: [String] { ["--ro-bind", path, path] }
}
