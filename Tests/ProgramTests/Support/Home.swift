import Capabilities
import CoreTesting
import FileKit

/// Lends a new home for a program.
func withHome<T>(isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> T) async throws -> T {
    try await TemporaryDirectory.run(isolation: isolation, body)
}

/// Writes a file and the folders above it.
func write(_ text: String, to path: String) throws {
    try Files.makeDirectories(PathParts(path).folder)
    try Files.writeAtomically(Array(text.utf8), to: path)
}
