import LoopKit

/// The Python programs in `Peers`, and other programs run without blocking the pool on which our own side works.
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

    static func processorTime(_ program: String, _ arguments: [String]) async throws -> Duration {
        try await onOwnThread { Result { try Child.processorTime(program, arguments) } }.get()
    }

    /// The Python that has the packages of `.ci/peers`.
    static let python = ".build/peers/bin/python"
}
