import FileKit
import Glibc
import Testing

/// Lends a fresh directory and removes it with all it holds, whether the body passes or throws.
func withTemporaryDirectory<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> T
) async throws -> T {
    var template = Array("/tmp/filekit-XXXXXX".utf8CString)
    try #require(unsafe mkdtemp(&template) != nil)
    let path = try Files.canonical(String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    defer { removeTree(path) }
    return try await body(path)
}

private func removeTree(_ path: String) {
    do {
        for entry in try Files.list(path) {
            let child = "\(path)/\(entry.name)"
            if entry.kind == .directory { removeTree(child) } else { try Files.remove(child) }
        }
        try Files.remove(path)
    } catch {
        Issue.record("the test left something behind: \(error)")
    }
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
