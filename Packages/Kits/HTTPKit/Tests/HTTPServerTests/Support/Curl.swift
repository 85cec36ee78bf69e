import FileKit
import ProcessKit

/// The curl program, as an independent client.
enum Curl {
    static func run(_ arguments: String...) async throws -> String {
        String(decoding: try await bytes(arguments), as: UTF8.self)
    }

    static func bytes(_ arguments: [String]) async throws -> [UInt8] {
        let command = Command(
            "curl", ["-sS", "--max-time", "30"] + arguments, environment: .inheriting(Environment.snapshot()))
        let result = try await Launcher.standalone.run(command, timeout: .seconds(40))
        guard result.status == .exited(0) else {
            throw RawClient.Failed(
                "curl ended with \(result.status): \(String(decoding: result.errors, as: UTF8.self))")
        }
        return result.output
    }
}
