import LoopKit

/// The programs in `Peers`, and other programs run without blocking the pool on which our own side works.
enum Peers {
    static func path(_ name: String) -> String {
        let folder = #filePath.dropLast("Peers.swift".count)
        return "\(folder)Peers/\(name)"
    }

    static func output(_ program: String, _ arguments: [String]) async throws -> String {
        try await onOwnThread { Result { try Child.output(program, arguments) } }.get()
    }

    static func time(_ program: String, _ arguments: [String]) async throws -> Duration {
        try await onOwnThread { Result { try Child.time(program, arguments) } }.get()
    }

    static func processorTime(
        _ program: String, _ arguments: [String], variables: [String: String] = [:]
    ) async throws -> Duration {
        try await onOwnThread { Result { try Child.processorTime(program, arguments, variables: variables) } }.get()
    }

    /// Builds a C program from a file in `Peers`.
    static func build(_ name: String, to path: String) throws {
        _ = try Child.output("cc", ["-O2", "-o", path, Peers.path(name)])
    }

    /// The Python that has the packages of `.ci/peers`.
    static let python = ".build/peers/bin/python"

    /// The program `llm`, of the same packages.
    static let llm = ".build/peers/bin/llm"
}
