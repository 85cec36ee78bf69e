import FileKit
import Glibc
import Testing

/// Lends a fresh directory and removes it with all it holds, whether the body passes or throws.
func withHome<T>(isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> T) async throws -> T {
    var template = Array("/tmp/program-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&template) != nil
    try #require(made)
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unsafe system("rm -rf \(path)") }
    return try await body(path)
}

/// Writes a file and the folders above it.
func write(_ text: String, to path: String) throws {
    try Files.makeDirectories(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    try Files.writeAtomically(Array(text.utf8), to: path)
}
