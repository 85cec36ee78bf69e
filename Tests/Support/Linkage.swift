/// The shared libraries that an executable names itself; not those that these need in turn.
public struct Linkage: Sendable {
    /// The file names, such as `libz.so.1`.
    public let needed: Set<String>

    /// Reads the NEEDED entries of an executable.
    public init(of program: String) async throws {
        let entries = try await Shell(in: "/").run("readelf", "--dynamic", "--wide", program)
        needed = Set(entries.matches(of: /\(NEEDED\).*\[([^\]]+)\]/).map { String($0.output.1) })
        guard !needed.isEmpty else { throw WorkspaceError("\(program) needs no library at all, which cannot be") }
    }

    /// Whether the library that `-l` calls by this name is needed.
    public func contains(_ library: String) -> Bool {
        needed.contains { $0.hasPrefix("lib\(library).so") }
    }

    /// What belongs neither to the C library, nor to Swift, nor to the named libraries.
    public func foreign(besides libraries: Set<String>) -> Set<String> {
        needed.filter { name in
            !libraries.contains { name.hasPrefix("lib\($0).so") } && !Self.isSystem(name)
        }
    }

    private static func isSystem(_ name: String) -> Bool {
        if name.hasPrefix("libswift") || name.hasPrefix("ld-linux") { return true }
        return ["c", "m", "pthread", "dl", "rt", "gcc_s", "stdc++", "dispatch", "BlocksRuntime"]
            .contains { name.hasPrefix("lib\($0).so") }
    }
}
