import FileKit
import Glibc

/// Lends a new folder and removes it with all that is in it, whether the body passes or throws.
public func withTemporaryDirectory<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
) async throws -> Result {
    let place = Environment.snapshot()["TMPDIR"] ?? "/tmp"
    var template = Array("\(place)/martlet-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw WorkspaceError("no folder can be made in \(place): \(errno)") }
    let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    do {
        let result = try await body(folder)
        try removeTree(folder)
        return result
    } catch {
        try removeTree(folder)
        throw error
    }
}

private func removeTree(_ folder: String) throws(FileError) {
    for entry in try Files.list(folder) {
        let path = "\(folder)/\(entry.name)"
        if entry.kind == .directory { try removeTree(path) } else { try Files.remove(path) }
    }
    try Files.remove(folder)
}
